"""Places, masses and heights of one step against many digits, their errors, and the effect on many
steps.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product
from math import inf
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.special import ndtr, ndtri

from dpcore.privacy.certified import lattice, rounding, step_law, tradeoff_bounds
from dpcore.privacy.certified.cells import (
    Cells,
    cells_between,
    cut_above,
    height_of,
    loss_heights,
    mass_below,
    normal_between,
    position_at,
    ratio_at,
    step_deviation,
    step_span,
)
from dpcore.privacy.certified.step_law import LossLaw, step_laws
from tests.privacy.certified.test_compose import convolved, delta_of

STEPS = [(1e-5, 0.6), (0.01, 4.0), (0.1, 1.0), (0.5, 2.0), (0.9, 0.6), (1.0, 1.0), (1.0, 0.3)]
SAMPLED = [each for each in STEPS if each[0] < 1]


def place(q: float, sigma: float, height: float) -> mpmath.mpf:
    """The place of a loss that far above ln(1-q), or at q = 1 that large."""
    q, sigma, height = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(height)
    ratio = mpmath.exp(height) if q == 1 else (1 - q) * mpmath.expm1(height) / q
    return sigma**2 * mpmath.log(ratio) + mpmath.mpf(1) / 2


def test_places_heights_and_ratios_agree_with_their_definitions() -> None:
    for q, sigma in STEPS:
        heights = step_deviation(q, sigma) * np.array([1e-3, 0.2, 1.0, 4.0])
        found, ratios = position_at(q, sigma, heights), ratio_at(q, heights)
        with mpmath.workdps(40):
            for height, x, ratio in zip(heights, found, ratios, strict=True):
                assert x == pytest.approx(
                    float(place(q, sigma, float(height))), rel=1e-12, abs=1e-12 * sigma**2
                )
                exact = mpmath.exp(
                    (mpmath.mpf(float(x)) - mpmath.mpf(1) / 2) / mpmath.mpf(sigma) ** 2
                )
                assert ratio == pytest.approx(float(exact), rel=1e-11, abs=0), (q, sigma)
                assert height_of(q, sigma, float(x)) == pytest.approx(height, rel=1e-9, abs=0), (
                    q,
                    sigma,
                )
    assert position_at(0.1, 1.0, np.array([-0.5, 0.0])).tolist() == [-inf, -inf]
    assert np.isfinite(position_at(1.0, 1.0, np.array([-0.5, 0.0]))).all()


def test_normal_masses_keep_their_precision_in_both_tails_and_across_the_middle() -> None:
    z = np.array([-inf, -30.0, -9.0, -8.99, -1.0, 0.0, 0.7, 8.0, 8.001, 9.0, 30.0, inf])
    for places in (z, np.array([-1.0, 2.0, 3.0]), np.array([-9.0, 9.0])):
        with mpmath.workdps(260):
            below = [mpmath.ncdf(mpmath.mpf(float(each))) for each in places]
            exact = [float(right - left) for left, right in pairwise(below)]
        np.testing.assert_allclose(normal_between(places), exact, rtol=1e-11)


def test_what_lies_below_a_cut_counts_as_the_height_of_its_mean_ratio() -> None:
    for q, sigma in SAMPLED:
        for cut in step_deviation(q, sigma) * np.array([0.01, 0.5, 2.0]):
            with mpmath.workdps(40):
                x = place(q, sigma, float(cut))
                core, tilted = mpmath.ncdf(x / sigma), mpmath.ncdf((x - 1) / sigma)
                if core < 1e-300:
                    continue
                mean = mpmath.log(1 - mpmath.mpf(q) + q * tilted / core) - mpmath.log(
                    1 - mpmath.mpf(q)
                )
            found, start = mass_below(q, sigma, float(cut))
            assert found == pytest.approx(float(core), rel=1e-10, abs=0), (q, sigma)
            assert start == pytest.approx(float(mean), rel=1e-9, abs=0), (q, sigma)
            assert 0 < start < cut, (q, sigma)
    core, start = mass_below(1e-5, 100.0, 1e-12)
    assert core == 0
    assert start == 0.5e-12


def test_beyond_the_last_node_all_that_its_ratio_does_not_explain_is_excess() -> None:
    for q, sigma in STEPS:
        for height in step_deviation(q, sigma) * np.array([0.3, 1.5, 4.0]):
            with mpmath.workdps(60):
                x = place(q, sigma, float(height))
                mass, tilted = mpmath.ncdf(-x / sigma), mpmath.ncdf((1 - x) / sigma)
                ratio = mpmath.exp((x - mpmath.mpf(1) / 2) / mpmath.mpf(sigma) ** 2)
                excess = tilted - mass * ratio
            found = cut_above(q, sigma, float(height))
            assert found.mass == pytest.approx(float(mass), rel=1e-9, abs=0), (q, sigma)
            assert found.excess == pytest.approx(
                float(excess), rel=1e-9, abs=1e-15 * float(tilted)
            ), (q, sigma)
            assert found.excess > 0, (q, sigma)


def test_no_more_than_the_tail_lies_beyond_either_end() -> None:
    for tail, (q, sigma) in product([1e-4, 1e-12], STEPS):
        low, high = loss_heights(q, sigma, tail)
        left = float(ndtr(position_at(q, sigma, np.array([low]))[0] / sigma))
        right = q * float(ndtr((1 - position_at(q, sigma, np.array([high]))[0]) / sigma))
        assert left == pytest.approx(tail, rel=1e-3, abs=0), (tail, q, sigma)
        assert right == pytest.approx(min(tail, q * float(ndtr(-3))), rel=1e-3, abs=0), (
            tail,
            q,
            sigma,
        )
        assert step_span(q, sigma, tail) == high - low, (tail, q, sigma)
    # Half of N(1) at most is cut off, and a lattice covers three of its deviations at least.
    low, high = loss_heights(1e-6, 1.0, 1e-3)
    assert low == height_of(1e-6, 1.0, float(ndtri(1e-3)))
    assert high == height_of(1e-6, 1.0, 1 + 3.0)


def test_the_deviation_of_a_step_is_the_root_of_its_renyi_divergence_of_order_2() -> None:
    for q, sigma in product([1e-6, 0.1, 1.0], [0.05, 0.3, 0.999, 1.001, 1.2, 4.0, 100.0]):
        with mpmath.workdps(40):
            exact = mpmath.sqrt(
                mpmath.log(1 + mpmath.mpf(q) ** 2 * mpmath.expm1(1 / mpmath.mpf(sigma) ** 2))
            )
        assert step_deviation(q, sigma) == pytest.approx(float(exact), rel=1e-6, abs=0), (q, sigma)


def test_cells_hold_the_masses_between_their_nodes_and_split_them_without_moving_the_mean() -> None:
    for q, sigma in STEPS:
        low, high = loss_heights(q, sigma, 1e-3)
        y = np.linspace(low, high, 11)
        cells, z = cells_between(q, sigma, y), position_at(q, sigma, y) / sigma
        null, tilted = np.diff(ndtr(z)), np.diff(ndtr(z - 1 / sigma))
        np.testing.assert_allclose(cells.left, [null[::2], tilted[::2]], rtol=1e-6, atol=1e-15)
        np.testing.assert_allclose(cells.right, [null[1::2], tilted[1::2]], rtol=1e-6, atol=1e-15)
        np.testing.assert_array_equal(cells.w, ratio_at(q, y)[::2], err_msg=str((q, sigma)))
        np.testing.assert_array_equal(cells.middle, ratio_at(q, y)[1::2], err_msg=str((q, sigma)))
        np.testing.assert_array_equal(cells.width, np.diff(cells.w), err_msg=str((q, sigma)))
        below, above = cells.split()
        mass, weighted = cells.left + cells.right
        np.testing.assert_allclose(below + above, mass, rtol=1e-14, err_msg=str((q, sigma)))
        np.testing.assert_allclose(below * cells.w[:-1] + above * cells.w[1:], weighted, rtol=1e-9)


@pytest.mark.parametrize(("q", "sigma"), STEPS)
@pytest.mark.parametrize("count", [3, 8])
def test_the_chord_error_is_that_of_the_tangent_in_the_middle(
    q: float, sigma: float, count: int
) -> None:
    """The gap between the chord of a cell and E[(w - s)_+] of what lies in it is concave: its
    tangent lies above it.
    """
    low, high = loss_heights(q, sigma, 1e-3)
    cells = cells_between(q, sigma, np.linspace(low, high, 2 * count + 1))
    _, above = cells.split()
    for cell, error in enumerate(cells.chord_error()):
        start, middle, end = cells.w[cell], cells.middle[cell], cells.w[cell + 1]
        last = (sigma**2 * np.log(end) + 0.5) / sigma

        def gap(
            s: np.ndarray, cell: int = cell, end: float = end, last: float = last
        ) -> np.ndarray:
            x = (sigma**2 * np.log(s) + 0.5) / sigma
            beyond = (
                ndtr(-(x - 1 / sigma)) - ndtr(-(last - 1 / sigma)) - s * (ndtr(-x) - ndtr(-last))
            )
            return above[cell] * (end - s) - beyond

        s = np.linspace(start, end, 1002)[1:-1]
        assert error >= np.max(gap(s)) - 1e-13 * end
        h = 1e-4 * (end - start)
        slope = float(gap(middle + h) - gap(middle - h)) / (2 * h)
        tangent = float(gap(middle)) + max(slope * (end - middle), slope * (start - middle))
        assert error == pytest.approx(tangent, rel=1e-3, abs=1e-11 * end)


class Setting(NamedTuple):
    """One step, on a lattice that suits it or one that others beside it need."""

    q: float
    sigma: float
    mesh: float
    tail: float


def settings(seed: int, count: int) -> list[Setting]:
    """q in [1e-7, 1], sigma in [0.05, 1e4], 1 to 1e9 steps; every other mesh is up to 10^4 times
    too coarse.
    """
    generator, found = np.random.default_rng(seed), []
    for number in range(count):
        q = 1.0 if number % 4 == 0 else float(10 ** generator.uniform(-7, 0))
        sigma, steps = float(10 ** generator.uniform(-1.3, 4)), float(10 ** generator.uniform(0, 9))
        tail = lattice.CUT_OFF * float(tradeoff_bounds.MIN_DELTA[0]) / steps
        own = max(
            tradeoff_bounds.WIDEST * step_deviation(q, sigma), step_span(q, sigma, tail) / 150
        )
        coarser = float(10 ** generator.uniform(0, 4)) if number % 2 else 1.0
        found.append(Setting(q, sigma, max(own, min(own * coarser, 0.3)), tail))
    return found


SETTINGS = [*settings(1, 20), Setting(1.0, 0.1, 0.8, 1e-20), Setting(6e-5, 0.11, 1.4, 1e-20)]


def place_of(setting: Setting, t: mpf) -> mpf:
    """The place on the line with likelihood ratio t, above its lower bound."""
    q = mpf(setting.q)
    return mpf(setting.sigma) ** 2 * mpmath.log((t - 1 + q) / q) + mpf(1) / 2


def removed(setting: Setting, loss: mpf) -> mpf:
    """The hockey-stick divergence of one step at e^loss with the record removed."""
    q, sigma, t = mpf(setting.q), mpf(setting.sigma), mpmath.exp(loss)
    if t <= 1 - q:
        return 1 - t
    x = place_of(setting, t)
    return q * mpmath.ncdf((1 - x) / sigma) - (t - 1 + q) * mpmath.ncdf(-x / sigma)


def added(setting: Setting, loss: mpf) -> mpf:
    """The hockey-stick divergence in the add direction."""
    q, sigma, t = mpf(setting.q), mpf(setting.sigma), mpmath.exp(-loss)
    if t <= 1 - q:
        return mpf(0)
    x = place_of(setting, t)
    return (1 - (1 - q) / t) * mpmath.ncdf(x / sigma) - q / t * mpmath.ncdf((x - 1) / sigma)


def beside(law: LossLaw) -> np.ndarray:
    """Masses as `spectrum` has them: the fullest node is left out."""
    mass = law.mass * np.exp(-law.log_moments(np.zeros(1))[0])
    mass[np.argmax(mass)] = 0.0
    return mass


def divergences(law: LossLaw) -> list[mpf]:
    """Hockey-stick divergences at every lattice point; the fullest node takes the rest of the
    others.
    """
    finite = 1 - mpf(law.infinite)
    mass = [finite * mpf(float(each)) for each in beside(law)]
    mass[int(np.argmax(law.mass))] = finite - mpmath.fsum(mass)
    found, above, other = [], mpf(law.infinite), mpf(0)
    for loss, here in reversed(list(zip(places(law), mass, strict=True))):
        found.append(above - mpmath.exp(loss) * other)
        above, other = above + here, other + here * mpmath.exp(-loss)
    return found[::-1]


def places(law: LossLaw) -> list[mpf]:
    return [mpf(law.offset) + node * mpf(law.mesh) for node in range(law.mass.size)]


def charged(law: LossLaw, q: float) -> float:
    return float(rounding.step_error(np.array([q]), np.array([beside(law).sum()]))[0])


def worst(law: LossLaw, exact: Callable[[mpf], mpf]) -> float:
    """The largest error at a node."""
    every = zip(law.mass, places(law), divergences(law), strict=True)
    return float(max(abs(found - exact(loss)) for mass, loss, found in every if mass > 0))


def test_no_divergence_of_a_step_errs_by_more_than_is_charged() -> None:
    """The law that dominates keeps the exact value at each node; a place that errs by e changes it
    by at most e.
    """
    with mpmath.workdps(60):
        for setting in SETTINGS:
            laws = step_laws(*setting)
            for law, exact in ((laws.remove, removed), (laws.add, added)):
                place = 4 * rounding.UNIT * float(max(abs(loss) for loss in places(law)))
                assert worst(law, partial(exact, setting)) < charged(law, setting.q) / 4 + place, (
                    setting
                )


def test_the_mass_beside_the_fullest_node_alone_would_charge_too_little() -> None:
    """A step of much noise has one node with nearly all mass on a lattice that suits other losses;
    its errors stay.
    """
    setting = Setting(0.2, 1e5, 0.3, 1e-15)
    law = step_laws(*setting).remove
    with mpmath.workdps(60):
        error = worst(law, partial(removed, setting))
    assert 10 * rounding.MASS * beside(law).sum() < error < charged(law, setting.q)


def long(value: mpf) -> np.longdouble:
    return (
        np.longdouble(mpmath.nstr(value, 25)) if abs(value) > mpf(10) ** -4000 else np.longdouble(0)
    )


def precise_ratios(q: float, y: np.ndarray) -> np.ndarray:
    w = [
        mpmath.exp(mpf(each)) if q == 1 else (1 - mpf(q)) / mpf(q) * mpmath.expm1(mpf(each))
        for each in y.tolist()
    ]
    return np.array([long(each) for each in w])


def precise_cells(q: float, sigma: float, y: np.ndarray) -> Cells:
    """`cells_between` from sixty digits, rounded to the 64 bits of a long double."""
    x = []
    for each in y.tolist():
        w = mpmath.exp(mpf(each)) if q == 1 else (1 - mpf(q)) / mpf(q) * mpmath.expm1(mpf(each))
        x.append(mpf(sigma) ** 2 * mpmath.log(w) + mpf(1) / 2 if w > 0 else -mpmath.inf)
    mass = np.array(
        [
            [between((a - mean) / sigma, (b - mean) / sigma) for a, b in pairwise(x)]
            for mean in (0, 1)
        ]
    )
    w = precise_ratios(q, y)
    return Cells(w[::2], w[1::2], mass[:, ::2], mass[:, 1::2])


def between(left: mpf, right: mpf) -> np.longdouble:
    """Standard normal mass, from the tails on the side where they are small."""
    return long(
        mpmath.ncdf(-left) - mpmath.ncdf(-right)
        if left > 0
        else mpmath.ncdf(right) - mpmath.ncdf(left)
    )


def precise_core(q: float, sigma: float, cut: float) -> tuple[np.longdouble, float]:
    """`mass_below` with a precise mass, at the same node."""
    x = mpf(sigma) ** 2 * mpmath.log((1 - mpf(q)) / mpf(q) * mpmath.expm1(mpf(cut))) + mpf(1) / 2
    return long(mpmath.ncdf(x / mpf(sigma))), mass_below(q, sigma, cut)[1]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["remove", "add", "dominated"])
def test_cells_of_exact_mass_change_no_divergence_by_more_than_is_charged(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A law from precise masses has equal places, but a first cell below the bound is misplaced."""
    found = [getattr(step_laws(*setting), kind) for setting in SETTINGS]
    monkeypatch.setattr(step_law, "cells_between", precise_cells)
    monkeypatch.setattr(step_law, "ratio_at", precise_ratios)
    monkeypatch.setattr(step_law, "mass_below", precise_core)
    shares = []
    with mpmath.workdps(60):
        for setting, law in zip(SETTINGS, found, strict=True):
            laws = step_laws(*setting)
            precise = getattr(laws, kind)
            # Too coarse for a law.
            exact = divergences(precise) if precise.mass.size > 1 else [mpf(0)] * law.mass.size
            error = float(
                max(abs(one - two) for one, two in zip(divergences(law), exact, strict=True))
            )
            below = max(np.log1p(-setting.q) - laws.remove.offset, 0.0) if setting.q < 1 else 0.0
            shares.append((error - 2 * rounding.UNIT * below) / charged(law, setting.q))
    assert 1 / 400 < max(shares) < 1 / 4  # four hundred times less would not do


def moved(law: LossLaw, node: int, error: float) -> LossLaw:
    """The law with a second difference on three nodes: its divergence is higher by `error` at one
    node alone.
    """
    t = np.exp(law.offset + law.mesh * np.arange(law.mass.size))
    left, right = error / (t[node] - t[node - 1]), error / (t[node + 1] - t[node])
    mass = law.mass.copy()
    mass[node - 1 : node + 2] += t[node - 1 : node + 2] * [left, -left - right, right]
    return LossLaw(law.offset, law.mesh, mass, law.infinite)


def test_many_steps_and_their_tests_err_by_no_more_than_the_sum_of_what_one_step_errs() -> None:
    """Although single masses err by many times that."""
    law, error = step_laws(0.3, 1.5, 0.1, 1e-12).remove, 1e-5
    other = moved(law, int(np.argmax(law.mass)), error)
    assert np.max(np.abs(other.mass - law.mass)) > 5 * error
    for steps in (1, 2, 5):
        exact, found = convolved([(law, steps)]), convolved([(other, steps)])
        t = np.exp(exact[0])
        whole, wrong = (
            np.array([delta_of(each, loss) for loss in exact[0]]) for each in (exact, found)
        )
        assert 0.3 * error < np.max(np.abs(wrong - whole)) <= steps * error * (1 + 1e-6)
        power = np.insert(np.cumsum(found[1][::-1]), 0, 0.0) + found[2]
        alpha = np.insert(np.cumsum((found[1] / t)[::-1]), 0, 0.0)
        # By duality, and the same without an error:
        best = np.min(whole + t * alpha[:, None], axis=1)
        assert np.max(power - best) <= steps * error * (1 + 1e-6)
        assert np.min(power - best) >= -steps * error * (1 + 1e-6)
