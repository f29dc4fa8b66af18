"""Poisson sampling: the batches that the accountants charge for."""

import numpy as np
from numpy.typing import NDArray


def poisson_sample(n: int, q: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """Positions of the examples drawn, increasing: each of the n independently with probability q; maybe none.

    Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1, "take a random sample with probability L/N".
    Guarantees: a fixed number of random draws each time, so that the stream of a seed never shifts.

    >>> poisson_sample(5, 1.0, np.random.default_rng(0))
    array([0, 1, 2, 3, 4])
    """
    return np.flatnonzero(generator.random(n) < q)
