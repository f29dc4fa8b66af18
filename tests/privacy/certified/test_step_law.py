"""The laws of one step: against its hockey-stick curve, from end to end, and what lowers one below
the other.
"""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.special import ndtr
from scipy.stats import norm

from dpcore.privacy.certified.cells import step_deviation, step_span
from dpcore.privacy.certified.step_law import (
    HIGHEST,
    Gaps,
    LossLaw,
    _bounded_laws,
    _convex,
    _tangent,
    dominated,
    needed,
    step_laws,
)
from tests.privacy.law_curve import of_law


def exact_remove(q: float, sigma: float, epsilon: np.ndarray) -> np.ndarray:
    """H(P || Q) = P(x > c) - e^epsilon Q(x > c), where the loss at c is epsilon; for epsilon above
    ln(1 - q).
    """
    cut = sigma**2 * np.log((np.expm1(epsilon) + q) / q) + 0.5
    return (
        (1 - q) * ndtr(-cut / sigma)
        + q * ndtr((1 - cut) / sigma)
        - np.exp(epsilon) * ndtr(-cut / sigma)
    )


def exact_add(q: float, sigma: float, epsilon: np.ndarray) -> np.ndarray:
    """H(Q || P) for epsilon below -ln(1 - q); 0 beyond."""
    inner = (np.expm1(-epsilon) + q) / q
    cut = sigma**2 * np.log(np.maximum(inner, 1e-300)) + 0.5
    p = (1 - q) * ndtr(cut / sigma) + q * ndtr((cut - 1) / sigma)
    return np.where(inner > 0, ndtr(cut / sigma) - np.exp(epsilon) * p, 0.0)


def test_both_laws_close_in_with_the_square_of_the_mesh() -> None:
    for q, sigma in [(0.01, 4.0), (0.01, 1.0), (1.0, 20.0), (0.5, 2.0)]:
        order, mesh = np.array([2.0]), 0.2 * step_deviation(q, sigma)
        coarse, fine, finest = (step_laws(q, sigma, mesh / 2**k, TAIL) for k in (0, 1, 4))
        between = 0.5 * (finest.remove.log_moments(order) + finest.dominated.log_moments(order))
        for name in ("remove", "dominated"):
            far = abs(getattr(coarse, name).log_moments(order) - between)
            near = abs(getattr(fine, name).log_moments(order) - between)
            assert 3 < far[0] / near[0] < 8, (q, sigma)


def test_the_convex_hull_keeps_mass_and_mean_and_never_rises() -> None:
    generator = np.random.default_rng(3)
    w = np.cumsum(generator.uniform(0.1, 2.0, 60))
    mass = generator.uniform(0.0, 1.0, 60)
    mass[10:50] -= 0.45  # some of them negative
    curve = np.array([mass @ np.maximum(w - at, 0.0) for at in w])
    hull = _convex(w, mass.copy())
    lowered = np.array([hull @ np.maximum(w - at, 0.0) for at in w])
    assert (mass < 0).any()
    assert np.all(hull >= 0)
    assert hull.sum() == pytest.approx(mass.sum())
    assert hull @ w == pytest.approx(mass @ w)
    assert np.all(lowered <= curve + 1e-9)
    assert np.any(lowered < curve - 1e-3)


def test_a_lattice_far_too_coarse_says_nothing_rather_than_something_wrong() -> None:
    law = step_laws(0.1, 2.0, 5.0, TAIL).dominated
    assert of_law(law, np.array([0.0]))[0] <= exact_remove(0.1, 2.0, np.array([0.0]))[0]
    # Its nodes are wide apart there: the last one lies beyond 690.
    laws = _bounded_laws(0.5, 0.05, 2.0, 690.0)
    assert np.isfinite(laws.remove.mass).all()
    for high in (696.0, 2 * HIGHEST - 10):  # of the first only the last node is too far
        with pytest.raises(RuntimeError, match="overflow"):
            _bounded_laws(0.5, 0.05, 2.0, high)


STEPS = [
    (1e-5, 0.6), (1e-3, 0.3), (0.01, 4.0), (0.1, 1.0), (0.5, 2.0), (0.9, 0.6), (0.1, 100.0),
    (1 - 1e-12, 4.0), (0.99, 20.0), (1.0, 1.0), (1.0, 0.3),
]  # fmt: skip
TAIL = 1e-20
SEEN = 1e-17  # deltas below are lost in rounding


def hockey_sticks(q: float, sigma: float, epsilon: float) -> tuple[float, float]:
    """delta(epsilon) of one step with the record removed, and with it added; from the normal law
    alone.
    """
    with mpmath.workdps(60):
        q, sigma, epsilon = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(epsilon)

        def below(ratio: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
            """Masses under P and Q of likelihood ratios below this one."""
            if ratio <= 1 - q:
                return mpmath.mpf(0), mpmath.mpf(0)
            cut = sigma**2 * mpmath.log((ratio - 1 + q) / q) + mpmath.mpf(1) / 2
            null = mpmath.ncdf(cut / sigma)
            return (1 - q) * null + q * mpmath.ncdf((cut - 1) / sigma), null

        p, null = below(mpmath.exp(epsilon))
        removed = (1 - p) - mpmath.exp(epsilon) * (1 - null)
        p, null = below(mpmath.exp(-epsilon))
        return float(removed), float(null - mpmath.exp(epsilon) * p)


def hockey_stick_of(law: LossLaw, epsilon: float) -> float:
    losses = law.offset + law.mesh * np.arange(law.mass.size)
    return float(law.infinite + law.mass @ np.maximum(-np.expm1(epsilon - losses), 0.0))


def places(law: LossLaw) -> list[float]:
    """A few nodes from end to end, points between them, and one beyond either end."""
    nodes = np.unique(np.linspace(0, law.mass.size - 1, 9).astype(int))
    chosen = [law.offset + law.mesh * (node + part) for node in nodes for part in (0.0, 0.37)]
    return [law.offset - law.mesh, *chosen, law.offset + law.mesh * (law.mass.size + 1)]


def test_the_laws_enclose_the_step_at_their_nodes_and_between() -> None:
    for (q, sigma), factor, tail in product(STEPS, [0.05, 0.6, 3.0], [TAIL, 1e-4, 0.05]):
        mesh = max(factor * step_deviation(q, sigma), step_span(q, sigma, tail) / 20_000)
        laws = step_laws(q, sigma, mesh, tail)
        for epsilon in places(laws.remove):
            removed, added = hockey_sticks(q, sigma, epsilon)
            _, added_there = hockey_sticks(q, sigma, -epsilon)
            rounding = 1e-9 * removed + 1e-14 * abs(epsilon) * np.exp(min(epsilon, 0.0)) + SEEN
            where = epsilon, removed, added
            assert hockey_stick_of(laws.remove, epsilon) >= removed - rounding, where
            assert hockey_stick_of(laws.dominated, epsilon) <= removed + rounding, where
            assert hockey_stick_of(laws.add, -epsilon) >= added_there - 1e-9 * added_there - SEEN, (
                where
            )


def test_the_laws_are_not_far_from_the_step() -> None:
    """An enclosure that is far too wide would pass every other test."""
    for q, sigma in STEPS[1:]:
        mesh = max(0.02 * step_deviation(q, sigma), step_span(q, sigma, TAIL) / 100_000)
        laws = step_laws(q, sigma, mesh, TAIL)
        for epsilon in step_deviation(q, sigma) * np.array([0.1, 0.5, 1.0, 2.0]):
            removed, added = hockey_sticks(q, sigma, float(epsilon))
            if removed > 1e-10:
                assert hockey_stick_of(laws.remove, epsilon) == pytest.approx(removed, rel=0.05), (
                    q,
                    sigma,
                )
                assert hockey_stick_of(laws.dominated, epsilon) == pytest.approx(
                    removed, rel=0.05
                ), (q, sigma)
            if added > 1e-10:
                assert hockey_stick_of(laws.add, epsilon) == pytest.approx(added, rel=0.05), (
                    q,
                    sigma,
                )


def test_what_is_cut_off_is_neither_lost_nor_counted_twice() -> None:
    """The law has all mass of the numerator, and of the denominator the mass that the numerator
    shows.
    """
    for (q, sigma), factor, tail in product(STEPS, [0.05, 0.6], [TAIL, 1e-4, 0.05]):
        mesh = max(factor * step_deviation(q, sigma), step_span(q, sigma, tail) / 20_000)
        for law in step_laws(q, sigma, mesh, tail):
            assert law.mass.sum() + law.infinite == pytest.approx(1, abs=1e-9), (q, sigma, factor)
            assert (
                law.mass * np.exp(-law.offset - law.mesh * np.arange(law.mass.size))
            ).sum() <= 1 + 1e-9


def curve(w: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """E[(w - s)_+] at every node s."""
    return np.array([mass @ np.maximum(w - s, 0.0) for s in w])


def hull(w: np.ndarray, height: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The lower convex hull of points at each of them, and which are its corners."""
    above = height.max() + 1.0  # two points far above close the polygon
    points = np.column_stack([np.append(w, [w[0], w[-1]]), np.append(height, [above, above])])
    corners = sorted(each for each in ConvexHull(points).vertices if each < w.size)
    return np.interp(w, w[corners], height[corners]), corners


def setting(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Gaps]:
    """Nodes, masses, lowering and gaps, at random; small lowering, so that only the ends meet the
    floor.
    """
    generator = np.random.default_rng(seed)
    w = 0.2 + np.cumsum(generator.uniform(0.2, 1.5, 30))
    mass = generator.uniform(0.1, 1.0, 30)
    mass /= 1.2 * mass.sum()
    lowering = 0.01 * generator.uniform(0.0, 1.0, 30)
    return w, mass, lowering, Gaps(*generator.uniform(0.0, 0.01, 3))


def test_the_lowered_curve_is_the_hull_of_its_points_and_the_floor() -> None:
    for dip, factor, seed in product([None, 8, 20, 25], [1.0, 10.0], range(8)):
        w, mass, lowering, gaps = setting(seed)
        lowering = factor * lowering
        right = curve(w, mass) + gaps.right
        # There the curve is lowered nearly to the floor, and its hull runs straight for long.
        if dip is not None:
            lowering[dip] = 0.9 * min(
                right[dip], right[dip] - right[0] + (mass.sum() + gaps.zero) * (w[dip] - w[0])
            )
        # The floor at the left is a line: it falls by all the mass there is, that of ratio 0 too.
        floor = right[0] - gaps.left - (mass.sum() + gaps.zero) * (w - w[0])
        height = right - lowering
        reached_left, reached_right = np.flatnonzero(height < floor), np.flatnonzero(height < 0)
        first = reached_left.max(initial=-1) + 1
        last = reached_right.min(initial=w.size) - 1
        height[: first + 1] = floor[: first + 1]
        height[last:] = 0.0
        found = dominated(w, mass.copy(), lowering, gaps)
        assert np.all(found >= 0), (dip, factor, seed)
        assert np.all(found[last + 1 :] == 0), (dip, factor, seed)
        expected, corners = hull(w, height)
        np.testing.assert_allclose(
            curve(w, found), expected, atol=1e-13, err_msg=str((dip, factor, seed))
        )
        assert set(np.flatnonzero(found)) <= set(corners), (dip, factor, seed)
        assert found.sum() == pytest.approx(mass.sum() + gaps.zero, rel=1e-12, abs=0), (
            dip,
            factor,
            seed,
        )


def test_lowering_keeps_the_ends_and_leaves_no_law_where_the_floor_is_reached_everywhere() -> None:
    w, mass, lowering, gaps = setting(1)
    assert not dominated(w, mass.copy(), lowering + 100.0, gaps).any()
    assert dominated(w, mass.copy(), lowering, gaps).any()
    w, mass = np.array([0.5, 2.0]), np.array([0.4, 0.3])
    np.testing.assert_allclose(dominated(w, mass.copy(), np.zeros(2), Gaps(0.0, 0.0, 0.0)), mass)
    assert needed(np.array([3.0, 1.0, 2.0])).tolist() == [3.0, 3.0, 2.0, 2.0]
    w = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    height = np.array([9.0, 3.0, 2.5, 2.0, 0.0])
    corner = _tangent(w, height)
    assert corner == 1
    assert np.all(height[corner:] >= height[corner] * (4.0 - w[corner:]) / (4.0 - w[corner]))


def test_a_curve_that_bends_the_wrong_way_at_an_end_has_no_hull_on_the_lattice() -> None:
    for ends in [(0,), (-1,), (0, -1), (2, -1), (0, 2)]:
        w, mass = np.arange(6.0), np.full(6, 0.2)
        mass[list(ends)] = -0.1
        assert _convex(w, mass.copy()).tolist() == [0.0] * 6, ends
        mass[list(ends)] = 0.1
        assert _convex(w, mass.copy()).tolist() == mass.tolist(), ends


LINE = np.linspace(-25.0, 25.0, 100_001)
RATIOS = np.exp(np.linspace(-3.0, 3.0, 25))
Q, SIGMA = 0.3, 0.8


def released(sums: list[float], sigma: float = SIGMA) -> np.ndarray:
    """The density of a noisy sum over a Poisson sample of records on the line, at each place."""
    density = np.zeros(LINE.size)
    for taken in product((False, True), repeat=len(sums)):
        chance = np.prod([Q if each else 1 - Q for each in taken])
        mean = sum(each for each, there in zip(sums, taken, strict=True) if there)
        density += chance * norm.pdf(LINE, mean, sigma)
    return density


def divergence(p: np.ndarray, q: np.ndarray, ratio: float) -> float:
    return float(np.maximum(p - ratio * q, 0.0).sum() * (LINE[1] - LINE[0]))


def test_no_other_records_make_a_step_tell_more_than_the_pair() -> None:
    for own, others in product(
        [1.0, -1.0, 0.5, 0.0], [[], [0.0], [0.7], [1.0, -1.0], [0.3, 0.9, -0.4]]
    ):
        with_it, without = released([*others, own]), released(others)
        pair, noise = released([1.0]), released([])
        for ratio in RATIOS:
            assert divergence(with_it, without, ratio) <= divergence(pair, noise, ratio) + 1e-9, (
                own,
                others,
            )
            assert divergence(without, with_it, ratio) <= divergence(noise, pair, ratio) + 1e-9, (
                own,
                others,
            )
    for ratio in [0.8, 1.0, 1.5]:
        with_it, without = released([0.0, 0.0, 1.0]), released([0.0, 0.0])
        exact = divergence(released([1.0]), released([]), ratio)
        assert divergence(with_it, without, ratio) == pytest.approx(exact, rel=1e-9, abs=0), ratio
        assert exact > 0, ratio
