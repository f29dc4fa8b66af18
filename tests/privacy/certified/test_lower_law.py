"""The lowered hockey-stick curve is the lower convex hull of its lowered points and of the floor, found another way."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from dpcore.privacy.certified.lower_law import Gaps, _convex, _tangent, dominated, needed


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
    """Nodes, masses, lowering and gaps, at random; small lowering, so that only the ends meet the floor."""
    generator = np.random.default_rng(seed)
    w = 0.2 + np.cumsum(generator.uniform(0.2, 1.5, 30))
    mass = generator.uniform(0.1, 1.0, 30)
    mass /= 1.2 * mass.sum()
    lowering = 0.01 * generator.uniform(0.0, 1.0, 30)
    return w, mass, lowering, Gaps(*generator.uniform(0.0, 0.01, 3))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("factor", [1.0, 10.0])
@pytest.mark.parametrize("dip", [None, 8, 20, 25])
def test_the_lowered_curve_is_the_hull_of_its_points_and_the_floor(seed: int, factor: float, dip: int | None) -> None:
    w, mass, lowering, gaps = setting(seed)
    lowering = factor * lowering
    right = curve(w, mass) + gaps.right
    if dip is not None:  # there the curve is lowered nearly to the floor, and its hull runs straight for long
        lowering[dip] = 0.9 * min(right[dip], right[dip] - right[0] + (mass.sum() + gaps.zero) * (w[dip] - w[0]))
    # The floor at the left is a line: it falls by all the mass there is, that of ratio 0 too.
    floor = right[0] - gaps.left - (mass.sum() + gaps.zero) * (w - w[0])
    height = right - lowering
    reached_left, reached_right = np.flatnonzero(height < floor), np.flatnonzero(height < 0)
    first = reached_left.max(initial=-1) + 1
    last = reached_right.min(initial=w.size) - 1
    height[: first + 1] = floor[: first + 1]
    height[last:] = 0.0
    found = dominated(w, mass.copy(), lowering, gaps)
    assert np.all(found >= 0)
    assert np.all(found[last + 1 :] == 0)
    expected, corners = hull(w, height)
    np.testing.assert_allclose(curve(w, found), expected, atol=1e-13)
    assert set(np.flatnonzero(found)) <= set(corners)
    assert found.sum() == pytest.approx(mass.sum() + gaps.zero, rel=1e-12, abs=0)


def test_a_lowering_that_reaches_the_floor_everywhere_leaves_no_law() -> None:
    w, mass, lowering, gaps = setting(1)
    assert not dominated(w, mass.copy(), lowering + 100.0, gaps).any()
    assert dominated(w, mass.copy(), lowering, gaps).any()


def test_a_law_of_two_nodes_keeps_its_ends() -> None:
    w, mass = np.array([0.5, 2.0]), np.array([0.4, 0.3])
    np.testing.assert_allclose(dominated(w, mass.copy(), np.zeros(2), Gaps(0.0, 0.0, 0.0)), mass)


def test_each_node_is_lowered_by_the_larger_error_of_its_two_cells() -> None:
    assert needed(np.array([3.0, 1.0, 2.0])).tolist() == [3.0, 3.0, 2.0, 2.0]


def test_the_tangent_to_the_end_touches_the_curve_and_stays_below_it() -> None:
    w = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    height = np.array([9.0, 3.0, 2.5, 2.0, 0.0])
    corner = _tangent(w, height)
    assert corner == 1
    assert np.all(height[corner:] >= height[corner] * (4.0 - w[corner:]) / (4.0 - w[corner]))


@pytest.mark.parametrize("ends", [(0,), (-1,), (0, -1), (2, -1), (0, 2)])
def test_a_curve_that_bends_the_wrong_way_at_an_end_has_no_hull_on_the_lattice(ends: tuple[int, ...]) -> None:
    w, mass = np.arange(6.0), np.full(6, 0.2)
    mass[list(ends)] = -0.1
    assert _convex(w, mass.copy()).tolist() == [0.0] * 6
    mass[list(ends)] = 0.1
    assert _convex(w, mass.copy()).tolist() == mass.tolist()
