"""Closed forms of delta, epsilon and mu of the Gaussian mechanism.

A mechanism is mu-GDP if two neighbours are as hard to tell apart as N(0, 1) and N(mu, 1). T uses of
the Gaussian mechanism with noise multiplier sigma are exactly sqrt(T)/sigma-GDP.

    delta(epsilon; mu) = Phi(a) - e^epsilon Phi(-b),   a = mu/2 - epsilon/mu,   b = mu/2 +
    epsilon/mu

Source: Balle and Wang 2018, arXiv 1805.06530, Theorem 8; Dong, Roth and Su 2019, arXiv 1905.02383,
Corollary 2.13.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri

from dpcore.privacy.mechanism import FloatArray

SMALL = 0.01  # below this mu the two terms cancel, so a series in mu replaces them
NEWTON_STEPS = 100  # never reached: convergence is quadratic
HALVINGS = 80  # of the interval of log mu: more than its digits
DELTA_ERROR = 1e-9  # relative: above the error of delta_of where delta is at least 1e-60
MIN_MU = 1e-100
MAX_MU = 1e100


def delta_of(epsilon: ArrayLike, mu: ArrayLike) -> FloatArray:
    """Smallest delta with (epsilon, delta)-DP of a mu-GDP mechanism.

    Broadcasts epsilon >= 0 and mu in [0, inf].

    >>> delta_of([0.0, 1.0], 1.0).round(6).tolist()
    [0.382925, 0.126937]
    """
    epsilon, mu = _broadcast(epsilon, mu)
    delta = np.where(np.isinf(mu), 1.0, 0.0)
    inside = (mu > 0) & np.isfinite(mu)
    log_delta, _ = _log_delta(epsilon[inside] / mu[inside], mu[inside])
    delta[inside] = np.exp(log_delta)
    return delta


def epsilon_of(delta: ArrayLike, mu: ArrayLike) -> FloatArray:
    """Smallest epsilon >= 0 with (epsilon, delta)-DP of a mu-GDP mechanism.

    Broadcasts delta in (0, 1) and mu in [0, inf]. **Guarantees:** log delta is concave in epsilon,
    and Newton's iteration falls towards its root from above. So the answer is below the exact one
    by rounding at most. mu = inf costs inf.

    >>> epsilon_of(1e-5, [0.0, 0.1, 5.0]).round(4).tolist()
    [0.0, 0.3407, 33.1037]
    """
    delta, mu = _broadcast(delta, mu)
    epsilon = np.where(np.isinf(mu), np.inf, 0.0)
    inside = (mu > 0) & np.isfinite(mu)
    at_zero, _ = _log_delta(np.zeros(mu[inside].shape), mu[inside])
    above_zero = np.zeros(mu.shape, dtype=bool)
    above_zero[inside] = at_zero > np.log(delta[inside])
    delta = delta[above_zero]
    mu = mu[above_zero]
    target = np.log(delta)
    # delta <= Phi(a) puts the root left of x = mu/2 - Phi^-1(delta), in units of x = epsilon/mu.
    x = mu / 2 - ndtri(delta)
    for _ in range(NEWTON_STEPS):
        value, slope = _log_delta(x, mu)
        step = (target - value) / (slope * mu)
        x = np.maximum(x - np.maximum(-step, 0.0), 0.0)
        if np.all(-step <= 1e-15 * x):
            break
    epsilon[above_zero] = x * mu
    return epsilon


def mu_of(epsilon: ArrayLike, delta: ArrayLike) -> FloatArray:
    """Largest mu at which a mu-GDP mechanism is (epsilon, delta)-DP.

    Broadcasts epsilon >= 0 and delta in (0, 1). Noise of standard deviation sensitivity / mu is the
    analytic Gaussian mechanism of Balle and Wang, valid at every epsilon. The classical sqrt(2
    ln(1.25/delta)) / epsilon is larger, and proven for epsilon below 1 only.

    **Guarantees:** the exact delta at the answer is at most the given one; at (1 + 1e-8) times the
    answer it is larger. epsilon = inf allows inf.

    >>> (1 / mu_of([0.1, 1.0], 1e-5)).round(3).tolist()
    [30.75, 3.731]
    """
    epsilon, delta = _broadcast(epsilon, delta)
    endless = np.isinf(epsilon)
    finite = np.where(endless, 0.0, epsilon)
    low = np.full(epsilon.shape, np.log(MIN_MU))
    high = np.full(epsilon.shape, np.log(MAX_MU))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        allowed = delta_of(finite, np.exp(middle)) <= delta * (1 - DELTA_ERROR)
        low = np.where(allowed, middle, low)
        high = np.where(allowed, high, middle)
    return np.where(endless, np.inf, np.exp(low))


def _broadcast(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, ...]:
    return np.broadcast_arrays(np.asarray(first, np.float64), np.asarray(second, np.float64))


def _log_delta(x: FloatArray, mu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log delta at epsilon = x mu, and its derivative by epsilon; mu > 0 finite."""
    # With the Mills ratio R(t) = Phi(-t)/phi(t), delta = phi(a) (R(-a) - R(b)) overflows at no
    # epsilon.
    a = mu / 2 - x
    b = mu / 2 + x
    far = a < 1  # where delta is the difference of two Mills ratios
    first = _mills(np.maximum(-a, -1.0))
    second = _mills(b)
    gap = np.where(mu < SMALL, _mills_drop(x, np.minimum(mu, SMALL)), first - second)
    tail = np.where(far, gap, 1.0)
    with np.errstate(divide="ignore"):  # delta = 0 has log delta = -inf
        log_phi = -0.5 * a * a - 0.5 * np.log(2 * np.pi)
        head = np.where(far, 1.0, ndtr(a) - np.exp(log_phi) * second)
        log_delta = np.where(far, log_phi + np.log(np.maximum(tail, 0.0)), np.log(head))
        slope = -np.where(far, second / tail, np.exp(log_phi) * second / head)
    return log_delta, slope


def _mills(t: FloatArray) -> FloatArray:
    """R(t) = Phi(-t)/phi(t)."""
    return np.sqrt(np.pi / 2) * erfcx(t / np.sqrt(2))


def _mills_drop(x: FloatArray, mu: FloatArray) -> FloatArray:
    """R(x - mu/2) - R(x + mu/2) for small mu, by R' = x R - 1 and its derivatives.

    The next term of the series is below 1e-11.
    """
    # Past x = 50 the derivatives cancel in their closed form, but delta is 0 in floating point
    # there.
    x = np.minimum(x, 50.0)
    mills = _mills(x)
    first = 1 - x * mills  # -R'
    third = x * x + 2 - (x**3 + 3 * x) * mills  # -R'''
    return mu * first + mu**3 / 24 * np.maximum(third, 0.0)
