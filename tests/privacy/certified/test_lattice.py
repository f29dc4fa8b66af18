"""The inputs of one step's laws, the reach of losses, and merged levels."""

from itertools import product

import numpy as np
import pytest

from dpcore.privacy.certified import lattice, rounding, step_law
from dpcore.privacy.certified.cells import mass_below, step_deviation
from dpcore.privacy.certified.compose import composed_epsilons
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.certified.lattice import (
    Composition,
    _reach,
    composition_of,
    lattice_of,
    log_moments_of,
    merged,
)
from dpcore.privacy.certified.step_law import LossLaw, _core, step_laws, widening
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Release
from tests.privacy.certified.test_compose import moments_of

COMPOSITION = Composition(
    [(0.01, 1.0), (0.2, 2.0), (1.0, 8.0)], np.array([[3, 2, 0], [300, 50, 7]])
)
DELTA = np.array([1e-3, 1e-7])


def test_the_moments_of_each_direction_are_those_of_its_laws() -> None:
    orders = lattice_of(COMPOSITION, DELTA, 0.02).remove.orders
    assert np.all(np.diff(orders) > 0)
    np.testing.assert_allclose(orders, -1 - orders[::-1], atol=1e-12)
    assert {-1.0, 0.0} <= set(orders)
    assert not np.any((orders > -1) & (orders < 0))
    # Those of the add direction are read backwards from the other: masses of infinite loss must not
    # get lost.
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
    nothing = LossLaw(0.0, 0.25, np.zeros(3), 1.0)
    assert nothing.log_moments(np.array([-1.0, 0.0, 2.0])).tolist() == [-np.inf] * 3
    law = LossLaw(-1.0, 0.1, np.array([0.5, 0.5]), 0.0)
    counts, log_delta = np.array([[1], [2]]), np.log([0.5, 0.5])
    assert moments_of(law).chernoff(counts, log_delta).tolist() == [0.0, 0.0]
    assert composed_epsilons([law], counts, np.array([0.5, 0.5]), moments_of(law), +1).tolist() == [
        0.0,
        0.0,
    ]


def test_losses_reach_as_far_as_the_farther_end_and_the_share_of_what_is_sampled() -> None:
    """The share q w of t = 1 - q + q w is largest at the upper end: 1 - (1 - q) / t."""
    for offset, farthest in [(-3.0, 3.0), (-1.0, 1.0), (-0.2, 0.8)]:
        law = LossLaw(offset, 0.25, np.full(5, 0.2), 0.0)  # its upper end lies 1 above
        for q in (0.01, 0.1, 0.18):
            t = np.exp(offset + 1.0)
            assert _reach(law, q) == pytest.approx(farthest + 1 - (1 - q) / t, rel=1e-12, abs=0), (
                offset,
                farthest,
            )
        assert _reach(law, 1.0) == farthest + 1, (offset, farthest)


def test_nodes_are_all_near_the_core_and_ever_rarer_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    for count, core in [(10, 3), (70, 3), (71, 3), (500, 3), (500, 100), (20_000, 50), (129, 0)]:
        for growth in (64, 8):
            monkeypatch.setattr(step_law, "GROWTH", growth)
            nodes = widening(count, core)
            near = min(core + growth, count)
            assert nodes[:near].tolist() == list(range(near)), (count, core)
            width = np.diff(nodes)
            assert np.all(width >= 1), (count, core)
            assert np.all(width <= np.maximum(1, 1 + (nodes[:-1] - core) // growth)), (count, core)
            assert count - 1 <= nodes[-1] <= count - 1 + width[-1], (count, core)
            if count > 50 * growth and core < growth:
                assert nodes.size < count / 3, (count, core)
                assert width.max() > 8, (count, core)


def test_the_cut_of_the_core_lies_above_its_mean_and_below_the_next_node() -> None:
    for factor, (q, sigma) in product(
        [0.05, 0.6, 3.0], [(1e-5, 0.6), (0.01, 4.0), (0.1, 1.0), (0.5, 2.0), (0.9, 0.3)]
    ):
        mesh = factor * step_deviation(q, sigma)
        cut, core, start = _core(q, sigma, mesh)
        assert (core, start) == mass_below(q, sigma, cut), (factor, q, sigma)
        assert 0 < start < cut <= start + mesh, (factor, q, sigma)
        assert cut >= 0.5 * mesh, (factor, q, sigma)
        assert start < 0.9 * mesh, (factor, q, sigma)
    cut, core, start = _core(0.01, 0.5, 0.02)
    assert core > 0.9
    assert cut == pytest.approx(start + 0.02, rel=1e-2)


def test_a_lattice_up_to_the_bound_of_the_loss_has_no_infinite_loss_for_an_added_record() -> None:
    assert step_laws(0.1, 1.0, 0.2, 1e-9).add.infinite == 0
    assert step_laws(0.5, 4.0, 0.01, 1e-2).add.infinite > 0


MANY = Composition(
    [(q, float(sigma)) for q in (0.01, 0.2) for sigma in np.geomspace(0.5, 8.0, 50)],
    np.arange(1, 301).reshape(3, 100),
)


def loud_steps(steps: Composition, row: int, q: float, sigma: float) -> int:
    """The number of steps of a row at this q with at most this sigma."""
    counts = zip(steps.kinds, steps.counts[row], strict=True)
    return sum(count for kind, count in counts if kind[0] == q and kind[1] <= sigma)


def test_merging_replaces_each_sigma_by_one_on_the_safe_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for dominating, levels in product([True, False], [1, 2, 7, 40]):
        monkeypatch.setattr(lattice, "LEVELS", levels)
        few = merged(MANY, dominating)
        assert few.counts.sum(axis=1).tolist() == MANY.counts.sum(axis=1).tolist(), (
            dominating,
            levels,
        )
        for q in (0.01, 0.2):
            kinds = [sigma for each, sigma in few.kinds if each == q]
            assert len(kinds) <= levels, (dominating, levels)
            assert set(kinds) <= {sigma for each, sigma in MANY.kinds if each == q}, (
                dominating,
                levels,
            )
            # Of the steps at least this loud, no fewer (no more) are left.
            for sigma in np.geomspace(0.5, 8.0, 50):
                for row in range(3):
                    before = loud_steps(MANY, row, q, sigma)
                    after = loud_steps(few, row, q, sigma)
                    assert after >= before if dominating else after <= before, (dominating, levels)


def test_merging_moves_no_sigma_further_than_one_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "LEVELS", 10)
    for dominating in (True, False):
        for q in (0.01, 0.2):
            kinds = np.array([sigma for each, sigma in merged(MANY, dominating).kinds if each == q])
            assert len(kinds) == 10
            for sigma in np.geomspace(0.5, 8.0, 50):
                assert np.min(np.abs(np.log(kinds / sigma))) <= np.log(16) / 10 + 1e-9


def test_few_kinds_are_not_merged() -> None:
    few = composition_of(
        Mechanism((Release(0.1, 1.0, 5), Release(0.1, 2.0, 7), Release(0.1, 1.0, 3))),
        np.array([6, 15]),
    )
    assert few.kinds == [(0.1, 1.0), (0.1, 2.0)]
    assert few.counts.tolist() == [[5, 1], [8, 7]]
    assert merged(few, True) is few
    assert merged(few, False) is few


def test_a_lower_bound_says_nothing_where_infinite_losses_outweigh_delta() -> None:
    loss = step_laws(1.0, 2.0, 0.1, 1e-15).remove
    leaky = LossLaw(loss.offset, loss.mesh, loss.mass * (1 - 1e-6), 1e-6)
    low = composed_epsilons([leaky], np.array([[5], [20]]), np.full(2, 1e-5), moments_of(leaky), -1)
    assert low[0] > 0
    assert low[1] == 0


def test_a_delta_that_infinite_losses_use_up_exactly_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounding, "ALLOWANCE", 0.0)
    monkeypatch.setattr(rounding, "MASS", 0.0)
    law, counts = LossLaw(0.0, 0.1, np.array([0.25, 0.25]), 0.5), np.array([[1]])
    delta = -np.expm1(np.array([np.log1p(-0.5)]))
    assert composed_epsilons([law], counts, delta, moments_of(law), +1)[0] == np.inf
    assert composed_epsilons([law], counts, delta, moments_of(law), -1)[0] == 0


def test_infinite_losses_of_many_steps_add_up_to_the_chance_of_any() -> None:
    """A law that is 0 or infinite has delta = 1 - (1 - p)^T at every epsilon."""
    leak, steps = 1e-3, 2000
    law = LossLaw(0.0, 0.1, np.array([1 - leak]), leak)
    chance = 1 - (1 - leak) ** steps
    counts = np.array([[steps]])
    assert (
        composed_epsilons([law], counts, np.array([chance * (1 + 1e-4)]), moments_of(law), +1)[0]
        < 1e-3
    )
    assert (
        composed_epsilons([law], counts, np.array([chance * (1 - 1e-4)]), moments_of(law), +1)[0]
        == np.inf
    )


LOUD_AND_QUIET = Mechanism((Release(0.05, 1.0, 20), Release(0.05, 3.0, 20)))


def test_bounds_of_merged_levels_are_those_of_the_loudest_above_and_of_the_quietest_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps, delta = np.array([40]), np.array([1e-4])
    exact, loud, quiet = (
        epsilon_bounds(each, steps, delta)
        for each in (
            LOUD_AND_QUIET,
            Mechanism.constant(0.05, 1.0, 40),
            Mechanism.constant(0.05, 3.0, 40),
        )
    )
    monkeypatch.setattr(lattice, "LEVELS", 1)
    found = epsilon_bounds(LOUD_AND_QUIET, steps, delta)
    np.testing.assert_allclose(found.upper, loud.upper, rtol=0.01)
    np.testing.assert_allclose(found.lower, quiet.lower, rtol=0.01)
    assert found.lower[0] < exact.lower[0] < exact.upper[0] < found.upper[0]


def test_curves_of_merged_levels_are_those_of_the_loudest_below_and_of_the_quietest_above(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alpha = np.linspace(0.01, 0.5, 9)
    loud, quiet = (tradeoff_bounds(Mechanism.constant(0.05, sigma, 40)) for sigma in (1.0, 3.0))
    monkeypatch.setattr(lattice, "LEVELS", 1)
    found = tradeoff_bounds(LOUD_AND_QUIET)
    np.testing.assert_allclose(found.lower.beta(alpha), loud.lower.beta(alpha), atol=2e-3)
    np.testing.assert_allclose(found.upper.beta(alpha), quiet.upper.beta(alpha), atol=2e-3)
    assert np.all(loud.lower.beta(alpha) < quiet.upper.beta(alpha) - 0.005)


def test_kinds_that_differ_in_the_sampling_rate_alone_are_never_merged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lattice, "LEVELS", 1)
    alike = Composition([(0.1, 2.0), (0.2, 2.0), (0.3, 2.0)], np.array([[1, 2, 3]]))
    for dominating in (True, False):
        kept = merged(alike, dominating)
        assert dict(zip(kept.kinds, kept.counts[0], strict=True)) == dict(
            zip(alike.kinds, (1, 2, 3), strict=True)
        )
