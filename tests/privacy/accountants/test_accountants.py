"""The conformance suite: what every registered accountant must do, on hostile mechanisms."""

import itertools
import pickle
from functools import cache

import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS, AdditiveAccountant, Curve, Kind
from dpcore.privacy.mechanism import Mechanism, Release

QS, SIGMAS, TOTALS = (1e-4, 0.01, 0.5, 1.0), (0.3, 1.0, 4.0, 50.0), (1, 100, 10_000)
DELTAS = (1e-10, 1e-5, 0.1)
CONSTANT = [Mechanism.constant(q, sigma, steps) for q in QS for sigma in SIGMAS for steps in TOTALS]
SCHEDULED = [
    Mechanism((Release(q, 4.0, 30), Release(q, sigma, 50), Release(q, 2 * sigma, 20))) for q in QS for sigma in SIGMAS
]
SLACK = 1e-9  # relative: rounding

everyone = pytest.mark.parametrize("name", ACCOUNTANTS)


@cache
def curve_of(name: str, mechanism: Mechanism, delta: float = 1e-5) -> Curve:
    return ACCOUNTANTS[name].curve(mechanism, horizons(mechanism), delta)


def horizons(mechanism: Mechanism) -> np.ndarray:
    return np.unique(np.ceil(np.linspace(0, mechanism.steps, 6)).astype(np.int64))


@everyone
def test_epsilon_is_a_number_or_infinity_and_never_negative(name: str) -> None:
    for mechanism in CONSTANT + SCHEDULED:
        curve = curve_of(name, mechanism)
        assert curve.epsilon.shape == curve.steps.shape == curve.delta.shape
        assert not np.isnan(curve.epsilon).any()
        assert np.all(curve.epsilon >= 0)
        assert curve.epsilon[0] == 0, "no steps cost nothing"


@everyone
def test_an_infinite_epsilon_says_why(name: str) -> None:
    for mechanism in [*CONSTANT, *SCHEDULED, Mechanism.constant(0.5, 0.01, 10)]:
        curve = curve_of(name, mechanism)
        if np.isinf(curve.epsilon).any():
            assert curve.note


@everyone
def test_epsilon_does_not_fall_with_steps(name: str) -> None:
    for mechanism in CONSTANT + SCHEDULED:
        epsilon = curve_of(name, mechanism).epsilon
        assert np.all(epsilon[1:] >= epsilon[:-1] * (1 - SLACK)), mechanism


@everyone
def test_epsilon_does_not_rise_with_sigma(name: str) -> None:
    for q in QS:
        for steps in TOTALS:
            last = np.array([curve_of(name, Mechanism.constant(q, sigma, steps)).epsilon[-1] for sigma in SIGMAS])
            there = np.isfinite(last) | (name != "zcdp")  # its form ceases to exist at q sigma = 1
            last = last[there]
            assert np.all(last[1:] <= last[:-1] * (1 + SLACK) + 1e-12), (q, steps, last)


# A claim may break this law, and MMA's does: see test_mma.py.
@pytest.mark.parametrize("name", [name for name, each in ACCOUNTANTS.items() if each.kind is not Kind.CLAIMED])
def test_epsilon_does_not_rise_with_delta(name: str) -> None:
    for mechanism in CONSTANT[1::5] + SCHEDULED[::3]:
        epsilons = [curve_of(name, mechanism, delta).epsilon for delta in DELTAS]
        for smaller, larger in itertools.pairwise(epsilons):
            assert np.all(larger <= smaller * (1 + SLACK)), mechanism


@everyone
def test_a_constant_schedule_costs_the_same_in_any_split(name: str) -> None:
    for q, sigma in ((0.01, 1.0), (0.5, 4.0), (1.0, 4.0), (1e-4, 0.3)):
        whole = curve_of(name, Mechanism.constant(q, sigma, 100)).epsilon
        split = Mechanism((Release(q, sigma, 37), Release(q, sigma, 1), Release(q, sigma, 62)))
        np.testing.assert_allclose(curve_of(name, split).epsilon, whole, rtol=1e-9)


@everyone
def test_the_order_of_the_releases_does_not_matter_at_the_end(name: str) -> None:
    forth = Mechanism((Release(0.01, 1.0, 40), Release(0.02, 3.0, 60)))
    back = Mechanism(tuple(reversed(forth.releases)))
    assert curve_of(name, forth).epsilon[-1] == pytest.approx(curve_of(name, back).epsilon[-1], rel=1e-9)


@everyone
def test_a_subset_of_steps_gives_the_same_values(name: str) -> None:
    for mechanism in CONSTANT[1::7] + SCHEDULED[::5]:
        whole = curve_of(name, mechanism)
        for point in (len(whole.steps) - 1, len(whole.steps) // 2):
            alone = ACCOUNTANTS[name].curve(mechanism, int(whole.steps[point]), 1e-5)
            assert alone.epsilon.shape == (1,)
            if whole.kind is Kind.CERTIFIED:  # a band may be cut on another lattice, but both hold the exact value
                assert alone.lower is not None
                assert whole.lower is not None
                assert alone.lower[0] <= whole.epsilon[point]
                assert whole.lower[point] <= alone.epsilon[0]
            else:
                assert alone.epsilon[0] == pytest.approx(whole.epsilon[point], rel=1e-12)


@everyone
def test_a_profile_ends_where_the_curve_ends(name: str) -> None:
    for mechanism in (CONSTANT[4], CONSTANT[17], SCHEDULED[6]):
        profile = ACCOUNTANTS[name].profile(mechanism, DELTAS)
        ends = [curve_of(name, mechanism, delta).epsilon[-1] for delta in DELTAS]
        tolerance = 0.02 if profile.kind is Kind.CERTIFIED else 1e-9
        np.testing.assert_allclose(profile.epsilon, ends, rtol=tolerance, atol=tolerance / 100)


@everyone
def test_bounds_lie_on_the_right_side_of_the_exact_gaussian(name: str) -> None:
    for sigma in (0.3, 1.0, 4.0, 50.0, 1e4):
        for steps in TOTALS:
            mechanism = Mechanism.constant(1.0, sigma, steps)
            for delta in DELTAS:
                curve = curve_of(name, mechanism, delta)
                exact = gaussian.epsilon_of(delta, np.sqrt(curve.steps) / sigma)
                if curve.kind in (Kind.UPPER, Kind.CERTIFIED):
                    assert np.all(curve.epsilon >= exact * (1 - SLACK) - 1e-12), (mechanism, delta)
                if curve.lower is not None:
                    assert np.all(curve.lower <= exact * (1 + SLACK) + 1e-12), (mechanism, delta)


@pytest.mark.parametrize("name", [name for name, each in ACCOUNTANTS.items() if each.kind is Kind.UPPER])
def test_no_proven_lower_bound_lies_above_an_upper_bound(name: str) -> None:
    for mechanism in CONSTANT + SCHEDULED:
        curve, certified = curve_of(name, mechanism), curve_of("pld", mechanism)
        assert certified.lower is not None
        if curve.kind is Kind.UPPER:
            assert np.all(certified.lower <= curve.epsilon * (1 + SLACK)), mechanism


@everyone
def test_a_certified_curve_holds_a_lower_bound_and_no_other_does(name: str) -> None:
    for mechanism in CONSTANT[::6] + SCHEDULED[::4]:
        curve = curve_of(name, mechanism)
        assert (curve.lower is not None) == (curve.kind is Kind.CERTIFIED)
        if curve.lower is not None:
            assert np.all((curve.lower >= 0) & (curve.lower <= curve.epsilon))
            assert np.all(np.isfinite(curve.lower))


@everyone
def test_inputs_are_not_changed_and_outputs_cannot_be(name: str) -> None:
    steps = np.array([10, 50, 100])
    curve = ACCOUNTANTS[name].curve(Mechanism.constant(0.01, 1.0, 100), steps, 1e-5)
    assert steps.tolist() == [10, 50, 100]
    assert steps.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        curve.epsilon[0] = 0.0


@everyone
def test_the_deltas_of_a_profile_stay_the_caller_s(name: str) -> None:
    deltas, whole = np.array([1e-6, 1e-5]), Mechanism.constant(0.01, 1.0, 100)
    profile = ACCOUNTANTS[name].profile(whole, deltas)
    deltas[0] = 0.5
    assert profile.delta.tolist() == [1e-6, 1e-5]


@everyone
@pytest.mark.parametrize(
    ("steps", "delta", "named"),
    [
        ([5, 101], 1e-5, "steps"),
        ([-1, 5], 1e-5, "steps"),
        ([5, 4], 1e-5, "steps"),
        ([1.5], 1e-5, "steps"),
        ([], 1e-5, "steps"),
        ([5], 0.0, "delta"),
        ([5], 1.0, "delta"),
        ([5], float("nan"), "delta"),
    ],
)
def test_bad_input_is_named(name: str, steps: list[float], delta: float, named: str) -> None:
    with pytest.raises(ValueError, match=f"Expected {named}="):
        ACCOUNTANTS[name].curve(Mechanism.constant(0.01, 1.0, 100), steps, delta)


@everyone
def test_it_says_where_it_comes_from_and_what_to_know(name: str) -> None:
    accountant = ACCOUNTANTS[name]
    assert accountant.name == name
    assert "arXiv" in accountant.source
    assert accountant.caveat.endswith(".") or accountant.kind is Kind.CERTIFIED
    assert accountant.note.endswith(".")
    assert accountant.note.count(". ") == 0


def test_each_has_one_name() -> None:
    titles = {name: accountant.title for name, accountant in ACCOUNTANTS.items()}
    assert len(set(titles.values())) == len(titles)
    assert titles["naive"] == "Basic composition"
    assert titles["strong"] == "Advanced composition"
    assert titles["gdp"] == "Gaussian DP (CLT)"


@everyone
@pytest.mark.parametrize("sigma", [0.01, 4.0, 300.0])
def test_its_note_is_the_bare_reason(name: str, sigma: float) -> None:
    note = curve_of(name, Mechanism.constant(0.01, sigma, 100)).note
    assert not note.lower().startswith(("n/a", "infinite", "because"))
    assert not note or note.endswith(".")


@everyone
def test_it_survives_a_trip_to_another_process(name: str) -> None:
    mechanism = Mechanism.constant(0.01, 1.0, 100)
    copy = pickle.loads(pickle.dumps((ACCOUNTANTS[name], mechanism)))
    again = copy[0].curve(copy[1], 100, 1e-5)
    assert again.epsilon[0] == ACCOUNTANTS[name].curve(mechanism, 100, 1e-5).epsilon[0]


@everyone
def test_the_documented_kind_is_the_kind_where_conditions_hold(name: str) -> None:
    assert curve_of(name, Mechanism.constant(0.01, 4.0, 10_000)).kind is ACCOUNTANTS[name].kind


@pytest.mark.parametrize("name", [name for name, each in ACCOUNTANTS.items() if isinstance(each, AdditiveAccountant)])
def test_an_additive_cost_is_one_vector_that_does_not_rise_with_sigma(name: str) -> None:
    accountant = ACCOUNTANTS[name]
    assert isinstance(accountant, AdditiveAccountant)
    low, high = accountant.cost(0.01, 1.0), accountant.cost(0.01, 2.0)
    assert low.shape == high.shape
    both = np.isfinite(low) & np.isfinite(high)
    assert both.any()
    assert np.all(high[both] <= low[both])


def test_mechanisms_are_cache_keys() -> None:
    for mechanism in SCHEDULED:
        copy = Mechanism(tuple(Release(each.q, each.sigma, each.count) for each in mechanism.releases))
        assert copy == mechanism
        assert hash(copy) == hash(mechanism)
