"""Places, masses and heights of one step, one function at a time, against forty digits."""

from itertools import pairwise, product
from math import inf

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpcore.privacy.certified.cells import (
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

STEPS = [(1e-5, 0.6), (0.01, 4.0), (0.1, 1.0), (0.5, 2.0), (0.9, 0.6), (1.0, 1.0), (1.0, 0.3)]
SAMPLED = [each for each in STEPS if each[0] < 1]


def place(q: float, sigma: float, height: float) -> mpmath.mpf:
    """Where on the line the loss lies that far above ln(1-q), or is that large where q = 1."""
    q, sigma, height = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(height)
    ratio = mpmath.exp(height) if q == 1 else (1 - q) * mpmath.expm1(height) / q
    return sigma**2 * mpmath.log(ratio) + mpmath.mpf(1) / 2


def test_places_heights_and_ratios_agree_with_their_definitions() -> None:
    for q, sigma in STEPS:
        heights = step_deviation(q, sigma) * np.array([1e-3, 0.2, 1.0, 4.0])
        found, ratios = position_at(q, sigma, heights), ratio_at(q, heights)
        with mpmath.workdps(40):
            for height, x, ratio in zip(heights, found, ratios, strict=True):
                assert x == pytest.approx(float(place(q, sigma, float(height))), rel=1e-12, abs=1e-12 * sigma**2)
                exact = mpmath.exp((mpmath.mpf(float(x)) - mpmath.mpf(1) / 2) / mpmath.mpf(sigma) ** 2)
                assert ratio == pytest.approx(float(exact), rel=1e-11, abs=0), (q, sigma)
                assert height_of(q, sigma, float(x)) == pytest.approx(height, rel=1e-9, abs=0), (q, sigma)
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
                mean = mpmath.log(1 - mpmath.mpf(q) + q * tilted / core) - mpmath.log(1 - mpmath.mpf(q))
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
            assert found.excess == pytest.approx(float(excess), rel=1e-9, abs=1e-15 * float(tilted)), (q, sigma)
            assert found.excess > 0, (q, sigma)


def test_no_more_than_the_tail_lies_beyond_either_end() -> None:
    for tail, (q, sigma) in product([1e-4, 1e-12], STEPS):
        low, high = loss_heights(q, sigma, tail)
        left = float(ndtr(position_at(q, sigma, np.array([low]))[0] / sigma))
        right = q * float(ndtr((1 - position_at(q, sigma, np.array([high]))[0]) / sigma))
        assert left == pytest.approx(tail, rel=1e-3, abs=0), (tail, q, sigma)
        assert right == pytest.approx(min(tail, q * float(ndtr(-3))), rel=1e-3, abs=0), (tail, q, sigma)
        assert step_span(q, sigma, tail) == high - low, (tail, q, sigma)
    # Half of N(1) at most is cut off, and a lattice covers three of its deviations at least.
    low, high = loss_heights(1e-6, 1.0, 1e-3)
    assert low == height_of(1e-6, 1.0, float(ndtri(1e-3)))
    assert high == height_of(1e-6, 1.0, 1 + 3.0)


def test_the_deviation_of_a_step_is_the_root_of_its_renyi_divergence_of_order_2() -> None:
    for q, sigma in product([1e-6, 0.1, 1.0], [0.05, 0.3, 0.999, 1.001, 1.2, 4.0, 100.0]):
        with mpmath.workdps(40):
            exact = mpmath.sqrt(mpmath.log(1 + mpmath.mpf(q) ** 2 * mpmath.expm1(1 / mpmath.mpf(sigma) ** 2)))
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
def test_the_chord_error_is_that_of_the_tangent_in_the_middle(q: float, sigma: float, count: int) -> None:
    """The gap between the chord of a cell and E[(w - s)_+] of what lies in it is concave: its tangent lies above it."""
    low, high = loss_heights(q, sigma, 1e-3)
    cells = cells_between(q, sigma, np.linspace(low, high, 2 * count + 1))
    _, above = cells.split()
    for cell, error in enumerate(cells.chord_error()):
        start, middle, end = cells.w[cell], cells.middle[cell], cells.w[cell + 1]
        last = (sigma**2 * np.log(end) + 0.5) / sigma

        def gap(s: np.ndarray, cell: int = cell, end: float = end, last: float = last) -> np.ndarray:
            x = (sigma**2 * np.log(s) + 0.5) / sigma
            beyond = ndtr(-(x - 1 / sigma)) - ndtr(-(last - 1 / sigma)) - s * (ndtr(-x) - ndtr(-last))
            return above[cell] * (end - s) - beyond

        s = np.linspace(start, end, 1002)[1:-1]
        assert error >= np.max(gap(s)) - 1e-13 * end
        h = 1e-4 * (end - start)
        slope = float(gap(middle + h) - gap(middle - h)) / (2 * h)
        tangent = float(gap(middle)) + max(slope * (end - middle), slope * (start - middle))
        assert error == pytest.approx(tangent, rel=1e-3, abs=1e-11 * end)
