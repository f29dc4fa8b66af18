"""Exact tails of the binomial law, bounds of a rate, and lower bounds of epsilon from the certified
accountant.

P[Bin(n, p) >= k] is the regularised incomplete beta function I_p(k, n - k + 1); its inverse in p
gives the bounds. Source: Clopper and Pearson 1934, Biometrika 26, 404-413.
"""

from math import expm1, inf, log1p

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaincinv

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.base import CERTIFIED
from dpcore.privacy.certified.gaussian_bounds import unsampled
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.mechanism import MAX_SIGMA, MIN_SIGMA, FloatArray, Mechanism, Release


def at_least(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """Return P[Bin(n, p) >= k]; broadcasts whole k and n >= 0 and p in [0, 1].

    >>> at_least([0, 1, 2, 3], 2, 0.5).tolist()
    [1.0, 0.75, 0.25, 0.0]
    """
    k, n, p = _floats(k, n, p)
    tail = betainc(k, n - k + 1, p)  # NaN for k and n that have no such law
    return np.where(k <= 0, 1.0, np.where(k > n, 0.0, tail))


def at_most(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """Return P[Bin(n, p) <= k], precise where it is small.

    >>> at_most([-1, 0, 1, 2], 2, 0.5).tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    k, n, p = _floats(k, n, p)
    tail = betaincc(k + 1, n - k, p)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, tail))


def two_sided(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """Return the p-value of k successes in n trials at the rate p: twice the smaller tail.

    >>> two_sided([0, 1, 10], 10, 0.5).round(6).tolist()
    [0.001953, 0.021484, 0.001953]
    """
    return np.minimum(1.0, 2 * np.minimum(at_most(k, n, p), at_least(k, n, p)))


def rate_above(k: ArrayLike, n: ArrayLike, error: ArrayLike) -> FloatArray:
    """Return a lower bound of a rate from k successes in n trials; it fails with probability
    `error` at most.

    >>> rate_above([0, 5, 10], 10, 0.025).round(4).tolist()
    [0.0, 0.1871, 0.6915]
    """
    k, n, error = _floats(k, n, error)
    return np.where(k > 0, betaincinv(k, n - k + 1, error), 0.0)


def rate_below(k: ArrayLike, n: ArrayLike, error: ArrayLike) -> FloatArray:
    """Return an upper bound of a rate from k successes in n trials; it fails with probability
    `error` at most.

    >>> rate_below([0, 5, 10], 10, 0.025).round(4).tolist()
    [0.3085, 0.8129, 1.0]
    """
    k, n, error = _floats(k, n, error)
    return np.where(k < n, betaincinv(k + 1, n - k, 1 - error), 1.0)


def _floats(*values: ArrayLike) -> list[FloatArray]:
    return [np.asarray(each, dtype=np.float64) for each in values]


def lower_epsilon(mechanism: Mechanism, delta: float) -> float:
    """Return the certified lower bound of the whole mechanism's epsilon; 0 where none is known."""
    return ACCOUNTANTS[CERTIFIED].spent(mechanism, delta).lower or 0.0


def with_noise(mechanism: Mechanism, factor: float) -> Mechanism:
    """Multiply each sigma of the mechanism by a factor above 0, or raise it to the least that has
    an accountant.

    More noise never costs more epsilon. Errors: ValueError if a sigma becomes larger than a release
    may have.
    """
    least = MIN_SIGMA if unsampled(mechanism) else SMALLEST_SIGMA
    releases = []
    for release in mechanism.releases:
        sigma = max(release.sigma * factor, least)
        releases.append(Release(release.q, sigma, release.count))
    return Mechanism(tuple(releases))


def epsilon_with_noise(mechanism: Mechanism, factor: float, delta: float) -> float:
    """Return a lower bound of epsilon if each sigma is at most `factor` times the one charged.

    **Edge cases:** without noise (factor 0) an example in any batch is seen, so epsilon is infinite
    if that is more probable than delta; noise beyond every accountant gives 0.

    >>> whole = Mechanism.constant(q=1.0, sigma=2.0, steps=4)  # exactly 1-GDP
    >>> round(epsilon_with_noise(whole, 1.0, 1e-5), 3), epsilon_with_noise(whole, 0.0, 1e-5)
    (4.377, inf)
    """
    if factor == 0:
        drawn = any_of(*((release.q, release.count) for release in mechanism.releases))
        return inf if drawn > delta else 0.0
    if max(release.sigma for release in mechanism.releases) * factor > MAX_SIGMA:
        return 0.0
    return lower_epsilon(with_noise(mechanism, factor), delta)


def any_of(*chances: tuple[float, int]) -> float:
    """Return the probability of at least one success in independent trials, given as (chance,
    trials).

    >>> any_of((0.5, 2)), any_of((1.0, 1), (0.1, 3)), any_of((1e-20, 1))
    (0.75, 1.0, 1e-20)
    """
    if any(chance >= 1 for chance, _ in chances):
        return 1.0
    return -expm1(sum(count * log1p(-chance) for chance, count in chances))
