"""Shuffled batches: the lower bound against its formula, a fine convolution and golden numbers."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.signal import fftconvolve
from scipy.special import log_ndtr
from scipy.stats import norm

from dpcore.privacy import gaussian
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.orders import many_epochs, one_epoch


def exact_one_epoch(steps: int, sigma: float, delta: float, places: np.ndarray) -> float:
    """The largest epsilon over thresholds, in 40 digits."""
    best = mpf(0)
    with mp.workdps(40):
        for place in places:
            c = mpf(float(place))
            none = mp.ncdf(c / sigma) ** (steps - 1)
            shown = 1 - mp.ncdf((c - 2) / sigma) * none - mpf(delta)
            if shown > 0:
                best = max(best, mp.log(shown / (1 - mp.ncdf((c - 1) / sigma) * none)))
    return float(best)


def test_one_epoch_is_the_best_threshold_of_its_formula() -> None:
    for steps, sigma, delta in [
        (117, 1.068, 1e-5),
        (10, 3.0, 1e-6),
        (1000, 0.5, 1e-6),
        (100_000, 1.0, 1e-8),
    ]:
        found = float(one_epoch(steps, sigma, np.array([delta]))[0])
        near = np.linspace(0.5, 2 + 9 * sigma, 1500)
        exact = exact_one_epoch(steps, sigma, delta, near)
        assert found == pytest.approx(exact, rel=2e-4), (steps, sigma, delta)
        finer = exact_one_epoch(steps, sigma, delta, np.linspace(0.5, 2 + 9 * sigma, 12_000))
        assert found <= finer + 1e-6, (steps, sigma, delta)


def test_one_step_an_epoch_is_the_gaussian_mechanism() -> None:
    for sigma in (0.5, 1.0, 4.0):
        exact = float(gaussian.epsilon_of(1e-5, 1 / sigma))
        assert float(one_epoch(1, sigma, np.array([1e-5]))[0]) == pytest.approx(exact, rel=1e-5)
        many = many_epochs(1, sigma, np.array([1, 9]), np.full(2, 1e-5), np.full(2, np.inf))
        assert many[1] == pytest.approx(float(gaussian.epsilon_of(1e-5, 3 / sigma)), rel=2e-3)
        assert many[1] <= float(gaussian.epsilon_of(1e-5, 3 / sigma))


def convolved(steps: int, sigma: float, epochs: int, delta: float) -> float:
    """Epsilon of the largest coordinate over some epochs: its densities on a fine grid, losses
    convolved one by one.
    """
    place = np.linspace(min(-9 * sigma, 1 - 9 * sigma), 2 + 12 * sigma, 400_001)

    def density(own: float) -> np.ndarray:
        below = log_ndtr((place - own) / sigma) + (steps - 1) * log_ndtr(place / sigma)
        return np.diff(np.exp(below))

    p, q = density(2.0), density(1.0)
    live = (p > 1e-18) & (q > 1e-18)
    loss, mesh = np.log(p[live] / q[live]), 1e-3
    first = int(np.floor(loss.min() / mesh))
    one = np.bincount(np.rint(loss / mesh).astype(int) - first, p[live])
    law = one
    for _ in range(epochs - 1):
        law = fftconvolve(law, one)
    values = mesh * (epochs * first + np.arange(law.size))
    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        above = values > middle
        enough = law[above] @ -np.expm1(middle - values[above]) > delta
        low, high = (middle, high) if enough else (low, middle)
    return low


def test_several_epochs_never_exceed_a_fine_convolution_and_come_close() -> None:
    for steps, sigma, epochs in [(30, 1.82, 5), (117, 1.068, 3), (10, 4.0, 8)]:
        plain = convolved(steps, sigma, epochs, 1e-4)
        ceiling = gaussian.epsilon_of(np.array([1e-4]), np.sqrt(epochs) / sigma)
        found = float(many_epochs(steps, sigma, np.array([epochs]), np.array([1e-4]), ceiling)[0])
        assert found <= plain * (1 + 2e-4), (steps, sigma, epochs)
        assert found == pytest.approx(plain, rel=3e-3), (steps, sigma, epochs)


def test_golden_numbers_of_shuffled_batches() -> None:
    for steps, sigma, epochs, delta, least, tolerance in [
        (100, 1.0, 1, 1e-5, 4.0632, 2e-5), (1000, 0.5, 1, 1e-6, 10.9969, 2e-5),
        (1000, 0.35, 1, 1e-6, 17.0764, 2e-5), (117, 1.068, 1, 1e-5, 3.5465, 2e-5),
        (117, 1.068, 40, 1e-5, 13.55, 0.01), (30, 1.82, 40, 1e-5, 4.895, 0.01),
        (234, 0.7, 20, 1e-5, 32.17, 0.01),
    ]:  # fmt: skip
        curve = SAMPLERS["shuffle"].curve(1 / steps, sigma, epochs * steps, delta)
        assert float(curve.lower[0]) == pytest.approx(least, rel=tolerance), (steps, sigma, epochs)
        poisson = SAMPLERS["poisson"].curve(1 / steps, sigma, epochs * steps, delta)
        # What most code prints is proven to be too little.
        assert poisson.epsilon[0] < curve.lower[0], (steps, sigma)
        assert "not a band" in curve.note, (steps, sigma, epochs)


def test_one_order_for_all_epochs_is_one_epoch_of_less_noise() -> None:
    once = SAMPLERS["shuffle_once"].curve(0.01, 2.0, [100, 400, 900], 1e-5)
    for at, epochs in enumerate((1, 4, 9)):
        expected = one_epoch(100, 2.0 / np.sqrt(epochs), np.array([1e-5]))[0]
        assert once.lower[at] == pytest.approx(expected, rel=1e-12)


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
