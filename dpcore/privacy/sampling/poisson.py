"""Poisson batches, which all others are compared with, and banded matrix mechanisms accounted for as such."""

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.sampling.base import Sampler, certified

MAX_BANDS = 10**6


@final
class Poisson(Sampler):
    """Every record takes part in every step with probability q, independently of all else.

    >>> import numpy as np
    >>> Poisson().curve(0.01, 4.0, 10_000, 1e-5).epsilon.round(2)
    array([0.95])
    """

    name: ClassVar[str] = "poisson"
    title: ClassVar[str] = "Poisson"
    phrase: ClassVar[str] = "Poisson batches"
    note: ClassVar[str] = (
        "Each record is in each batch with probability q, by a coin of its own. Nobody can know which batch holds it, "
        "not even knowing all other batches: that is what makes sampling hide so much."
    )
    source: ClassVar[str] = "dpcore/privacy/certified/README.md, Theorem 1"
    adjacency: ClassVar[str] = "add/remove"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        lower, upper, note = epsilon_bounds(Mechanism.constant(q, sigma, max(int(steps[-1]), 1)), steps, delta)
        return certified(steps, delta, lower, upper, note)


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
    check.whole(1, MAX_BANDS, bands=bands)
    if q * bands > 1:
        raise ValueError(f"Expected bands={bands} to be at most 1/q = {1 / q:g}: a part would be less than a batch.")
    return Mechanism.constant(q * bands, sigma, int(rounds_of(steps, bands)[0]))


def rounds_of(steps: ArrayLike, bands: int) -> IntArray:
    """How many rounds of b iterations hold (n,) numbers of iterations.

    >>> rounds_of([1, 8, 9], 8).tolist()
    [1, 1, 2]
    """
    return -(-np.atleast_1d(np.asarray(steps, dtype=np.int64)) // bands)
