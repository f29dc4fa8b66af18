"""Trade-off functions: shape, limits, and agreement with the closed forms of delta."""

import math

import numpy as np
import pytest

from dpcore.privacy import gaussian
from dpcore.privacy.tradeoff import gaussian_tradeoff, pair_tradeoff

ALPHA = np.linspace(0, 1, 1001)


@pytest.mark.parametrize("curve", [gaussian_tradeoff(ALPHA, 0.8), pair_tradeoff(ALPHA, 1.0, 0.01)])
def test_a_trade_off_curve_is_convex_falling_and_below_blind_guessing(curve: np.ndarray) -> None:
    assert np.all(np.diff(curve) <= 1e-15)
    assert np.all(np.diff(curve, 2) >= -1e-12)
    assert np.all((curve >= 0) & (curve <= 1 - ALPHA + 1e-15))


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 4.0])
def test_the_gaussian_curve_touches_each_of_its_pairs(mu: float) -> None:
    # G_mu is the pointwise largest of the regions of all its (epsilon, delta(epsilon)).
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        gap = gaussian_tradeoff(ALPHA, mu) - pair_tradeoff(ALPHA, epsilon, float(gaussian.delta_of(epsilon, mu)))
        assert gap.min() >= -1e-12
    epsilons = np.linspace(0, 40, 4001)
    regions = [pair_tradeoff(ALPHA, e, float(gaussian.delta_of(e, mu))) for e in epsilons]
    assert np.max(gaussian_tradeoff(ALPHA, mu) - np.max(regions, axis=0)) < 2e-3


def test_both_are_symmetric() -> None:
    for curve in (lambda a: gaussian_tradeoff(a, 1.5), lambda a: pair_tradeoff(a, 0.7, 0.0)):
        np.testing.assert_allclose(curve(curve(ALPHA[1:-1])), ALPHA[1:-1], atol=1e-9)


def test_the_limits_are_blind_guessing_and_certainty() -> None:
    np.testing.assert_allclose(gaussian_tradeoff(ALPHA, 0.0), 1 - ALPHA, atol=1e-12)
    np.testing.assert_allclose(pair_tradeoff(ALPHA, 0.0, 0.0), 1 - ALPHA, atol=1e-15)
    assert np.all(gaussian_tradeoff(ALPHA, math.inf) == 0)
    assert np.all(pair_tradeoff(ALPHA[1:], math.inf, 0.0) == 0)
    assert np.all(pair_tradeoff(ALPHA, 1e6, 1e-5)[1:] == 0)
    assert gaussian_tradeoff(1e-300, 1e4) == 0
