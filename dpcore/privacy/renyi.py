"""Log-moments of the Poisson-sampled Gaussian, and their conversions to (epsilon, delta).

One use on neighbours that differ in one record is the pair mu0 = N(0, sigma^2), mu = (1-q) mu0 + q
N(1, sigma^2), and

    A(a) = E_{z ~ mu0} [ (mu(z) / mu0(z))^a ],   log-moment alpha(lambda) = ln A(lambda + 1),
    Renyi divergence of order a = ln A(a) / (a - 1).

Log-moments add up over uses. A bounds both directions: A(a) >= E_{mu0}[(mu0/mu)^(a-1)] (Mironov,
Talwar and Zhang 2019, arXiv 1908.10530, Theorem 5). In units of the noise, x = z/sigma, the log
ratio is

    L(x) = ln(1 - q + q e^(x/sigma - 1/(2 sigma^2))).
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, log_ndtr

from dpcore.privacy.mechanism import FloatArray

INTEGER_UP_TO = 128  # integer orders 2..128 by the binomial sum
_GEOMETRIC = np.unique(np.round(np.geomspace(INTEGER_UP_TO, 1e6, 180)))[1:]
_NEAR_ONE = 1 + np.array([0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08])
_FRACTIONAL = np.setdiff1d(np.round(np.arange(1.1, 10.95, 0.1), 1), np.arange(2, 11))
# Increasing orders a > 1, of every accountant that works with log-moments.
ORDERS: FloatArray = np.sort(
    np.concatenate([_NEAR_ONE, _FRACTIONAL, np.arange(2, INTEGER_UP_TO + 1.0), _GEOMETRIC])
)
IS_INTEGER = np.round(ORDERS) == ORDERS
IS_BINOMIAL = IS_INTEGER & (ORDERS <= INTEGER_UP_TO)
ORDERS.setflags(write=False)
IS_INTEGER.setflags(write=False)
IS_BINOMIAL.setflags(write=False)

FARTHEST = 600.0  # orders above FARTHEST sigma are not integrated
TAIL = 9.0  # Phi(-9) = 1e-19
LN_ERROR = -40.0  # log of the quadrature's relative error
FINEST = 0.005  # below this sigma the mesh would grow without end, and a bound replaces it


@lru_cache(maxsize=2048)
def log_moments(q: float, sigma: float) -> FloatArray:
    """ln A(a) of one use at every order in ORDERS, (K,), read-only.

    It is +inf at orders that cannot matter. **Guarantees:** below the exact value by a relative
    1e-12 at most. Whole orders are sums of positive terms; the others carry a margin for rounding,
    1e-15 (10 + (a/sigma)^2).
    """
    values = np.full(ORDERS.shape, np.inf)
    values[IS_BINOMIAL] = binomial_log_moments(q, sigma)
    values[~IS_BINOMIAL] = log_moments_at(q, sigma, ORDERS[~IS_BINOMIAL])
    values.setflags(write=False)
    return values


def binomial_log_moments(q: float, sigma: float) -> FloatArray:
    """ln A(a) for a = 2..INTEGER_UP_TO, an exact sum of positive terms in log space.

    A(a) - 1 = sum_{k=2..a} binom(a, k) (1-q)^(a-k) q^k (e^(k(k-1)/(2 sigma^2)) - 1).
    Source: Mironov, Talwar and Zhang 2019, arXiv 1908.10530, section 3.3, without its terms k = 0
    and 1, which cancel.

    >>> round(float(binomial_log_moments(1.0, 2.0)[0]), 6)  # a (a - 1) / (2 sigma^2)
    0.25
    """
    orders, k, log_binomial = _binomials()
    if q == 1:
        return orders * (orders - 1) / (2 * sigma**2)
    log_other = math.log1p(-q)
    exponent = k * (k - 1) / (2 * sigma**2)  # (k,)
    rise = exponent + np.log(-np.expm1(-exponent)) + k * (math.log(q) - log_other)
    terms = log_binomial + rise + (orders * log_other)[:, None]  # (a, k), -inf where k > a
    top = terms.max(axis=1)
    return np.logaddexp(0.0, top + np.log(np.exp(terms - top[:, None]).sum(axis=1)))


@lru_cache(maxsize=1)
def _binomials() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Orders a, indices k >= 2 and ln binom(a, k), (a, k)."""
    orders = np.arange(2, INTEGER_UP_TO + 1.0)
    k = orders
    inside = k <= orders[:, None]
    rest = np.where(inside, orders[:, None] - k, 0.0)
    table = gammaln(orders + 1)[:, None] - gammaln(k + 1) - gammaln(rest + 1)
    return orders, k, np.where(inside, table, -np.inf)


def log_moments_at(q: float, sigma: float, orders: FloatArray) -> FloatArray:
    """ln A(a) at any orders a > 1, (K,), by the trapezoidal rule.

    It is +inf at orders that cannot matter. **Guarantees:** at x + iy with |y| < pi sigma the
    integrand is at most e^(y^2/2) times its size at x, for every q and a. So the relative error is
    at most 2 e^(y^2/2 - 2 pi y / step) (Trefethen and Weideman 2014, Theorem 5.1), and the step
    makes that e^-40. The mass left of -9 is below 1e-19; a bound on the mass right of the grid is
    added.
    """
    if q == 1:
        return orders * (orders - 1) / (2 * sigma**2)
    if sigma < FINEST:  # t^a is convex, so (1 - q + q r)^a <= 1 - q + q r^a
        return np.logaddexp(math.log1p(-q), math.log(q) + orders * (orders - 1) / (2 * sigma**2))
    # f(lambda) = ln A(lambda + 1) is convex with f(0) = 0. At the best order of any composition
    # lambda f'(lambda) - f(lambda) <= ln(1/delta) for each release; past 1.5 bound the left side
    # exceeds 45, at which delta is below 1e-19. An order that is left out can only loosen the
    # bound.
    bound = max(11 * sigma, -2 * sigma**2 * math.log(q))
    may_matter = (orders - 1) <= 1.5 * bound
    usable = may_matter & (orders <= FARTHEST * max(sigma, 1.0))
    values = np.full(orders.shape, np.inf)
    if np.any(usable):
        values[usable] = _integrated(q, sigma, orders[usable])
    return values


def _integrated(q: float, sigma: float, orders: FloatArray) -> FloatArray:
    """ln A(a) at orders a that may matter, (K,), by the trapezoidal rule."""
    step = _step(sigma)
    end = orders.max() / sigma + TAIL
    x = np.arange(-TAIL, end + step, step)  # (M,)
    # L(x), stable at any slope.
    log_ratio = np.logaddexp(math.log1p(-q), math.log(q) + x / sigma - 0.5 / sigma**2)
    log_terms = orders[:, None] * log_ratio - 0.5 * x * x  # (K, M)
    top = log_terms.max(axis=1)
    log_terms -= top[:, None]
    terms = np.exp(log_terms, out=log_terms)  # in place, since the array is large
    inside = top + np.log(terms.sum(axis=1) * (step / math.sqrt(2 * math.pi)))
    # L is convex with slope at most 1/sigma, which bounds the mass beyond the grid by a Gaussian's
    # tail.
    shift = orders / sigma
    beyond = orders * log_ratio[-1] - shift * x[-1] + shift * shift / 2 + log_ndtr(shift - x[-1])
    rounding = 1e-15 * (10 + shift * shift)  # of the exponents, where they matter
    return np.maximum(np.logaddexp(inside, beyond), 0.0) + rounding


def _step(sigma: float) -> float:
    """The mesh, in noise standard deviations, whose trapezoidal error is e^LN_ERROR.

    The error counts for |y| up to pi sigma.
    """
    widest = math.pi * sigma
    step = math.pi * math.sqrt(-2 / LN_ERROR)  # at the best y, which is 2 pi / step
    if 2 * math.pi / step <= widest:
        return step
    return 2 * math.pi * widest / (widest * widest / 2 - LN_ERROR)


def epsilon_classic(total: FloatArray, orders: FloatArray, delta: FloatArray) -> FloatArray:
    """Epsilon from composed log-moments, (n, K), (K,), (n,) -> (n,), by the tail bound.

    It is the minimum over orders a of (total + ln(1/delta)) / (a - 1). Source: Abadi et al. 2016,
    arXiv 1607.00133v2, Theorem 2.
    """
    return ((total - np.log(delta)[:, None]) / (orders - 1)).min(axis=1)


def epsilon_improved(total: FloatArray, orders: FloatArray, delta: FloatArray) -> FloatArray:
    """Epsilon from composed log-moments, (n, K), (K,), (n,) -> (n,), by the tighter conversion.

    It may be negative. It is the minimum over orders a of (total + ln(1/delta) - ln a) / (a - 1) +
    ln(1 - 1/a). Source: Canonne, Kamath and Steinke 2020, arXiv 2004.00010v4, Proposition 12; Balle
    et al. 2020, arXiv 1905.09982.
    """
    lifted = (total - np.log(delta)[:, None] - np.log(orders)) / (orders - 1)
    return (lifted + np.log1p(-1 / orders)).min(axis=1)
