"""The central-limit mu of samples taken by Poisson's rule."""

import math

import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.mechanism import Mechanism, Release
from tests.reference import mu_poisson


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, 1e5])
def test_mu_follows_its_printed_formula(sigma: float) -> None:
    assert mu_of(Mechanism.constant(0.02, sigma, 700)) == pytest.approx(mu_poisson(0.02, sigma, 700), rel=1e-12)


def test_tiny_sigma_costs_everything_instead_of_overflowing() -> None:
    tiny = Mechanism.constant(0.01, 0.01, 10)
    assert mu_of(tiny) == math.inf
    assert ACCOUNTANTS["gdp"].curve(tiny, 10, 1e-5).epsilon[0] == math.inf


def test_a_schedule_adds_the_squares_of_mu() -> None:
    mechanism = Mechanism((Release(0.01, 2.0, 300), Release(0.02, 1.0, 100)))
    mu = math.hypot(mu_poisson(0.01, 2.0, 300), mu_poisson(0.02, 1.0, 100))
    expected = gaussian.epsilon_of(1e-5, mu)
    assert ACCOUNTANTS["gdp"].curve(mechanism, 400, 1e-5).epsilon[0] == pytest.approx(expected, rel=1e-12)
