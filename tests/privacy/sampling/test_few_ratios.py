"""An epoch of few steps and little noise: the sum of its ratios, and the band, against closed forms and quadrature."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.few_ratios import sum_of_ratios

TAIL = 1e-12


def above(sigma: float, heights: np.ndarray) -> np.ndarray:
    """E(w - s)_+ of one ratio, in closed form; 1 - s where s is not above 0."""
    safe = np.maximum(heights, 1e-300)
    place = sigma * np.log(safe) + 0.5 / sigma
    return np.where(heights > 0, ndtr(1 / sigma - place) - safe * ndtr(-place), 1 - heights)


def two_above(sigma: float, heights: np.ndarray) -> np.ndarray:
    """E(w + w' - s)_+: one ratio by its closed form, the other by quadrature."""
    z = np.linspace(-10, 10, 20_001)
    weight = np.exp(-0.5 * z**2)
    other = np.exp(z / sigma - 0.5 / sigma**2)
    return np.array([weight @ above(sigma, each - other) for each in heights]) / weight.sum()


@pytest.mark.parametrize("sigma", [0.4, 0.7, 1.5])
@pytest.mark.parametrize(("steps", "exact"), [(1, above), (2, two_above)])
def test_the_sum_is_a_spread_of_the_exact_one_and_close_to_it(sigma: float, steps: int, exact) -> None:
    """What the mean lacks lies at infinity, and counts for every height."""
    points, mass, error = sum_of_ratios(steps, sigma, TAIL, 0.5)
    heights = np.exp(np.linspace(-8, 8, 40) * min(1 / sigma, 2))
    lost = steps - float(mass @ points)
    found = np.array([mass @ np.maximum(points - each, 0.0) for each in heights]) + lost
    truth = exact(sigma, heights)
    assert np.all(found >= truth * (1 - 1e-9) - 1e-12)
    # Below, the same for (s - sum)_+, which the add direction is made of; its small values are told apart too.
    below, true_below = found - steps + heights, truth - steps + heights
    assert found == pytest.approx(truth, rel=0.02, abs=1e-9)
    assert below == pytest.approx(true_below, rel=0.02, abs=1e-9)
    assert 0 <= error < 1e-9
    assert mass.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 6, 7, 12])
def test_any_number_of_ratios_is_added(steps: int) -> None:
    """Their mean and variance add up; a law of one more or one less would have others."""
    points, mass, _ = sum_of_ratios(steps, 1.2, TAIL, 0.5)
    assert float(mass @ points) == pytest.approx(steps, rel=1e-6)
    variance = float(mass @ (points - steps) ** 2)
    assert steps * np.expm1(1.2**-2) <= variance * (1 + 1e-6)
    assert variance == pytest.approx(steps * np.expm1(1.2**-2), rel=0.05)


def two_steps(sigma: float, epsilon: float) -> tuple[float, float]:
    """delta of an epoch of two steps, (remove, add): E(t - e^eps)_+ and e^eps E(e^-eps - t)_+ of the mean ratio t."""
    remove, shown = (float(two_above(sigma, np.array([2 * np.exp(each)]))[0]) / 2 for each in (epsilon, -epsilon))
    return remove, np.exp(epsilon) * (shown - 1) + 1


@pytest.mark.parametrize(("sigma", "width"), [(0.6, 1e-2), (0.5, 1e-2), (0.4, 1e-2), (0.3, 1e-2)])
def test_with_few_steps_and_little_noise_the_band_holds_the_quadrature(sigma: float, width: float) -> None:
    curve = SAMPLERS["random_allocation"].curve(0.5, sigma, 2, 1e-5)
    assert curve.lower is not None
    lower, upper = float(curve.lower[0]), float(curve.epsilon[0])
    assert two_steps(sigma, lower)[0] >= 1e-5 * (1 - 1e-3)
    assert max(two_steps(sigma, upper)) <= 1e-5 * (1 + 1e-3)
    assert upper <= (1 + width) * lower
    assert upper < SAMPLERS["fixed_order"].curve(0.5, sigma, 2, 1e-5).epsilon[0]


@pytest.mark.parametrize(("steps", "sigma"), [(5, 0.5), (20, 0.4), (10, 0.2), (100, 0.3)])
def test_between_few_steps_and_many_there_is_a_band(steps: int, sigma: float) -> None:
    curve = SAMPLERS["random_allocation"].curve(1 / steps, sigma, steps, 1e-5)
    assert curve.lower is not None
    assert 0 < curve.lower[0] <= curve.epsilon[0] <= 1.01 * curve.lower[0]


def test_over_many_epochs_with_little_noise_the_band_stays_narrow() -> None:
    """Epsilon of all epochs is at most that of each, and more than what one threshold tells."""
    curve = SAMPLERS["random_allocation"].curve(0.2, 0.5, [5, 50], 1e-5)
    assert curve.lower is not None
    assert np.all(curve.epsilon <= 1.01 * curve.lower)
    assert curve.epsilon[1] < SAMPLERS["fixed_order"].curve(0.2, 0.5, 50, 1e-5).epsilon[0]


def test_where_ratios_lie_too_far_apart_it_is_said_and_the_order_counts() -> None:
    curve = SAMPLERS["random_allocation"].curve(0.1, 0.1, 10, 1e-5)
    assert "too far apart" in curve.note
    assert curve.epsilon[0] == SAMPLERS["fixed_order"].curve(0.1, 0.1, 10, 1e-5).epsilon[0]
