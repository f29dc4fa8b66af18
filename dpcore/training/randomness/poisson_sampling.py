"""Poisson sampling: the batches that the accountants charge for."""

import numpy as np
from numpy.typing import NDArray

from dpcore.training.randomness.random_words import BITS, RandomWords


def poisson_sample(n: int, q: float, words: RandomWords) -> NDArray[np.int64]:
    """Positions of the examples drawn, increasing: each of the n independently with probability q; maybe none.

    Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1, "take a random sample with probability L/N".
    Guarantees: the probability is floor(q 2^63) / 2^63, so at most q and above q - 2^-63. A lower rate never costs
    more, so what is charged covers what is drawn. A fixed number of words each time, so that the stream of a seed never
    shifts.

    >>> from dpcore.training.randomness.random_words import AesWords
    >>> poisson_sample(5, 1.0, AesWords(bytes(32)))
    array([0, 1, 2, 3, 4])
    """
    return np.flatnonzero(words.draw(n).numpy() <= int(q * 2**BITS) - 1)
