"""Matrix mechanisms with b bands, whose noise is correlated over b iterations, accounted for as Poisson batches."""

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.types import IntArray

MOST_BANDS = 10**6


def banded(q: float, sigma: float, steps: int, bands: int) -> Mechanism:
    """DP-SGD that costs what so many iterations cost of a matrix mechanism with b = `bands` bands.

    The examples are cut into b parts; iteration i draws a Poisson batch of part i mod b, at the rate b q, so that it
    holds q n examples on average. Noise is sigma times the largest norm of a column of the strategy matrix. Then each
    example is in one of b iterations that follow one another, and the whole costs what n/b steps of DP-SGD at the rate
    b q cost.
    Source: Choquette-Choo et al. 2023, arXiv 2306.08153, Theorem 1.
    Errors: ValueError where b q is above 1.

    >>> banded(0.01, 4.0, 1000, 8)
    Mechanism(releases=(Release(q=0.08, sigma=4.0, count=125),))
    """
    check.whole(1, MOST_BANDS, bands=bands)
    if q * bands > 1:
        raise ValueError(f"Expected bands={bands} to be at most 1/q = {1 / q:g}: a part would be less than a batch.")
    return Mechanism.constant(q * bands, sigma, int(rounds_of(steps, bands)[0]))


def rounds_of(steps: ArrayLike, bands: int) -> IntArray:
    """How many rounds of b iterations hold (n,) numbers of iterations.

    >>> rounds_of([1, 8, 9], 8).tolist()
    [1, 1, 2]
    """
    return -(-np.atleast_1d(np.asarray(steps, dtype=np.int64)) // bands)
