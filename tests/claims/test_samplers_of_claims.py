"""What is proven for each way of drawing batches, against closed forms, golden numbers and a simulation."""

import math

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpcore.claims.samplers import BATCHES, adjacency_of, replaced_bounds, sampler_bounds
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism

# Epochs, batches an epoch, sigma, and epsilon in a fixed order at delta 1e-5.
ORDERED = ((1, 100, 1.0, 4.377), (40, 117, 1.068, 42.04), (40, 30, 1.82, 20.21), (20, 234, 0.7, 46.89))


@pytest.mark.parametrize(("epochs", "batches", "sigma", "epsilon"), ORDERED)
def test_a_fixed_order_is_one_gaussian(epochs: int, batches: int, sigma: float, epsilon: float) -> None:
    bounds = sampler_bounds("fixed_order", 1 / batches, sigma, epochs * batches, 1e-5)
    mu = math.sqrt(epochs) / sigma

    def delta_of(value: float) -> float:
        return norm.cdf(mu / 2 - value / mu) - math.exp(value) * norm.cdf(-mu / 2 - value / mu)

    exact = brentq(lambda value: math.log(delta_of(value) / 1e-5), 0.01, epsilon * 1.5)
    assert bounds.lower <= exact <= bounds.upper * (1 + 1e-9)
    assert bounds.upper == pytest.approx(epsilon, rel=2e-4)
    shuffled = sampler_bounds("shuffle", 1 / batches, sigma, epochs * batches, 1e-5)
    assert shuffled.upper == bounds.upper
    assert 0 < shuffled.lower <= bounds.upper


def test_poisson_batches_are_those_of_the_certified_accountant() -> None:
    found = sampler_bounds("poisson", 0.01, 4.0, 10_000, 1e-5)
    band = ACCOUNTANTS["pld"].curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).last
    assert (found.lower, found.upper) == (band.lower, band.value)


@pytest.mark.parametrize("name", BATCHES)
def test_every_sampler_has_bounds_in_order_or_says_why_not(name: str) -> None:
    found = sampler_bounds(name, 0.01, 1.0, 300, 1e-5)
    assert 0 <= found.lower <= found.upper
    assert math.isfinite(found.upper) or found.note
    assert adjacency_of(name)


def test_a_sampler_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="Expected sampler='weighted' to be one of: poisson"):
        sampler_bounds("weighted", 0.01, 1.0, 300, 1e-5)


def test_shuffled_batches_of_forty_epochs_have_the_golden_lower_bound() -> None:
    assert sampler_bounds("shuffle", 512 / 60_000, 1.068, 4680, 1e-5).lower > 13.5


def test_replaced_records_are_judged_by_their_own_law() -> None:
    found = replaced_bounds(0.01, 1.0, 1000, 1e-5)
    assert 2.83 < found.lower < found.upper < 2.86
