"""Margins of the bounds without sampling, one at a time, far larger than they are: each must be charged, and once."""

from collections.abc import Callable

import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.certified import gaussian_bounds
from dpcore.privacy.certified.gaussian_bounds import (
    OutwardGaussian,
    _mu_bounds,
    gaussian_epsilons,
    gaussian_tradeoffs,
)
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.tradeoff import Gaussian

ONE, STEPS, DELTA = Mechanism.constant(1.0, 1.0, 4), np.array([4]), np.array([1e-3])
MU = 2.0


def zero(monkeypatch: pytest.MonkeyPatch, **values: float) -> None:
    """No margins but the given ones."""
    for name in ("MARGIN", "ALLOWED", "NUDGE", "UNIT"):
        monkeypatch.setattr(gaussian_bounds, name, values.get(name, 0.0))


@pytest.mark.parametrize("kinds", [1, 5])
def test_mu_is_charged_for_each_kind_of_step(kinds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_bounds, "UNIT", 1e-4)
    mechanism = Mechanism(tuple(Release(1.0, float(sigma), 2) for sigma in range(1, kinds + 1)))
    exact = np.sqrt(sum(2 / sigma**2 for sigma in range(1, kinds + 1)))
    low, high = _mu_bounds(mechanism, np.array([2 * kinds]))
    assert low[0] == pytest.approx(exact * (1 - 2 * (kinds + 8) * 1e-4), rel=1e-12, abs=0)
    assert high[0] == pytest.approx(exact * (1 + 2 * (kinds + 8) * 1e-4), rel=1e-12, abs=0)


def test_epsilon_is_nudged_once_before_it_is_checked_and_once_after(monkeypatch: pytest.MonkeyPatch) -> None:
    zero(monkeypatch, NUDGE=1e-3)
    exact = float(gaussian.epsilon_of(DELTA, np.array([MU]))[0])
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    assert lower[0] == pytest.approx(exact * (1 - 1e-3) ** 2, rel=1e-9, abs=0)
    assert upper[0] == pytest.approx(exact * (1 + 1e-3) ** 2, rel=1e-9, abs=0)


def test_epsilon_solves_for_a_delta_that_is_off_by_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    zero(monkeypatch, ALLOWED=0.2)
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    assert gaussian.delta_of(upper, np.array([MU]))[0] == pytest.approx(0.8e-3, rel=1e-9, abs=0)
    assert gaussian.delta_of(lower, np.array([MU]))[0] == pytest.approx(1.2e-3, rel=1e-9, abs=0)


def off_by(part: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """An iteration that ends where delta is off by only that part of what is allowed."""
    right = gaussian.epsilon_of
    return lambda delta, mu: right(DELTA + part * (delta - DELTA), mu)


@pytest.mark.parametrize(("part", "kept"), [(0.45, False), (0.55, True)])
def test_an_epsilon_is_kept_where_half_of_what_is_allowed_is_left(
    part: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    zero(monkeypatch, ALLOWED=0.2)
    monkeypatch.setattr(gaussian, "epsilon_of", off_by(part))
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    assert np.isfinite(upper[0]) == kept
    assert (lower[0] > 0) == kept


def test_no_delta_above_1_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    zero(monkeypatch, ALLOWED=0.2)
    lower, _ = gaussian_epsilons(ONE, STEPS, np.array([0.9]))
    assert lower[0] == 0


def test_trade_off_functions_are_those_of_mu_moved_by_the_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    zero(monkeypatch, MARGIN=0.01)
    below, above = gaussian_tradeoffs(ONE)
    assert (below.losing, above.losing) == (True, False)
    assert below.closed_mu == pytest.approx(MU * 1.01 + 0.01, rel=1e-12, abs=0)
    assert above.closed_mu == pytest.approx(MU * 0.99 - 0.01, rel=1e-12, abs=0)
    _, nothing = gaussian_tradeoffs(Mechanism.constant(1.0, 1000.0, 1))
    assert nothing.closed_mu == 0


@pytest.mark.parametrize("losing", [True, False])
def test_values_are_rounded_to_the_side_that_a_curve_stands_for(losing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_bounds, "UNIT", 1e-3)
    found, exact, alpha, up = OutwardGaussian(1.0, losing), Gaussian(1.0), 0.1, 1 + 8e-3
    down = 1 - 8e-3
    assert found.beta(alpha) == pytest.approx(exact.beta(alpha) * (down if losing else up), rel=1e-12, abs=0)
    assert found.power(alpha) == pytest.approx(exact.power(alpha) * (up if losing else down), rel=1e-12, abs=0)
    delta = gaussian.delta_of(0.5, 1.0)
    assert found.delta(0.5) == pytest.approx(delta * (up if losing else down), rel=1e-12, abs=0)
    (corner,), (power,) = exact.corners(1e-5)
    (alpha_there,), (power_there,) = found.corners(1e-5)
    assert alpha_there == pytest.approx(corner * (down if losing else up), rel=1e-12, abs=0)
    assert power_there == pytest.approx(power * (up if losing else down), rel=1e-12, abs=0)


def test_no_margin_is_smaller_than_the_proof_asks_for() -> None:
    """A threshold 38 from 0 that is 200 units off, 90 units of epsilon, and of delta what evaluates to within 5e-11."""
    u = 2.0**-53
    below, above = gaussian_tradeoffs(ONE)
    assert min(below.closed_mu - MU, MU - above.closed_mu) > 3 * 200 * 38 * u  # of mu = 2, relative and absolute
    lower, upper = gaussian_epsilons(ONE, STEPS, DELTA)
    exact = float(gaussian.epsilon_of(DELTA, np.array([MU]))[0])
    assert min(upper[0] - exact, exact - lower[0]) > 2 * 90 * u * exact
    assert gaussian.delta_of(upper, np.array([MU]))[0] < DELTA[0] * (1 - 0.9e-6)
    assert gaussian.delta_of(lower, np.array([MU]))[0] > DELTA[0] * (1 + 0.9e-6)
    assert 90 * u <= gaussian_bounds.NUDGE


def test_an_error_rate_is_never_0_where_the_curve_lies_above() -> None:
    assert OutwardGaussian(1e3, losing=False).corners(1e-5)[0][0] == 1e-300
    assert OutwardGaussian(1e3, losing=True).corners(1e-5)[0][0] == 0
    assert OutwardGaussian(1e3, losing=True).power(0.5) == 1
