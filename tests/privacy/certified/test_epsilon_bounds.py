"""Bounds of epsilon: both directions, hard regimes, meshes and tilts that must not cross, two steps
exactly.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified import compose, epsilon_bounds, lattice, step_law, tradeoff_bounds
from dpcore.privacy.certified.cells import step_deviation
from dpcore.privacy.certified.lattice import (
    Composition,
    Lattice,
    composition_of,
    lattice_of,
    log_moments_of,
    widest_span,
)
from dpcore.privacy.certified.step_law import LossLaw
from dpcore.privacy.ends import CROSSING
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.verdict import verdict
from tests.privacy.accountants.test_pld import random_setting
from tests.privacy.certified.test_step_law import exact_add, exact_remove

PLD = ACCOUNTANTS["pld"]
RARE = [  # losses that are rare and large: (releases, delta)
    (((1.2214e-5, 0.79292, 17257),), 1.7734e-15),
    (((0.99999, 55.1, 450), (0.0208, 152.7, 9391856), (1.0, 181.7, 17), (1.1e-6, 0.234, 78)), 1e-5),
    (((0.8922146657945755, 0.07216956212517733, 8645979),), 1.40251015036325e-11),
    (((1.34451996547589e-05, 0.935477184323641, 6962311),), 1.0667786025044693e-14),
]


def turned(found: Lattice) -> Lattice:
    """A lattice with the two neighbours swapped."""
    laws = [each._replace(remove=each.add, add=each.remove) for each in found.laws]
    return found._replace(laws=laws, remove=found.add, add=found.remove)


def test_the_upper_bound_is_the_larger_of_both_directions() -> None:
    steps, delta = np.array([300]), np.array([1e-4])
    composition = composition_of(Mechanism.constant(0.05, 1.5, 300), steps)
    found = lattice_of(composition, delta, 0.005)
    for one in (found, turned(found)):
        _, upper = epsilon_bounds._bounds_on(one, found, composition, composition, delta)
        expected = epsilon_bounds._bounds_on(found, found, composition, composition, delta)[1]
        assert upper == pytest.approx(expected, rel=1e-4)


def with_a_worse_add_direction(composition: Composition, delta: np.ndarray, mesh: float) -> Lattice:
    """A lattice whose add direction alone tells as much as steps of ten times the sampling rate."""
    found = lattice_of(composition, delta, mesh)
    worse = lattice_of(
        Composition([(10 * q, sigma) for q, sigma in composition.kinds], composition.counts),
        delta,
        mesh,
    )
    laws = [each._replace(add=bad.remove) for each, bad in zip(found.laws, worse.laws, strict=True)]
    return found._replace(laws=laws, add=worse.remove)


def test_the_lower_trade_off_curve_is_that_of_both_directions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mechanism, alpha = Mechanism.constant(0.05, 0.8, 3), np.linspace(0.01, 0.5, 20)
    right = tradeoff_bounds.tradeoff_bounds(mechanism).lower.beta(alpha)
    monkeypatch.setattr(tradeoff_bounds, "lattice_of", with_a_worse_add_direction)
    assert np.all(tradeoff_bounds.tradeoff_bounds(mechanism).lower.beta(alpha) < right - 0.01)


@pytest.mark.long
def test_where_losses_are_rare_and_large_the_band_is_narrow() -> None:
    for releases, delta in RARE:
        mechanism = Mechanism(tuple(Release(*each) for each in releases))
        curve = PLD.curve(mechanism, mechanism.steps, delta)
        assert curve.note == "", (releases, delta)
        assert 0 < curve.lower[0] <= curve.epsilon[0] <= 1.011 * curve.lower[0], (releases, delta)


def test_a_mesh_that_makes_no_band_narrower_is_not_made_finer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes = []

    def counted(*given: Any) -> Lattice:
        found = lattice_of(*given)
        nodes.append(found.laws[0].remove.mass.size)
        return found

    monkeypatch.setattr(epsilon_bounds, "lattice_of", counted)
    for q, steps, delta in ((5e-4, 12, 1.66e-7), (0.01, 12, 1e-5), (1e-5, 200, 1e-5)):
        curve = PLD.curve(Mechanism.constant(q, lattice.SMALLEST_SIGMA, steps), [steps], delta)
        assert 0 < curve.lower[0] <= curve.epsilon[0] <= 1.02 * curve.lower[0]
    assert max(nodes) < 2**15, "once, up to 340,000 and more than a minute"


def test_a_band_that_stays_wide_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "NODES", 2**10)
    mechanism = Mechanism.constant(8.332e-06, 0.4101, 1495)
    curve = PLD.curve(mechanism, [10, mechanism.steps], 8.4e-4)
    assert curve.epsilon[-1] > 1.01 * curve.lower[-1]
    assert curve.note.startswith("The two bounds lie ")
    assert curve.note in verdict(curve, curve).text


def test_a_lattice_that_does_not_fit_is_made_coarser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "MAX_PERIOD_NODES", 2**13)
    band = tradeoff_bounds.tradeoff_bounds(Mechanism.constant(0.5, 20.0, 10_000))
    assert band.note == ""
    assert float(band.lower.power(0.05)) >= float(band.upper.power(0.05)) > 0.05


def test_the_width_that_is_told_is_the_largest_at_the_last_horizon() -> None:
    note = epsilon_bounds.width_note(np.array([1.0, 2.0]), np.array([1.005, 2.06]))
    assert note.startswith("The two bounds lie 3 % of the lower one apart")
    assert "lie 100 % of" in epsilon_bounds.width_note(np.array([1.0]), np.array([1.996]))
    assert "lie 9,950 % of" in epsilon_bounds.width_note(np.array([1.0]), np.array([100.5]))
    assert "lie far apart" in epsilon_bounds.width_note(np.array([1.0]), np.array([101.5]))
    assert "lie far apart" in epsilon_bounds.width_note(np.array([1e-3]), np.array([5.6]))
    assert epsilon_bounds.width_note(np.array([1.0, 2.0]), np.array([1.0099, 2.0199])) == ""
    assert epsilon_bounds.width_note(np.array([0.0, 2.0]), np.array([1e-3, 2.0])).startswith(
        "The two bounds lie far apart"
    )
    # Too small for a note.
    assert epsilon_bounds.width_note(np.array([0.0]), np.array([1e-6])) == ""
    assert epsilon_bounds.width_note(np.array([0.0, 1.0]), np.array([1.0, np.inf])).startswith(
        "rounding outweighs"
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 1.005, (1.0, 1.005)),
        (1.0, 1.0, (1.0, 1.0)),
        (1.0 + 1e-15, 1.0, (1.0, 1.0)),
        (1.0 + 2e-14, 1.0, (0.0, np.inf)),
        (1.1, 1.0, (0.0, np.inf)),
    ],
)
def test_bounds_that_cross_promise_nothing_unless_by_rounding(
    low: float, high: float, expected: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        epsilon_bounds, "_bounds_on", lambda *_: (np.array([low]), np.array([high]))
    )
    composition = composition_of(Mechanism.constant(0.1, 1.0, 3), np.array([3]))
    lower, upper, note = epsilon_bounds._refined(composition, np.array([1e-2]))
    assert (lower[0], upper[0]) == expected
    assert (note == CROSSING) == (expected == (0.0, np.inf))
    found = epsilon_bounds.epsilon_bounds(
        Mechanism.constant(0.1, 1.0, 3), np.array([3]), np.array([1e-2])
    )
    assert (found.note == CROSSING) == np.isinf(found.upper[0])


@pytest.fixture
def values(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the values of transforms that are computed."""
    found, real = [], compose.TiltedLaw.log_delta

    def counted(law: compose.TiltedLaw, *given: Any) -> Any:
        found.append(law.weighted.size)
        return real(law, *given)

    monkeypatch.setattr(compose.TiltedLaw, "log_delta", counted)
    return found


def test_a_rare_and_tiny_loss_is_not_looked_at_on_ever_finer_meshes(values: list[int]) -> None:
    band = PLD.spent(Mechanism.constant(6.177e-9, 0.7735, 1), 1.57e-46)
    assert sum(values) < 2**26, "once 2^30 and a minute"
    exact = 0.177021412288  # the closed form of a step, in the remove direction, with 80 digits
    assert band.lower <= exact <= band.value < 0.2925


def test_where_the_work_is_used_up_the_bounds_so_far_are_kept_or_none_and_the_reason(
    monkeypatch: pytest.MonkeyPatch, values: list[int]
) -> None:
    whole = Mechanism.constant(5e-4, 0.6, 2000)
    usual = PLD.spent(whole, 1e-9)
    assert usual.note == ""
    seen = []
    for most in (10, 2**16, 2**18, 2**20, 2**22, 2**24):
        values.clear()
        monkeypatch.setattr(epsilon_bounds, "MOST_WORK", most)
        found = PLD.spent(whole, 1e-9)
        assert found.lower <= usual.value
        assert found.value >= usual.lower
        assert sum(values) <= most
        assert np.isfinite(found.value) or found.note == compose.TOO_LONG
        seen.append(np.isfinite(found.value))
    assert seen[0] is not True
    assert seen[-1]
    assert PLD.spent(whole, 1e-9).value == usual.value


def test_bounds_that_cross_behind_the_lattices_promise_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of the closed form; those of bits; and of two horizons, of which the longer one costs
    no less.
    """
    steps, delta = np.array([1, 3]), np.full(2, 1e-2)
    crossing = np.array([0.5, 2.0]), np.array([1.0, 1.9])
    monkeypatch.setattr(epsilon_bounds, "gaussian_epsilons", lambda *_: crossing)
    closed = epsilon_bounds.epsilon_bounds(Mechanism.constant(1.0, 1.0, 3), steps, delta)
    assert (closed.lower[1], closed.upper[1], closed.note) == (0.0, np.inf, CROSSING)
    monkeypatch.setattr(
        epsilon_bounds, "_refined", lambda *_: (np.zeros(2), np.array([1.5, 1.9]), "")
    )

    def bits_of(_: Mechanism, steps: np.ndarray, delta: np.ndarray) -> np.ndarray:
        return np.array([2.0, 1.0])[: steps.size]  # the last row first

    monkeypatch.setattr(epsilon_bounds, "bit_epsilons", bits_of)
    bits = epsilon_bounds.epsilon_bounds(Mechanism.constant(0.1, 1.0, 3), steps, delta)
    assert (bits.lower.tolist(), bits.upper.tolist(), bits.note) == (
        [1.0, 0.0],
        [1.5, np.inf],
        CROSSING,
    )
    monkeypatch.setattr(
        epsilon_bounds, "_refined", lambda *_: (np.array([1.6, 1.0]), np.array([1.7, 1.2]), "")
    )
    horizons = epsilon_bounds.epsilon_bounds(Mechanism.constant(0.1, 1.0, 3), steps, delta)
    assert np.isinf(horizons.upper).all()


def test_bounds_of_no_random_setting_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by one unit, on any of their lattices: the allowance for crossing has nothing to do."""
    generator, found, real = np.random.default_rng(12), [], epsilon_bounds._bounds_on

    def told(*args: Any) -> tuple[np.ndarray, np.ndarray]:
        found.append(real(*args))
        return found[-1]

    monkeypatch.setattr(epsilon_bounds, "_bounds_on", told)
    settings = [random_setting(generator, 3.0) for _ in range(6)]
    for mechanism, delta in [*settings, (Mechanism.constant(0.999, 0.05, 10**8), 0.3)]:
        found.clear()
        epsilon_bounds.epsilon_bounds(mechanism, np.array([1, mechanism.steps]), np.full(2, delta))
        for lower, _ in found:
            assert all(np.all(lower <= upper) for _, upper in found), (mechanism, delta)


def test_the_best_of_several_meshes_is_kept_for_each_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = iter([(1.0, 2.0), (0.5, 1.5), (1.2, 1.8), (9.0, 9.0)])
    monkeypatch.setattr(
        epsilon_bounds, "_bounds_on", lambda *_: tuple(np.array([each]) for each in next(bounds))
    )
    composition = composition_of(Mechanism.constant(0.1, 1.0, 3), np.array([3]))
    lower, upper, _ = epsilon_bounds._refined(composition, np.array([1e-2]))
    assert (lower[0], upper[0]) == (1.2, 1.5)


def test_what_is_told_is_of_the_last_horizon_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        epsilon_bounds, "_refined", lambda *_: (np.array([1.0, 2.0]), np.array([1.5, 2.0]), "")
    )
    mechanism, steps = Mechanism.constant(0.1, 1.0, 5), np.array([1, 5])
    assert ACCOUNTANTS["pld"].curve(mechanism, steps, 1e-3).note == ""
    monkeypatch.setattr(
        epsilon_bounds, "_refined", lambda *_: (np.array([1.0, 2.0]), np.array([1.0, 2.5]), "")
    )
    assert "25 %" in ACCOUNTANTS["pld"].curve(mechanism, steps, 1e-3).note


@pytest.mark.parametrize(("sigma", "promised"), [(0.05, True), (0.0499, False)])
def test_nothing_is_promised_below_the_smallest_sigma(sigma: float, promised: bool) -> None:
    found = epsilon_bounds.epsilon_bounds(
        Mechanism.constant(0.1, sigma, 1), np.array([1]), np.array([0.2])
    )
    assert np.isfinite(found.upper[0]) == promised
    assert found.lower[0] == 0
    assert (found.note == "") == promised


def test_a_bound_speaks_for_other_horizons_at_its_own_delta_alone() -> None:
    lower, upper = np.array([1.0, 0.5, 2.0]), np.array([1.5, 3.0, 2.5])
    same = epsilon_bounds._monotone(lower, upper, np.full(3, 1e-5))
    np.testing.assert_array_equal(same, [[1.0, 1.0, 2.0], [1.5, 2.5, 2.5]])
    apart = epsilon_bounds._monotone(lower, upper, np.array([1e-9, 1e-2, 1e-5]))
    np.testing.assert_array_equal(apart, [lower, upper])


FACTORS = (1.5, 0.5, 0.15, 0.04)  # meshes, in standard deviations of the loss of one step
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def lattices(steps: Composition, delta: np.ndarray) -> list[Lattice]:
    """Equal steps on meshes far apart."""
    deviation = min(step_deviation(q, sigma) for q, sigma in steps.kinds)
    return [
        lattice_of(steps, delta, max(each * deviation, widest_span(steps, delta) / 2**14))
        for each in FACTORS
    ]


def opposite(loss: LossLaw) -> LossLaw:
    """The add direction of a law given in the remove direction, without infinite losses."""
    values = loss.offset + loss.mesh * np.arange(loss.mass.size)
    return LossLaw(-float(values[-1]), loss.mesh, (loss.mass * np.exp(-values))[::-1], 0.0)


def bounds(lattice: Lattice, uses: np.ndarray, delta: np.ndarray, add: bool) -> tuple[float, float]:
    """Lower and upper epsilon of one direction on one lattice, with no knowledge of each other."""
    if add:
        above, below = (
            [each.add for each in lattice.laws],
            [opposite(each.dominated) for each in lattice.laws],
        )
    else:
        above, below = (
            [each.remove for each in lattice.laws],
            [each.dominated for each in lattice.laws],
        )
    moments = lattice.add if add else lattice.remove
    lower = compose.composed_epsilons(
        below, uses, delta, log_moments_of(below, moments.orders, moments.reaching), -1
    )
    return float(lower[0]), float(compose.composed_epsilons(above, uses, delta, moments, +1)[0])


def crossing(steps: Composition, delta: float, add: bool) -> float:
    """The highest lower bound less the lowest upper bound, over the meshes."""
    target = np.array([delta])
    both = np.array([bounds(each, steps.counts, target, add) for each in lattices(steps, target)])
    return float(both[:, 0].max() - both[:, 1].min())


def random_steps(generator: np.random.Generator) -> Composition:
    """One kind of step, or two with the second unsampled now and then."""
    q, sigma = float(10 ** generator.uniform(-5, 0)), float(10 ** generator.uniform(-0.5, 1.5))
    kinds = [(q, sigma), (1.0, 3 * sigma)][: int(generator.integers(1, 3))]
    return Composition(kinds, np.array([[int(10 ** generator.uniform(0, 5)) for _ in kinds]]))


def disturb(generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tilts, shorter periods, fewer frequencies, wider cells, nearer cuts: worse bounds, but
    bounds.
    """
    monkeypatch.setattr(lattice, "PRECISION", generator.uniform(-4, 20))
    monkeypatch.setattr(lattice, "CUT", generator.uniform(25, 60))
    monkeypatch.setattr(lattice, "TAIL", generator.uniform(3, 50))
    monkeypatch.setattr(lattice, "SPARE_PERIOD", generator.uniform(0.5, 40))
    monkeypatch.setattr(lattice, "MAX_PERIOD_NODES", int(2 ** generator.uniform(5, 20)))
    monkeypatch.setattr(step_law, "GROWTH", int(2 ** generator.uniform(1, 7)))
    monkeypatch.setattr(step_law, "FAR", generator.uniform(0, 5))
    monkeypatch.setattr(lattice, "CUT_OFF", 10 ** generator.uniform(-10, -1))


@pytest.mark.parametrize("add", [False, True], ids=["remove", "add"])
@pytest.mark.long
def test_no_lower_bound_of_one_mesh_crosses_an_upper_bound_of_another(add: bool) -> None:
    generator = np.random.default_rng(17)
    for _ in range(25):
        steps, delta = random_steps(generator), float(10 ** generator.uniform(-12, -1))
        assert crossing(steps, delta, add) <= 0, (steps, delta)


@pytest.mark.parametrize("add", [False, True], ids=["remove", "add"])
@pytest.mark.long
def test_no_bounds_cross_under_disturbed_tilts_and_periods(
    add: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(23)
    for _ in range(25):
        steps, delta = random_steps(generator), float(10 ** generator.uniform(-12, -1))
        disturb(generator, monkeypatch)
        assert crossing(steps, delta, add) <= 0, (steps, delta)


@pytest.mark.parametrize(("q", "count"), [(1e-7, 2_000_000), (2e-7, 4_000_000)])
def test_no_bounds_cross_where_losses_are_rare_and_steps_many(q: float, count: int) -> None:
    steps = Composition([(q, 0.5)], np.array([[count]]))
    deviation, target = step_deviation(q, 0.5), np.array([1e-12])
    meshes = [
        max(0.12 * deviation, widest_span(steps, target) / 2**13) * each
        for each in (1, 0.6, 0.35, 0.2)
    ]
    both = np.array(
        [bounds(lattice_of(steps, target, mesh), steps.counts, target, False) for mesh in meshes]
    )
    assert both[:, 0].max() <= both[:, 1].min()


def piecewise(edges: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on consecutive intervals."""
    middle, half = 0.5 * (np.add(edges[1:], edges[:-1])), 0.5 * np.diff(edges)
    return (middle[:, None] + half[:, None] * NODES).ravel(), (half[:, None] * WEIGHTS).ravel()


def two_step_delta(q: float, sigma: float, epsilon: float, remove: bool) -> float:
    """Delta of two equal steps: the first outcome shifts the epsilon asked of the second."""
    far, bound = 14 * sigma, np.log1p(-q)
    # Second loss at its bound.
    kink = sigma**2 * np.log(max((np.exp(epsilon - bound) - 1 + q) / q, 1e-300)) + 0.5
    x, weight = piecewise(sorted({-far, 0.0, 1.0, 1 + far, float(np.clip(kink, -far, 1 + far))}))
    null = np.exp(-0.5 * (x / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    ratio = 1 - q + q * np.exp((x - 0.5) / sigma**2)
    left = epsilon - np.log(ratio) if remove else epsilon + np.log(ratio)
    if remove:
        certain = left <= bound  # the second loss exceeds this whatever happens
        second = np.where(
            certain, -np.expm1(left), exact_remove(q, sigma, np.where(certain, 1.0, left))
        )
    else:
        second = exact_add(q, sigma, left)
    return float(weight @ (null * (ratio if remove else 1.0) * second))


def test_two_steps_agree_with_their_quadrature() -> None:
    """delta(lower) >= delta >= delta(upper), with the exact delta of two steps."""
    for q, sigma, delta in product([1e-3, 0.05, 0.5, 0.95], [0.6, 1.0, 3.0], [1e-8, 1e-4, 0.03]):
        curve = ACCOUNTANTS["pld"].curve(Mechanism.constant(q, sigma, 2), [2], delta)
        for epsilon, bound_below in (
            (float(curve.lower[0]), True),
            (float(curve.epsilon[0]), False),
        ):
            exact = max(two_step_delta(q, sigma, epsilon, remove) for remove in (True, False))
            if bound_below:
                assert epsilon == 0 or exact >= delta * (1 - 1e-5), (q, sigma, delta)
            else:
                assert exact <= delta * (1 + 1e-5), (q, sigma, delta)
