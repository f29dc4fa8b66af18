"""Basic and advanced composition against their theorems, worked out at fifty digits from the Gaussian's definition."""

import math

import mpmath
import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.naive import amplified, per_use
from dpcore.privacy.accountants.strong import composed
from dpcore.privacy.mechanism import Mechanism, Release


def one_use(q: float, sigma: float, delta: float) -> float:
    """ln(1 + q (e^e0 - 1)) with e0 the Gaussian's exact epsilon at delta / q, by bisection."""
    with mpmath.workdps(50):
        low, high, mu = mpmath.mpf(0), mpmath.mpf(1000), 1 / mpmath.mpf(sigma)
        for _ in range(60):
            middle = (low + high) / 2
            spent = mpmath.ncdf(mu / 2 - middle / mu) - mpmath.exp(middle) * mpmath.ncdf(-mu / 2 - middle / mu)
            low, high = (middle, high) if spent > mpmath.mpf(delta) / q else (low, middle)
        return float(mpmath.log(1 + q * (mpmath.exp(high) - 1)))


def advanced(each: list[tuple[float, int]], slack: float) -> float:
    """Theorem 3.5 of arXiv 1311.0776 for pairs (epsilon, uses), with all three of its terms."""
    plain = sum(uses * e for e, uses in each)
    drift = sum(uses * e * (math.exp(e) - 1) / (math.exp(e) + 1) for e, uses in each)
    squares = sum(uses * e * e for e, uses in each)
    logs = math.log(1 / slack), math.log(math.e + math.sqrt(squares) / slack)
    return min([plain, *(drift + math.sqrt(2 * squares * log) for log in logs)])


RELEASES = (Release(0.01, 4.0, 400), Release(0.02, 3.0, 100))


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_advanced_composition_spends_half_of_delta_on_the_steps_and_half_on_the_deviation(delta: float) -> None:
    steps = 500
    each = [(one_use(r.q, r.sigma, delta / (2 * steps)), r.count) for r in RELEASES]
    curve = ACCOUNTANTS["strong"].curve(Mechanism(RELEASES), steps, delta)
    assert curve.epsilon[0] == pytest.approx(advanced(each, delta / 2), rel=1e-9)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_basic_composition_spends_an_equal_share_of_delta_on_every_step(delta: float) -> None:
    steps = 500
    theorem = sum(r.count * one_use(r.q, r.sigma, delta / steps) for r in RELEASES)
    assert ACCOUNTANTS["naive"].curve(Mechanism(RELEASES), steps, delta).epsilon[0] == pytest.approx(theorem, rel=1e-9)


@pytest.mark.parametrize(
    ("each", "slack"),
    [
        ([(0.01, 3000)], 1e-4),  # sum of squares 0.3: the second logarithm is the smaller one
        ([(0.02, 500), (0.004, 9000)], 1e-2),
        ([(0.5, 40)], 1e-6),  # sum of squares 10: the first is
        ([(2.0, 3)], 1e-9),  # the plain sum is the least
    ],
)
def test_composition_is_the_least_of_the_theorem_s_terms(each: list[tuple[float, int]], slack: float) -> None:
    epsilons, uses = (np.array([column], dtype=float) for column in zip(*each, strict=True))
    assert composed(epsilons, uses, np.array([slack]))[0] == pytest.approx(advanced(each, slack), rel=1e-12)


@pytest.mark.parametrize("q", [1e-6, 0.01, 0.7])
@pytest.mark.parametrize("epsilon", [1e-7, 0.3, 5.0, 29.0, 30.0, 31.0, 40.0, 500.0])
def test_amplification_follows_its_formula_on_both_sides_of_the_switch(q: float, epsilon: float) -> None:
    with mpmath.workdps(300):
        exact = float(mpmath.log(1 + mpmath.mpf(q) * (mpmath.exp(mpmath.mpf(epsilon)) - 1)))
    assert float(amplified(np.array(epsilon), np.array(q))) == pytest.approx(exact, rel=1e-12, abs=0)


def test_a_step_that_may_be_missed_with_more_than_delta_costs_nothing() -> None:
    """A record is in a batch with chance q: at delta >= q nothing is left to spend."""
    mechanism = Mechanism.constant(1e-4, 1.0, 1)
    assert per_use(mechanism, np.array([2e-4]))[0, 0] == 0
    assert per_use(mechanism, np.array([1e-4]))[0, 0] < 1e-9


def test_one_step_alone_spends_the_first_half_of_delta_or_all_of_it() -> None:
    mechanism = Mechanism.constant(0.02, 3.0, 1)
    strong, naive = (ACCOUNTANTS[name].curve(mechanism, 1, 1e-4).epsilon[0] for name in ("strong", "naive"))
    assert strong == pytest.approx(one_use(0.02, 3.0, 5e-5), rel=1e-9)
    assert naive == pytest.approx(one_use(0.02, 3.0, 1e-4), rel=1e-9)


@pytest.mark.parametrize("delta", [0.006, 0.008, 0.0099])
def test_a_share_of_delta_near_the_sampling_rate_still_buys_a_smaller_epsilon(delta: float) -> None:
    mechanism = Mechanism.constant(0.01, 0.2, 1)
    assert per_use(mechanism, np.array([delta]))[0, 0] == pytest.approx(one_use(0.01, 0.2, delta), rel=1e-9, abs=1e-12)


def test_amplification_by_a_tiny_rate_leaves_a_tiny_epsilon() -> None:
    with mpmath.workdps(60):
        exact = float(mpmath.log(1 + mpmath.mpf(1e-20) * (mpmath.exp(31) - 1)))
    assert exact < 1e-6
    assert float(amplified(np.array(31.0), np.array(1e-20))) == pytest.approx(exact, rel=1e-6, abs=0)
