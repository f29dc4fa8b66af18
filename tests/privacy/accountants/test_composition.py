"""Basic and advanced composition against their theorems, worked out at fifty digits."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.naive import amplified, per_use
from dpcore.privacy.accountants.strong import composed
from dpcore.privacy.mechanism import Mechanism, Release
from tests.reference import one_step_delta

NAIVE, STRONG = ACCOUNTANTS["naive"], ACCOUNTANTS["strong"]


def test_one_use_covers_the_exact_sampled_gaussian_and_is_exact_without_sampling() -> None:
    for sigma in (0.5, 2.0, 50.0):
        exact = gaussian.epsilon_of(1e-5, 1 / sigma)
        assert NAIVE.curve(Mechanism.constant(1.0, sigma, 1), 1, 1e-5).epsilon[0] == pytest.approx(exact, rel=1e-12)
    for q, sigma in [(0.01, 1.0), (0.3, 4.0), (1e-4, 0.5), (0.9, 2.0)]:
        mechanism = Mechanism.constant(q, sigma, 1)
        for delta in (1e-9, 1e-5):
            epsilon = float(per_use(mechanism, np.array([delta]))[0, 0])
            assert one_step_delta(q, sigma, epsilon) <= delta * (1 + 1e-9), (q, sigma)


def test_amplification_is_the_identity_for_whole_sampling_and_never_raises_epsilon() -> None:
    epsilon = np.array([0.0, 1e-9, 0.5, 29.999, 30.001, 800.0, 1e8])
    np.testing.assert_allclose(amplified(epsilon, np.array(1.0)), epsilon, rtol=1e-12)
    for q in (1e-7, 0.01, 0.9):
        assert np.all(amplified(epsilon, np.array(q)) <= epsilon)
        assert np.all(np.diff(amplified(epsilon, np.array(q))) > 0)


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


def test_advanced_composition_spends_half_of_delta_on_the_steps_and_basic_an_equal_share_on_every_step() -> None:
    steps = 500
    for delta in (1e-3, 1e-6):
        strong, naive = (ACCOUNTANTS[name].curve(Mechanism(RELEASES), steps, delta) for name in ("strong", "naive"))
        halves = [(one_use(r.q, r.sigma, delta / (2 * steps)), r.count) for r in RELEASES]
        assert strong.epsilon[0] == pytest.approx(advanced(halves, delta / 2), rel=1e-9), delta
        theorem = sum(r.count * one_use(r.q, r.sigma, delta / steps) for r in RELEASES)
        assert naive.epsilon[0] == pytest.approx(theorem, rel=1e-9), delta


def test_composition_is_the_least_of_the_theorem_s_terms() -> None:
    for each, slack in [
        ([(0.01, 3000)], 1e-4),  # sum of squares 0.3: the second logarithm is the smaller one
        ([(0.02, 500), (0.004, 9000)], 1e-2),
        ([(0.5, 40)], 1e-6),  # sum of squares 10: the first is
        ([(2.0, 3)], 1e-9),  # the plain sum is the least
        ([(0.7, 1)], 1e-6),
    ]:
        epsilons, uses = (np.array([column], dtype=float) for column in zip(*each, strict=True))
        assert composed(epsilons, uses, np.array([slack]))[0] == pytest.approx(advanced(each, slack), rel=1e-12)


def test_amplification_follows_its_formula_on_both_sides_of_the_switch() -> None:
    for epsilon, q in product([1e-7, 0.3, 5.0, 29.0, 30.0, 31.0, 40.0, 500.0], [1e-6, 0.01, 0.7]):
        with mpmath.workdps(300):
            exact = float(mpmath.log(1 + mpmath.mpf(q) * (mpmath.exp(mpmath.mpf(epsilon)) - 1)))
        assert float(amplified(np.array(epsilon), np.array(q))) == pytest.approx(exact, rel=1e-12, abs=0), (epsilon, q)
    with mpmath.workdps(60):
        exact = float(mpmath.log(1 + mpmath.mpf(1e-20) * (mpmath.exp(31) - 1)))
    assert exact < 1e-6
    assert float(amplified(np.array(31.0), np.array(1e-20))) == pytest.approx(exact, rel=1e-6, abs=0)


def test_a_share_of_delta_near_the_sampling_rate_buys_a_smaller_epsilon_and_one_above_it_costs_nothing() -> None:
    # A record is in a batch with chance q: at delta >= q nothing is left to spend.
    mechanism = Mechanism.constant(1e-4, 1.0, 1)
    assert per_use(mechanism, np.array([2e-4]))[0, 0] == 0
    assert per_use(mechanism, np.array([1e-4]))[0, 0] < 1e-9
    for delta in [0.006, 0.008, 0.0099]:
        mechanism = Mechanism.constant(0.01, 0.2, 1)
        assert per_use(mechanism, np.array([delta]))[0, 0] == pytest.approx(
            one_use(0.01, 0.2, delta), rel=1e-9, abs=1e-12
        )


def test_one_step_alone_spends_the_first_half_of_delta_or_all_of_it() -> None:
    mechanism = Mechanism.constant(0.02, 3.0, 1)
    strong, naive = (ACCOUNTANTS[name].curve(mechanism, 1, 1e-4).epsilon[0] for name in ("strong", "naive"))
    assert strong == pytest.approx(one_use(0.02, 3.0, 5e-5), rel=1e-9)
    assert naive == pytest.approx(one_use(0.02, 3.0, 1e-4), rel=1e-9)
