"""The central-limit mu, for Poisson and for uniform samples."""

import math

import pytest
from scipy.stats import norm

from dpcore.privacy.accountants import ACCOUNTANTS, gdp
from dpcore.privacy.mechanism import Mechanism, Release


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0])
def test_both_mus_follow_their_printed_formulas(sigma: float) -> None:
    q, steps, power = 0.02, 700, math.exp(1 / sigma**2)
    assert gdp.mu_poisson(q, sigma, steps) == pytest.approx(q * math.sqrt(steps * (power - 1)), rel=1e-12)
    inside = power * norm.cdf(1.5 / sigma) + 3 * norm.cdf(-0.5 / sigma) - 2
    assert gdp.mu_uniform(q, sigma, steps) == pytest.approx(math.sqrt(2 * steps * inside) * q, rel=1e-9)


def test_the_uniform_mu_keeps_its_digits_at_large_sigma() -> None:
    # Expanding at 1/sigma -> 0, the bracket is 1/(2 sigma^2) + O(sigma^-3).
    assert gdp.mu_uniform(1.0, 1e6, 1.0) == pytest.approx(1e-6, rel=1e-5)


def test_tiny_sigma_costs_everything_instead_of_overflowing() -> None:
    assert gdp.mu_poisson(0.01, 0.01, 10) == math.inf
    assert gdp.mu_uniform(0.01, 0.01, 10) == math.inf
    assert ACCOUNTANTS["gdp"].curve(Mechanism.constant(0.01, 0.01, 10), 10, 1e-5).epsilon[0] == math.inf


def test_a_schedule_adds_the_squares_of_mu() -> None:
    mechanism = Mechanism((Release(0.01, 2.0, 300), Release(0.02, 1.0, 100)))
    mu = math.hypot(gdp.mu_poisson(0.01, 2.0, 300), gdp.mu_poisson(0.02, 1.0, 100))
    from dpcore.privacy import gaussian

    expected = gaussian.epsilon_of(1e-5, mu)
    assert ACCOUNTANTS["gdp"].curve(mechanism, 400, 1e-5).epsilon[0] == pytest.approx(expected, rel=1e-12)
