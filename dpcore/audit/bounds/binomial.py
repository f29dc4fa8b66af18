"""Exact tails of the binomial law, and the bounds of a rate that follow from them.

P[Bin(n, p) >= k] is the regularised incomplete beta function I_p(k, n - k + 1); its inverse in p gives the bounds.
Source: Clopper and Pearson 1934, Biometrika 26, 404-413.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaincinv

from dpcore.privacy.types import FloatArray


def at_least(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """P[Bin(n, p) >= k]; broadcasts whole k and n >= 0 and p in [0, 1].

    >>> at_least([0, 1, 2, 3], 2, 0.5).tolist()
    [1.0, 0.75, 0.25, 0.0]
    """
    k, n, p = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (k, n, p)))
    inside = (k > 0) & (k <= n)
    tail = betainc(np.where(inside, k, 1.0), np.where(inside, n - k + 1, 1.0), p)
    return np.where(inside, tail, np.where(k <= 0, 1.0, 0.0))


def at_most(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """P[Bin(n, p) <= k], precise where it is small.

    >>> at_most([-1, 0, 1, 2], 2, 0.5).tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    k, n, p = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (k, n, p)))
    inside = (k >= 0) & (k < n)
    tail = betaincc(np.where(inside, k + 1, 1.0), np.where(inside, n - k, 1.0), p)
    return np.where(inside, tail, np.where(k < 0, 0.0, 1.0))


def two_sided(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> FloatArray:
    """p-value of k successes in n trials at the rate p: twice the smaller tail.

    >>> two_sided([0, 1, 10], 10, 0.5).round(6).tolist()
    [0.001953, 0.021484, 0.001953]
    """
    return np.minimum(1.0, 2 * np.minimum(at_most(k, n, p), at_least(k, n, p)))


def rate_above(k: ArrayLike, n: ArrayLike, error: ArrayLike) -> FloatArray:
    """A lower bound of the rate at which k of n trials succeeded; false with probability `error` at most.

    >>> rate_above([0, 5, 10], 10, 0.025).round(4).tolist()
    [0.0, 0.1871, 0.6915]
    """
    k, n, error = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (k, n, error)))
    some = k > 0
    return np.where(some, betaincinv(np.where(some, k, 1.0), n - np.where(some, k, 1.0) + 1, error), 0.0)


def rate_below(k: ArrayLike, n: ArrayLike, error: ArrayLike) -> FloatArray:
    """An upper bound of the rate at which k of n trials succeeded; false with probability `error` at most.

    >>> rate_below([0, 5, 10], 10, 0.025).round(4).tolist()
    [0.3085, 0.8129, 1.0]
    """
    k, n, error = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (k, n, error)))
    some = k < n
    return np.where(some, betaincinv(np.where(some, k + 1, 1.0), np.where(some, n - k, 1.0), 1 - error), 1.0)
