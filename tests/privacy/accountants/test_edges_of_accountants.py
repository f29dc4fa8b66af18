"""What accountants do at the edges of their input: repeated horizons, unused releases, numbers next to overflow."""

import math

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve, Kind, mma
from dpcore.privacy.mechanism import Mechanism, Release
from tests.reference import log_moment, mu_poisson, theorem_3

PLAIN = Mechanism.constant(0.01, 2.0, 1000)
everyone = pytest.mark.parametrize("name", ACCOUNTANTS)


@everyone
def test_a_horizon_may_be_asked_for_twice(name: str) -> None:
    epsilon = ACCOUNTANTS[name].curve(PLAIN, [10, 10, 1000, 1000], 1e-5).epsilon
    assert epsilon[0] == epsilon[1]
    assert epsilon[2] == epsilon[3]


@everyone
@pytest.mark.parametrize("steps", [[[1, 2], [3, 4]], [[5]], [1, 2.5], [2.5, 3]])
def test_horizons_are_whole_numbers_in_one_dimension(name: str, steps: list) -> None:
    with pytest.raises(ValueError, match="Expected steps="):
        ACCOUNTANTS[name].curve(PLAIN, steps, 1e-5)


@everyone
def test_a_wrong_delta_among_right_ones_is_named(name: str) -> None:
    for deltas in ([1e-5, 1.5], [0.0, 1e-5], [1e-5, -1.0, 1e-3]):
        with pytest.raises(ValueError, match="Expected delta="):
            ACCOUNTANTS[name].profile(PLAIN, deltas)


@everyone
def test_a_release_that_no_horizon_reaches_costs_nothing(name: str) -> None:
    """Not even one whose cost is infinite: the second release tells all, the first 100 steps do not use it."""
    loud = Mechanism((Release(0.01, 2.0, 100), Release(0.01, 0.03, 10)))
    curve = ACCOUNTANTS[name].curve(loud, [100, 110], 1e-5)
    before, after = curve.epsilon
    if name != "pld":  # its law of one step does not exist there, and it promises nothing for the whole
        assert before == pytest.approx(
            ACCOUNTANTS[name].curve(Mechanism.constant(0.01, 2.0, 100), 100, 1e-5).epsilon[0]
        )
    assert after >= before
    assert after > 100 or name == "mma"
    assert curve.note or np.isfinite(after)


@pytest.mark.parametrize("sigma", [0.05, 0.042])
def test_the_central_limit_s_mu_is_finite_as_long_as_its_exponential_is_a_number(sigma: float) -> None:
    gdp = ACCOUNTANTS["gdp"]
    assert gdp.closed_mu(Mechanism.constant(0.01, sigma, 10)) == pytest.approx(mu_poisson(0.01, sigma, 10), rel=1e-12)
    assert gdp.own_tradeoff(Mechanism.constant(0.01, sigma, 10)).lower is not None


@pytest.mark.parametrize("sigma", [0.036, 0.03])
def test_the_central_limit_s_mu_is_infinite_where_its_exponential_is_not(sigma: float) -> None:
    gdp, mechanism = ACCOUNTANTS["gdp"], Mechanism((Release(0.01, 4.0, 10), Release(0.01, sigma, 10)))
    assert gdp.closed_mu(mechanism) == math.inf
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


@pytest.mark.parametrize(
    ("release", "condition"),
    [
        (Release(0.0625, 16.0, 100), "q < 1/sigma (here q sigma = 1)"),  # 1 itself is not below 1
        (Release(0.5, 4.0, 100), "q < 1/sigma (here q sigma = 2)"),
    ],
)
def test_a_condition_is_broken_at_its_boundary(release: Release, condition: str) -> None:
    assert condition in mma.failing_conditions(Mechanism((release,)), release.count, 1e-5)


def test_sigma_1_meets_the_condition_that_sigma_be_at_least_1() -> None:
    failing = mma.failing_conditions(Mechanism.constant(0.01, 1.0, 5000), 5000, 1e-5)
    assert not any(text.startswith("sigma") for text in failing)


def test_the_claim_s_conditions_can_be_judged_at_the_smallest_q() -> None:
    assert mma.failing_conditions(Mechanism.constant(1e-100, 1.0, 10), 10, 1e-5) == ()


@pytest.mark.parametrize(("q", "sigma", "steps"), [(0.01, 2.0, 1), (0.2, 6.0, 100), (0.01, 2.0, 300), (0.02, 3.0, 77)])
def test_conditions_compare_the_theorem_s_own_lambda_and_epsilon(q: float, sigma: float, steps: int) -> None:
    delta = 1e-5
    epsilon = theorem_3(q, sigma, steps, delta)
    order = -2 * math.log(delta) / epsilon
    broken = {
        "lambda": order > 1 / (10 * q * q),
        "epsilon": epsilon <= 0.002 * steps / order,
    }
    failing = mma.failing_conditions(Mechanism.constant(q, sigma, steps), steps, delta)
    for start, expected in broken.items():
        assert any(text.startswith(start) for text in failing) == expected, (start, failing)
    if broken["lambda"]:
        assert f"lambda <= 1/(10 q^2) (here {order:.3g} > {0.1 / q**2:.3g})" in failing


def test_concentrated_dp_confirms_nothing_at_orders_that_no_table_holds() -> None:
    """sigma 2000 and q 1e-4 let the order be 6 million; log-moments are tabulated up to one million."""
    curve = ACCOUNTANTS["zcdp"].curve(Mechanism.constant(1e-4, 2000.0, 1), 1, 0.1)
    assert np.isfinite(curve.epsilon[0])
    assert curve.kind is Kind.CLAIMED


def test_concentrated_dp_judges_only_the_releases_that_are_used() -> None:
    mixed = Mechanism((Release(0.01, 4.0, 500), Release(0.5, 4.0, 10)))  # the second has no sampling form
    curve = ACCOUNTANTS["zcdp"].curve(mixed, [0, 500, 510], 1e-5)
    assert curve.epsilon[0] == 0
    assert np.isfinite(curve.epsilon[1])
    assert curve.epsilon[2] == math.inf
    assert curve.kind is Kind.UPPER, "an infinite epsilon is true, and the finite one was confirmed"
    assert "does not exist" in curve.note
    assert "not confirmed" not in curve.note


@pytest.mark.parametrize(
    ("q", "sigma", "steps", "order"),
    [  # on either side of the sigma at which the step's bound begins to fail, by 3 %
        (0.01, 0.934, 25_124, 3),
        (0.01, 0.900, 23_317, 3),
        (0.05, 0.909, 3804, 2),
        (0.05, 0.873, 3513, 2),
        (0.2, 0.881, 223, 2),
        (0.2, 0.845, 205, 2),
    ],
)
def test_concentrated_dp_is_confirmed_exactly_where_the_step_s_moment_is_below_its_bound(
    q: float, sigma: float, steps: int, order: int
) -> None:
    assert 1 + math.sqrt(math.log(1e5) / (steps * (q / sigma) ** 2)) == pytest.approx(order, rel=2e-3)
    holds = log_moment(q, sigma, order) <= order * (order - 1) * (q / sigma) ** 2
    curve = ACCOUNTANTS["zcdp"].curve(Mechanism.constant(q, sigma, steps), steps, 1e-5)
    assert curve.kind is (Kind.UPPER if holds else Kind.CLAIMED)


def test_concentrated_dp_is_confirmed_at_orders_next_to_1() -> None:
    """At a delta of 0.99 and a billion steps the order is 1.00006, below the first that is tabulated."""
    curve = ACCOUNTANTS["zcdp"].curve(Mechanism.constant(0.2, 4.0, 10**9), 10**9, 0.99)
    assert curve.kind is Kind.UPPER


def test_conditions_are_judged_by_the_loudest_and_by_the_widest_release() -> None:
    mixed = Mechanism((Release(0.3, 8.0, 10), Release(0.01, 1.5, 10)))
    failing = mma.failing_conditions(mixed, 20, 1e-5)
    assert "q < 1/sigma (here q sigma = 2.4)" in failing
    assert any(text.startswith("lambda") and text.endswith(f"> {0.1 / 0.3**2:.3g})") for text in failing)


@pytest.mark.parametrize(("steps", "delta", "named"), [(0, 1e-5, "steps"), (11, 1e-5, "steps"), (5, 1.5, "delta")])
def test_conditions_refuse_what_no_curve_would_hold(steps: int, delta: float, named: str) -> None:
    with pytest.raises(ValueError, match=f"Expected {named}="):
        mma.failing_conditions(Mechanism.constant(0.01, 2.0, 10), steps, delta)


@everyone
def test_the_last_reading_is_that_of_the_last_point(name: str) -> None:
    curve = ACCOUNTANTS[name].curve(PLAIN, [10, 1000], 1e-5)
    last = curve.last
    assert last.value == curve.epsilon[1] > curve.epsilon[0]
    assert last.lower == (None if curve.lower is None else curve.lower[1])


def test_concentrated_dp_takes_the_cap_where_it_lies_below_order_2() -> None:
    q, sigma, delta = 0.5, 1.0, 1e-5
    cap = 1 + math.log(1 / (q * sigma)) * sigma**2
    assert 1 < cap < 2
    expected = 3 * (q / sigma) ** 2 * cap + math.log(1 / delta) / (cap - 1)
    assert ACCOUNTANTS["zcdp"].curve(Mechanism.constant(q, sigma, 3), 3, delta).epsilon[0] == pytest.approx(expected)


class KnowsLargeDeltas(Accountant):
    """Promises epsilon 1 at every delta of at least a thousandth, and nothing below."""

    kind = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: np.ndarray, delta: np.ndarray) -> Curve:
        return Curve(steps, delta, np.where(delta >= 1e-3, 1.0, np.inf), None, self.kind)


def test_an_accountant_that_promises_something_at_some_deltas_has_a_trade_off_function() -> None:
    curve = KnowsLargeDeltas().tradeoff(PLAIN, 1e-9)
    assert curve.lower is not None
    assert 0 < float(curve.lower.beta(0.1)) <= 1 - math.e * 0.1
    assert float(curve.lower.beta(0.1)) == pytest.approx(1 - math.e * 0.1, abs=2e-3)  # its pair at delta = 0.001


@everyone
def test_a_plain_mechanism_is_hopeless_for_nobody(name: str) -> None:
    assert ACCOUNTANTS[name].hopeless(PLAIN) is False
