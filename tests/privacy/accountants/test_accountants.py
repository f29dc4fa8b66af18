"""The conformance suite: what every registered accountant must do, on hostile mechanisms and at the
edges of input.
"""

import itertools
import math
import pickle
from functools import cache

import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve, Kind, mma
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.mechanism import Mechanism, Release
from tests.reference import log_moment, mu_poisson, theorem_3

QS, SIGMAS, TOTALS = (1e-4, 0.01, 0.5, 1.0), (0.3, 1.0, 4.0, 50.0), (1, 100, 10_000)
DELTAS = (1e-10, 1e-5, 0.1)
CONSTANT = [Mechanism.constant(q, sigma, steps) for q in QS for sigma in SIGMAS for steps in TOTALS]
SCHEDULED = [
    Mechanism((Release(q, 4.0, 30), Release(q, sigma, 50), Release(q, 2 * sigma, 20)))
    for q in QS
    for sigma in SIGMAS
]
SLACK = 1e-9  # relative: rounding

everyone = pytest.mark.parametrize("name", ACCOUNTANTS)


@cache
def curve_of(name: str, mechanism: Mechanism, delta: float = 1e-5) -> Curve:
    return ACCOUNTANTS[name].curve(mechanism, horizons(mechanism), delta)


def horizons(mechanism: Mechanism) -> np.ndarray:
    return np.unique(np.ceil(np.linspace(0, mechanism.steps, 6)).astype(np.int64))


@everyone
def test_a_curve_begins_at_0_never_falls_has_a_lower_bound_if_certified_and_says_why_it_is_infinite(
    name: str,
) -> None:
    for mechanism in [*CONSTANT, *SCHEDULED, Mechanism.constant(0.5, 0.01, 10)]:
        curve = curve_of(name, mechanism)
        assert curve.epsilon.shape == curve.steps.shape == curve.delta.shape
        assert not np.isnan(curve.epsilon).any(), mechanism
        assert curve.epsilon[0] == 0, mechanism
        assert np.all(curve.epsilon[1:] >= curve.epsilon[:-1] * (1 - SLACK)), mechanism
        assert curve.note or np.all(np.isfinite(curve.epsilon)), mechanism
        assert (curve.lower is not None) == (curve.kind is Kind.CERTIFIED), mechanism
        if curve.lower is not None:
            assert np.all(
                (curve.lower >= 0) & (curve.lower <= curve.epsilon) & np.isfinite(curve.lower)
            ), mechanism


@everyone
def test_epsilon_does_not_rise_with_sigma(name: str) -> None:
    for q in QS:
        for steps in TOTALS:
            last = np.array(
                [
                    curve_of(name, Mechanism.constant(q, sigma, steps)).epsilon[-1]
                    for sigma in SIGMAS
                ]
            )
            there = np.isfinite(last) | (name != "zcdp")  # its form ceases to exist at q sigma = 1
            last = last[there]
            assert np.all(last[1:] <= last[:-1] * (1 + SLACK) + 1e-12), (q, steps, last)


def test_epsilon_does_not_rise_with_delta() -> None:
    # MMA's claim does.
    for name in [name for name, each in ACCOUNTANTS.items() if each.kind is not Kind.CLAIMED]:
        for mechanism in CONSTANT[1::5] + SCHEDULED[::3]:
            epsilons = [curve_of(name, mechanism, delta).epsilon for delta in DELTAS]
            for smaller, larger in itertools.pairwise(epsilons):
                assert np.all(larger <= smaller * (1 + SLACK)), (name, mechanism)


@everyone
def test_a_schedule_costs_the_same_in_any_split_and_order(name: str) -> None:
    for q, sigma in ((0.01, 1.0), (0.5, 4.0), (1.0, 4.0), (1e-4, 0.3)):
        whole = curve_of(name, Mechanism.constant(q, sigma, 100)).epsilon
        split = Mechanism((Release(q, sigma, 37), Release(q, sigma, 1), Release(q, sigma, 62)))
        np.testing.assert_allclose(curve_of(name, split).epsilon, whole, rtol=1e-9)
    forth = Mechanism((Release(0.01, 1.0, 40), Release(0.02, 3.0, 60)))
    back = Mechanism(tuple(reversed(forth.releases)))
    assert curve_of(name, forth).epsilon[-1] == pytest.approx(
        curve_of(name, back).epsilon[-1], rel=1e-9
    )


@everyone
def test_a_subset_of_steps_gives_the_same_values(name: str) -> None:
    for mechanism in CONSTANT[1::7] + SCHEDULED[::5]:
        whole = curve_of(name, mechanism)
        for point in (len(whole.steps) - 1, len(whole.steps) // 2):
            alone = ACCOUNTANTS[name].curve(mechanism, int(whole.steps[point]), 1e-5)
            assert alone.epsilon.shape == (1,)
            # A band may be cut on another lattice, but both hold the exact value.
            if whole.kind is Kind.CERTIFIED:
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


def test_no_proven_lower_bound_lies_above_an_upper_bound() -> None:
    for name in [name for name, each in ACCOUNTANTS.items() if each.kind is Kind.UPPER]:
        for mechanism in CONSTANT + SCHEDULED:
            curve, certified = curve_of(name, mechanism), curve_of("pld", mechanism)
            if curve.kind is Kind.UPPER:
                assert np.all(certified.lower <= curve.epsilon * (1 + SLACK)), (name, mechanism)


@everyone
def test_inputs_stay_the_caller_s_outputs_are_read_only_and_it_can_be_pickled(name: str) -> None:
    steps = np.array([10, 50, 100])
    curve = ACCOUNTANTS[name].curve(Mechanism.constant(0.01, 1.0, 100), steps, 1e-5)
    assert steps.tolist() == [10, 50, 100]
    assert steps.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        curve.epsilon[0] = 0.0
    deltas, whole = np.array([1e-6, 1e-5]), Mechanism.constant(0.01, 1.0, 100)
    profile = ACCOUNTANTS[name].profile(whole, deltas)
    deltas[0] = 0.5
    assert profile.delta.tolist() == [1e-6, 1e-5]
    mechanism = Mechanism.constant(0.01, 1.0, 100)
    copy = pickle.loads(pickle.dumps((ACCOUNTANTS[name], mechanism)))
    again = copy[0].curve(copy[1], 100, 1e-5)
    assert again.epsilon[0] == ACCOUNTANTS[name].curve(mechanism, 100, 1e-5).epsilon[0]


@everyone
def test_bad_input_is_named(name: str) -> None:
    for steps, delta, named in [
        ([5, 101], 1e-5, "steps"),
        ([-1, 5], 1e-5, "steps"),
        ([5, 4], 1e-5, "steps"),
        ([1.5], 1e-5, "steps"),
        ([], 1e-5, "steps"),
        ([5], 0.0, "delta"),
        ([5], 1.0, "delta"),
        ([5], float("nan"), "delta"),
    ]:
        with pytest.raises(ValueError, match=f"Expected {named}="):
            ACCOUNTANTS[name].curve(Mechanism.constant(0.01, 1.0, 100), steps, delta)
    for steps in [[[1, 2], [3, 4]], [[5]], [1, 2.5], [2.5, 3]]:
        with pytest.raises(ValueError, match="Expected steps="):
            ACCOUNTANTS[name].curve(PLAIN, steps, 1e-5)
    for deltas in ([1e-5, 1.5], [0.0, 1e-5], [1e-5, -1.0, 1e-3]):
        with pytest.raises(ValueError, match="Expected delta="):
            ACCOUNTANTS[name].profile(PLAIN, deltas)


@everyone
def test_it_says_what_it_is_and_is_it_where_its_conditions_hold(name: str) -> None:
    accountant = ACCOUNTANTS[name]
    assert accountant.name == name
    assert "arXiv" in accountant.source
    assert accountant.caveat or accountant.kind is Kind.CERTIFIED
    assert [each.title for each in ACCOUNTANTS.values()].count(accountant.title) == 1
    assert curve_of(name, Mechanism.constant(0.01, 4.0, 10_000)).kind is ACCOUNTANTS[name].kind
    assert ACCOUNTANTS[name].hopeless(PLAIN) is False


PLAIN = Mechanism.constant(0.01, 2.0, 1000)


@everyone
def test_a_horizon_may_be_asked_for_twice_and_the_last_reading_is_that_of_the_last(
    name: str,
) -> None:
    epsilon = ACCOUNTANTS[name].curve(PLAIN, [10, 10, 1000, 1000], 1e-5).epsilon
    assert epsilon[0] == epsilon[1]
    assert epsilon[2] == epsilon[3]
    curve = ACCOUNTANTS[name].curve(PLAIN, [10, 1000], 1e-5)
    last = curve.last
    assert last.value == curve.epsilon[1] > curve.epsilon[0]
    assert last.lower == (None if curve.lower is None else curve.lower[1])


@everyone
def test_a_release_that_no_horizon_reaches_costs_nothing(name: str) -> None:
    """Not even one whose cost is infinite: the second release tells all, the first 100 steps do not
    use it.
    """
    loud = Mechanism((Release(0.01, 2.0, 100), Release(0.01, 0.03, 10)))
    curve = ACCOUNTANTS[name].curve(loud, [100, 110], 1e-5)
    before, after = curve.epsilon
    # Its law of one step does not exist there, and it promises nothing for the whole.
    if name != "pld":
        assert before == pytest.approx(
            ACCOUNTANTS[name].curve(Mechanism.constant(0.01, 2.0, 100), 100, 1e-5).epsilon[0]
        )
    assert after >= before
    assert after > 100 or name == "mma"
    assert curve.note or np.isfinite(after)


def test_the_central_limit_s_mu_is_finite_as_long_as_its_exponential_is_a_number() -> None:
    gdp = ACCOUNTANTS["gdp"]
    for sigma in (0.05, 0.042):
        short = Mechanism.constant(0.01, sigma, 10)
        assert mu_of(short) == pytest.approx(mu_poisson(0.01, sigma, 10), rel=1e-12)
        assert gdp.own_tradeoff(short).lower is not None
    for sigma in (0.036, 0.03):
        mechanism = Mechanism((Release(0.01, 4.0, 10), Release(0.01, sigma, 10)))
        assert mu_of(mechanism) == gdp.curve(mechanism, 20, 1e-5).epsilon[0] == math.inf
        curve = gdp.own_tradeoff(mechanism)
        assert curve.lower is None
        assert f"sigma={sigma:g}" in curve.note


def test_the_note_of_a_claim_speaks_of_the_last_point() -> None:
    falling = Mechanism((Release(0.01, 2.0, 5000), Release(0.01, 0.5, 100)))
    claim = ACCOUNTANTS["mma"]
    assert claim.curve(falling, [0, 5000], 1e-5).note == ""
    assert "sigma >= 1" in claim.curve(falling, [0, 5100], 1e-5).note
    assert "sigma >= 1" in claim.curve(falling, [5000, 5100], 1e-5).note
    assert claim.curve(falling, [0], 1e-5).note == ""
    meets, breaks = 1e-5, 1e-12  # lambda rises with ln(1/delta), past what q allows
    few = Mechanism.constant(0.01, 2.0, 5)
    assert claim.profile(few, [breaks, meets]).note == ""
    assert "lambda" in claim.profile(few, [meets, breaks]).note


def test_the_claim_s_conditions_are_judged_at_their_boundary_by_the_extreme_releases() -> None:
    failing = mma.failing_conditions(Mechanism.constant(0.01, 1.0, 5000), 5000, 1e-5)
    assert not any(text.startswith("sigma") for text in failing)
    assert mma.failing_conditions(Mechanism.constant(1e-100, 1.0, 10), 10, 1e-5) == ()
    for q, sigma, product in ((0.0625, 16.0, 1), (0.5, 4.0, 2)):  # 1 itself is not below 1
        broken = mma.failing_conditions(Mechanism.constant(q, sigma, 100), 100, 1e-5)
        assert f"q < 1/sigma (here q sigma = {product})" in broken
    mixed = Mechanism((Release(0.3, 8.0, 10), Release(0.01, 1.5, 10)))
    failing = mma.failing_conditions(mixed, 20, 1e-5)
    assert "q < 1/sigma (here q sigma = 2.4)" in failing
    assert any(
        text.startswith("lambda") and text.endswith(f"> {0.1 / 0.3**2:.3g})") for text in failing
    )
    for steps, delta, named in [(0, 1e-5, "steps"), (11, 1e-5, "steps"), (5, 1.5, "delta")]:
        with pytest.raises(ValueError, match=f"Expected {named}="):
            mma.failing_conditions(Mechanism.constant(0.01, 2.0, 10), steps, delta)


def test_conditions_compare_the_theorem_s_own_lambda_and_epsilon() -> None:
    for q, sigma, steps in [(0.01, 2.0, 1), (0.2, 6.0, 100), (0.01, 2.0, 300), (0.02, 3.0, 77)]:
        delta = 1e-5
        epsilon = theorem_3(q, sigma, steps, delta)
        order = -2 * math.log(delta) / epsilon
        broken = {"lambda": order > 1 / (10 * q * q), "epsilon": epsilon <= 0.002 * steps / order}
        failing = mma.failing_conditions(Mechanism.constant(q, sigma, steps), steps, delta)
        for start, expected in broken.items():
            assert any(text.startswith(start) for text in failing) == expected, (start, failing)
        if broken["lambda"]:
            assert f"lambda <= 1/(10 q^2) (here {order:.3g} > {0.1 / q**2:.3g})" in failing, (
                q,
                sigma,
                steps,
            )


def test_concentrated_dp_is_confirmed_by_the_used_releases_at_orders_that_a_table_holds() -> None:
    # sigma 2000 and q 1e-4 let the order be 6 million; log-moments are tabulated up to one million.
    curve = ACCOUNTANTS["zcdp"].curve(Mechanism.constant(1e-4, 2000.0, 1), 1, 0.1)
    assert np.isfinite(curve.epsilon[0])
    assert curve.kind is Kind.CLAIMED
    # The second has no sampling form.
    mixed = Mechanism((Release(0.01, 4.0, 500), Release(0.5, 4.0, 10)))
    curve = ACCOUNTANTS["zcdp"].curve(mixed, [0, 500, 510], 1e-5)
    assert curve.epsilon[0] == 0
    assert np.isfinite(curve.epsilon[1])
    assert curve.epsilon[2] == math.inf
    assert curve.kind is Kind.UPPER, "an infinite epsilon is true, and the finite one was confirmed"
    assert "does not exist" in curve.note
    assert "not confirmed" not in curve.note
    # At a delta of 0.99 and a billion steps the order is 1.00006, below the first that is
    # tabulated.
    curve = ACCOUNTANTS["zcdp"].curve(Mechanism.constant(0.2, 4.0, 10**9), 10**9, 0.99)
    assert curve.kind is Kind.UPPER


def test_concentrated_dp_is_confirmed_exactly_where_the_step_s_moment_is_below_its_bound() -> None:
    # On either side of the sigma at which the step's bound begins to fail, by 3 %.
    for q, sigma, steps, order in [
        (0.01, 0.934, 25_124, 3),
        (0.01, 0.900, 23_317, 3),
        (0.05, 0.909, 3804, 2),
        (0.05, 0.873, 3513, 2),
        (0.2, 0.881, 223, 2),
        (0.2, 0.845, 205, 2),
    ]:
        assert 1 + math.sqrt(math.log(1e5) / (steps * (q / sigma) ** 2)) == pytest.approx(
            order, rel=2e-3
        )
        holds = log_moment(q, sigma, order) <= order * (order - 1) * (q / sigma) ** 2
        curve = ACCOUNTANTS["zcdp"].curve(Mechanism.constant(q, sigma, steps), steps, 1e-5)
        assert curve.kind is (Kind.UPPER if holds else Kind.CLAIMED), (q, sigma, steps)


def test_concentrated_dp_takes_the_cap_where_it_lies_below_order_2() -> None:
    q, sigma, delta = 0.5, 1.0, 1e-5
    cap = 1 + math.log(1 / (q * sigma)) * sigma**2
    assert 1 < cap < 2
    expected = 3 * (q / sigma) ** 2 * cap + math.log(1 / delta) / (cap - 1)
    assert ACCOUNTANTS["zcdp"].curve(Mechanism.constant(q, sigma, 3), 3, delta).epsilon[
        0
    ] == pytest.approx(expected)


class KnowsLargeDeltas(Accountant):
    """Promises epsilon 1 at every delta of at least a thousandth, and nothing below."""

    kind = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: np.ndarray, delta: np.ndarray) -> Curve:
        return Curve(steps, delta, np.where(delta >= 1e-3, 1.0, np.inf), None, self.kind)


def test_an_accountant_that_promises_something_at_some_deltas_has_a_trade_off_function() -> None:
    curve = KnowsLargeDeltas().tradeoff(PLAIN, 1e-9)
    assert 0 < float(curve.lower.beta(0.1)) <= 1 - math.e * 0.1
    # Its pair at delta = 0.001.
    assert float(curve.lower.beta(0.1)) == pytest.approx(1 - math.e * 0.1, abs=2e-3)
