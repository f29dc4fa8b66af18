"""The Gaussian mechanism's closed forms, against mpmath and against themselves."""

import numpy as np
import pytest

from dpcore.privacy import gaussian
from tests.reference import gaussian_delta

MUS = [1e-8, 1e-5, 1e-3, 0.0099, 0.0101, 0.5, 1.0, 5.0, 30.0, 1e3, 1e4]
DELTAS = [1e-15, 1e-9, 1e-5, 1e-2, 0.5]


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_has_exactly_the_delta_it_was_asked_for(mu: float, delta: float) -> None:
    epsilon = float(gaussian.epsilon_of(delta, mu))
    if epsilon == 0:
        assert gaussian_delta(0.0, mu) <= delta * (1 + 1e-9)
    else:
        assert gaussian_delta(epsilon, mu) == pytest.approx(delta, rel=1e-9, abs=0)


def test_the_series_for_small_mu_meets_the_closed_form() -> None:
    for x in (0.0, 0.5, 4.0, 8.0):
        below, above = gaussian.SMALL * (1 - 1e-9), gaussian.SMALL * (1 + 1e-9)
        after = gaussian.delta_of(x * above, above)
        assert gaussian.delta_of(x * below, below) == pytest.approx(after, rel=1e-7, abs=0)


def test_delta_falls_with_epsilon_and_rises_with_mu() -> None:
    epsilon, mu = np.linspace(0, 30, 301), np.geomspace(0.001, 50, 200)
    assert np.all(np.diff(gaussian.delta_of(epsilon, 2.0)) <= 0)
    assert np.all(np.diff(gaussian.delta_of(1.0, mu)) >= 0)


def test_the_ends_are_no_loss_and_total_loss() -> None:
    assert gaussian.epsilon_of(1e-5, [0.0, np.inf]).tolist() == [0.0, np.inf]
    assert gaussian.delta_of(1.0, [0.0, np.inf]).tolist() == [0.0, 1.0]


def test_the_shapes_broadcast() -> None:
    assert gaussian.epsilon_of(np.full((3, 1), 1e-5), np.ones(4)).shape == (3, 4)


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.01, 0.25, 1.0, 8.0, 100.0, 1e4])
@pytest.mark.parametrize("delta", [1e-30, 1e-9, 1e-5, 0.3])
def test_mu_is_rounded_to_the_safe_side_of_what_keeps_delta(epsilon: float, delta: float) -> None:
    mu = float(gaussian.mu_of(epsilon, delta))
    assert gaussian_delta(epsilon, mu) <= delta
    assert gaussian_delta(epsilon, mu * (1 + 1e-8)) > delta


def test_noise_is_never_more_than_the_classical_formula_asks_for() -> None:
    epsilon = np.geomspace(1e-3, 0.99, 20)
    assert np.all(1 / gaussian.mu_of(epsilon, 1e-5) < np.sqrt(2 * np.log(1.25e5)) / epsilon)
    assert gaussian.mu_of(np.inf, 1e-5) == np.inf
