"""What is proven for each way of drawing batches, against closed forms, golden numbers and a simulation."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpcore.claims.samplers import SAMPLERS, adjacency_of, epochs_in, sampler_bounds, shuffled_lower
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism

# T batches an epoch, sigma, delta, and the lower bound of one epoch of shuffled batches: Chua et al. 2024's formula
# computed elsewhere.
ONE_EPOCH = ((100, 1.0, 1e-5, 4.0632, 6e-5), (1000, 0.5, 1e-6, 10.9969, 5e-5), (1000, 0.35, 1e-6, 17.0764, 5e-5),
             (117, 1.068, 1e-5, 3.5465, 5e-5))  # fmt: skip
# Epochs, batches an epoch, sigma, and epsilon in a fixed order at delta 1e-5.
ORDERED = ((1, 100, 1.0, 4.377), (40, 117, 1.068, 42.04), (40, 30, 1.82, 20.21), (20, 234, 0.7, 46.89))


@pytest.mark.parametrize(("batches", "sigma", "delta", "epsilon", "tolerance"), ONE_EPOCH)
def test_one_epoch_of_shuffled_batches_has_the_golden_lower_bound(batches, sigma, delta, epsilon, tolerance) -> None:
    assert shuffled_lower(1 / batches, sigma, batches, delta) == pytest.approx(epsilon, abs=tolerance)


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


def test_the_event_of_the_largest_coordinate_is_as_likely_as_the_formula_says() -> None:
    draws, batches, sigma, cut = 200_000, 20, 1.0, 2.0
    rng = np.random.default_rng(7)
    noise = sigma * rng.standard_normal((draws, batches))
    without, told = noise.copy(), noise.copy()
    without[:, 0] += 1
    told[:, 0] += 2  # the batch of the example moves by one more than that without it
    for moved, sample in ((1, without), (2, told)):
        counted = np.mean(sample.max(axis=1) > cut)
        expected = 1 - norm.cdf((cut - moved) / sigma) * norm.cdf(cut / sigma) ** (batches - 1)
        error = math.sqrt(expected * (1 - expected) / draws)
        assert abs(counted - expected) < 4 * error
        wrong = 1 - norm.cdf((cut - moved) / sigma) * norm.cdf(cut / sigma) ** batches
        assert abs(counted - wrong) > 4 * error  # one batch more or less would show


def test_no_cut_proves_more_than_the_lower_bound() -> None:
    batches, sigma, delta = 50, 1.2, 1e-6
    best = shuffled_lower(1 / batches, sigma, batches, delta)
    cuts = np.linspace(-1, 12, 20_001)
    likely = 1 - norm.cdf((cuts - 2) / sigma) * norm.cdf(cuts / sigma) ** (batches - 1)
    rare = 1 - norm.cdf((cuts - 1) / sigma) * norm.cdf(cuts / sigma) ** (batches - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        proven = np.log((likely - delta) / rare)
    top = np.nanmax(proven[likely > 2 * delta])
    assert top * (1 - 1e-4) <= best <= top * (1 + 1e-4)


def test_half_an_epoch_of_shuffled_batches_proves_nothing() -> None:
    assert shuffled_lower(0.01, 1.0, 99, 1e-5) == 0.0
    assert shuffled_lower(0.01, 1.0, 100, 1e-5) > 4


def test_poisson_batches_are_those_of_the_certified_accountant() -> None:
    found = sampler_bounds("poisson", 0.01, 4.0, 10_000, 1e-5)
    band = ACCOUNTANTS["pld"].curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).last
    assert (found.lower, found.upper) == (band.lower, band.value)


@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_has_bounds_in_order_or_says_why_not(name: str) -> None:
    found = sampler_bounds(name, 0.01, 1.0, 300, 1e-5)
    assert 0 <= found.lower <= found.upper
    assert math.isfinite(found.upper) or found.note
    assert adjacency_of(name)


def test_a_sampler_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="Expected sampler='weighted' to be one of: poisson"):
        sampler_bounds("weighted", 0.01, 1.0, 300, 1e-5)


@pytest.mark.parametrize(("steps", "epochs"), [(1, 1), (117, 1), (118, 2), (4680, 40)])
def test_an_epoch_that_was_begun_counts(steps: int, epochs: int) -> None:
    assert epochs_in(512 / 60_000, steps) == epochs
