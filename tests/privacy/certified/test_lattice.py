"""What the laws of one step are told of: their log-moments in both directions, their ends, and how far losses reach."""

import numpy as np
import pytest

from dpcore.privacy.certified import step_law
from dpcore.privacy.certified.cells import mass_below, step_deviation
from dpcore.privacy.certified.lattice import Composition, _reach, lattice_of, log_moments_of
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.step_law import _core, step_laws, widening

COMPOSITION = Composition([(0.01, 1.0), (0.2, 2.0), (1.0, 8.0)], np.array([[3, 2, 0], [300, 50, 7]]))
DELTA = np.array([1e-3, 1e-7])


def test_the_orders_rise_and_lie_symmetric_around_minus_one_half() -> None:
    orders = lattice_of(COMPOSITION, DELTA, 0.02).remove.orders
    assert np.all(np.diff(orders) > 0)
    np.testing.assert_allclose(orders, -1 - orders[::-1], atol=1e-12)
    assert {-1.0, 0.0} <= set(orders)
    assert not np.any((orders > -1) & (orders < 0))


def test_the_moments_of_each_direction_are_those_of_its_laws() -> None:
    """Those of the add direction are read backwards from the other: masses of infinite loss must not get lost."""
    found = lattice_of(COMPOSITION, DELTA, 0.02)
    for name in ("remove", "add", "dominated"):
        moments, laws = getattr(found, name), [getattr(each, name) for each in found.laws]
        direct = np.stack([law.log_moments(moments.orders) for law in laws])
        np.testing.assert_allclose(moments.values, direct, rtol=1e-6, atol=1e-9)
        ends = [(law.offset, law.offset + law.mesh * (law.mass.size - 1)) for law in laws]
        np.testing.assert_allclose(moments.ends, ends, rtol=1e-9, atol=1e-9)


def test_moments_know_the_ends_of_a_law_and_its_mass_beside_the_fullest_node() -> None:
    law = LossLaw(-0.5, 0.25, np.array([0.1, 0.6, 0.3]), 0.0)
    moments = log_moments_of([law], np.array([-1.0, 0.0, 2.0]), np.array([3.0]))
    np.testing.assert_allclose(moments.ends, [[-0.5, 0.0]])
    np.testing.assert_allclose(moments.active, [0.4])
    assert moments.reaching.tolist() == [3.0]


def test_a_law_without_mass_has_no_moments() -> None:
    nothing = LossLaw(0.0, 0.25, np.zeros(3), 1.0)
    assert nothing.log_moments(np.array([-1.0, 0.0, 2.0])).tolist() == [-np.inf] * 3


@pytest.mark.parametrize(("offset", "farthest"), [(-3.0, 3.0), (-1.0, 1.0), (-0.2, 0.8)])
def test_losses_reach_as_far_as_the_farther_end_and_the_share_of_what_is_sampled(
    offset: float, farthest: float
) -> None:
    """Of t = 1 - q + q w the share q w is largest at the upper end: 1 - (1 - q) / t."""
    law = LossLaw(offset, 0.25, np.full(5, 0.2), 0.0)  # its upper end lies 1 above
    for q in (0.01, 0.1, 0.18):
        t = np.exp(offset + 1.0)
        assert _reach(law, q) == pytest.approx(farthest + 1 - (1 - q) / t, rel=1e-12, abs=0)
    assert _reach(law, 1.0) == farthest + 1


@pytest.mark.parametrize(("count", "core"), [(10, 3), (70, 3), (71, 3), (500, 3), (500, 100), (20_000, 50), (129, 0)])
def test_nodes_are_all_near_the_core_and_ever_rarer_beyond(
    count: int, core: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for growth in (64, 8):
        monkeypatch.setattr(step_law, "GROWTH", growth)
        nodes = widening(count, core)
        near = min(core + growth, count)
        assert nodes[:near].tolist() == list(range(near))
        width = np.diff(nodes)
        assert np.all(width >= 1)
        assert np.all(width <= np.maximum(1, 1 + (nodes[:-1] - core) // growth))
        assert count - 1 <= nodes[-1] <= count - 1 + width[-1]
        if count > 50 * growth and core < growth:
            assert nodes.size < count / 3
            assert width.max() > 8


@pytest.mark.parametrize(("q", "sigma"), [(1e-5, 0.6), (0.01, 4.0), (0.1, 1.0), (0.5, 2.0), (0.9, 0.3)])
@pytest.mark.parametrize("factor", [0.05, 0.6, 3.0])
def test_the_cut_of_the_core_lies_above_its_mean_and_below_the_next_node(q: float, sigma: float, factor: float) -> None:
    mesh = factor * step_deviation(q, sigma)
    cut, core, start = _core(q, sigma, mesh)
    assert (core, start) == mass_below(q, sigma, cut)
    assert 0 < start < cut <= start + mesh
    assert cut >= 0.5 * mesh
    assert start < 0.9 * mesh


def test_where_most_mass_is_low_the_core_is_raised_to_the_next_node() -> None:
    cut, core, start = _core(0.01, 0.5, 0.02)
    assert core > 0.9
    assert cut == pytest.approx(start + 0.02, rel=1e-2)


def test_a_lattice_that_reaches_the_bound_of_the_loss_has_no_infinite_loss_where_the_record_is_added() -> None:
    assert step_laws(0.1, 1.0, 0.2, 1e-9).add.infinite == 0
    assert step_laws(0.5, 4.0, 0.01, 1e-2).add.infinite > 0
