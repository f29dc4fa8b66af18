"""Bounds of epsilon: both directions count, hard regimes stay narrow, and a band that is wide says so."""

from typing import Any

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified import epsilon_bounds, lattice, log_moments, tradeoff_bounds
from dpcore.privacy.certified.lattice import Composition, Lattice, composition_of, lattice_of
from dpcore.privacy.certified.log_moments import LogMoments
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.verdict import verdict
from tests.privacy.accountants.test_random_settings import random_setting

PLD = ACCOUNTANTS["pld"]
RARE = [  # losses that are rare and large: (releases, delta)
    (((1.2214e-5, 0.79292, 17257),), 1.7734e-15),
    (((0.99999, 55.1, 450), (0.0208, 152.7, 9391856), (1.0, 181.7, 17), (1.1e-6, 0.234, 78)), 1e-5),
    (((0.8922146657945755, 0.07216956212517733, 8645979),), 1.40251015036325e-11),
    (((1.34451996547589e-05, 0.935477184323641, 6962311),), 1.0667786025044693e-14),
]


def turned(found: Lattice) -> Lattice:
    """The same lattice with the names of the two neighbours exchanged."""
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
        Composition([(10 * q, sigma) for q, sigma in composition.kinds], composition.counts), delta, mesh
    )
    laws = [each._replace(add=bad.remove) for each, bad in zip(found.laws, worse.laws, strict=True)]
    return found._replace(laws=laws, add=worse.remove)


def test_the_lower_trade_off_curve_is_that_of_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, alpha = Mechanism.constant(0.05, 0.8, 3), np.linspace(0.01, 0.5, 20)
    right = tradeoff_bounds.tradeoff_bounds(mechanism).lower.beta(alpha)
    monkeypatch.setattr(tradeoff_bounds, "lattice_of", with_a_worse_add_direction)
    assert np.all(tradeoff_bounds.tradeoff_bounds(mechanism).lower.beta(alpha) < right - 0.01)


@pytest.mark.parametrize(("releases", "delta"), RARE)
@pytest.mark.long
def test_where_losses_are_rare_and_large_the_band_is_narrow(releases: tuple, delta: float) -> None:
    mechanism = Mechanism(tuple(Release(*each) for each in releases))
    curve = PLD.curve(mechanism, mechanism.steps, delta)
    assert curve.lower is not None
    assert curve.note == ""
    assert 0 < curve.lower[0] <= curve.epsilon[0] <= 1.011 * curve.lower[0]


def test_a_band_that_stays_wide_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "NODES", 2**10)
    mechanism = Mechanism.constant(8.332e-06, 0.4101, 1495)
    curve = PLD.curve(mechanism, [10, mechanism.steps], 8.4e-4)
    assert curve.lower is not None
    assert curve.epsilon[-1] > 1.01 * curve.lower[-1]
    assert curve.note.startswith("The two bounds lie ")
    assert curve.note in verdict(curve, curve).text


def test_a_lattice_that_does_not_fit_is_made_coarser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_moments, "LONGEST", 2**13)
    band = tradeoff_bounds.tradeoff_bounds(Mechanism.constant(0.5, 20.0, 10_000))
    assert band.note == ""
    assert float(band.lower.power(0.05)) >= float(band.upper.power(0.05)) > 0.05


def test_the_width_that_is_told_is_the_largest_at_the_last_horizon() -> None:
    note = epsilon_bounds.width_note(np.array([1.0, 2.0]), np.array([1.005, 2.06]))
    assert note.startswith("The two bounds lie 3 % of the lower one apart")
    assert "lie 460 % of" in epsilon_bounds.width_note(np.array([1.0]), np.array([5.6]))
    assert "lie far apart" in epsilon_bounds.width_note(np.array([1e-3]), np.array([5.6]))
    assert epsilon_bounds.width_note(np.array([1.0, 2.0]), np.array([1.0099, 2.0199])) == ""
    assert epsilon_bounds.width_note(np.array([0.0, 2.0]), np.array([0.5, 2.0])).startswith(
        "The two bounds lie far apart"
    )
    assert epsilon_bounds.width_note(np.array([0.0]), np.array([1e-6])) == ""  # too little to be told
    assert epsilon_bounds.width_note(np.array([0.0, 1.0]), np.array([1.0, np.inf])).startswith("rounding outweighs")


def test_both_directions_are_composed_upwards_and_the_dominated_law_downwards(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, delta, sides = np.array([3]), np.array([1e-2]), []
    composition = composition_of(Mechanism.constant(0.1, 1.0, 3), steps)
    found, real = lattice_of(composition, delta, 0.1), epsilon_bounds.composed_epsilons

    def told(
        losses: list[LossLaw], counts: np.ndarray, delta: np.ndarray, moments: LogMoments, side: int, *rest: object
    ):
        of = {id(found.remove): "remove", id(found.add): "add", id(found.dominated): "dominated"}[id(moments)]
        assert losses == [getattr(each, of) for each in found.laws]
        sides.append((of, side))
        return real(losses, counts, delta, moments, side, *rest)

    monkeypatch.setattr(epsilon_bounds, "composed_epsilons", told)
    epsilon_bounds._bounds_on(found, found, composition, composition, delta)
    assert sides == [("remove", +1), ("add", +1), ("dominated", -1)]


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
    monkeypatch.setattr(epsilon_bounds, "_bounds_on", lambda *_: (np.array([low]), np.array([high])))
    composition = composition_of(Mechanism.constant(0.1, 1.0, 3), np.array([3]))
    lower, upper = epsilon_bounds._refined(composition, np.array([1e-2]))
    assert (lower[0], upper[0]) == expected


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
    monkeypatch.setattr(epsilon_bounds, "_bounds_on", lambda *_: tuple(np.array([each]) for each in next(bounds)))
    composition = composition_of(Mechanism.constant(0.1, 1.0, 3), np.array([3]))
    lower, upper = epsilon_bounds._refined(composition, np.array([1e-2]))
    assert (lower[0], upper[0]) == (1.2, 1.5)


def test_what_is_told_is_of_the_last_horizon_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epsilon_bounds, "_refined", lambda *_: (np.array([1.0, 2.0]), np.array([1.5, 2.0])))
    mechanism, steps, deltas = Mechanism.constant(0.1, 1.0, 5), np.array([1, 5]), np.array([1e-3, 1e-2])
    assert epsilon_bounds.epsilon_bounds(mechanism, steps, deltas).note == ""
    monkeypatch.setattr(epsilon_bounds, "_refined", lambda *_: (np.array([1.0, 2.0]), np.array([1.0, 2.5])))
    assert "25 %" in epsilon_bounds.epsilon_bounds(mechanism, steps, deltas).note


@pytest.mark.parametrize(("sigma", "promised"), [(0.05, True), (0.0499, False)])
def test_nothing_is_promised_below_the_smallest_sigma(sigma: float, promised: bool) -> None:
    found = epsilon_bounds.epsilon_bounds(Mechanism.constant(0.1, sigma, 1), np.array([1]), np.array([0.2]))
    assert np.isfinite(found.upper[0]) == promised
    assert found.lower[0] == 0
    assert (found.note == "") == promised


def test_a_bound_speaks_for_other_horizons_at_its_own_delta_alone() -> None:
    lower, upper = np.array([1.0, 0.5, 2.0]), np.array([1.5, 3.0, 2.5])
    same = epsilon_bounds._monotone(lower, upper, np.full(3, 1e-5))
    np.testing.assert_array_equal(same, [[1.0, 1.0, 2.0], [1.5, 2.5, 2.5]])
    apart = epsilon_bounds._monotone(lower, upper, np.array([1e-9, 1e-2, 1e-5]))
    np.testing.assert_array_equal(apart, [lower, upper])
