"""Batches: Poisson samples, and batches of whole epochs, whose cost `dpcore/privacy/sampling`
proves.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from dpcore.training.randomness.random_words import BITS, AesWords, RandomWords


def poisson_sample(n: int, q: float, words: RandomWords) -> NDArray[np.int64]:
    """Increasing positions of the drawn examples: each of the n independently with probability q;
    maybe none.

    Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1, "take a random sample with probability
    L/N". Guarantees: the probability is floor(q 2^63) / 2^63, so at most q and above q - 2^-63. A
    lower rate never costs more, so the charge covers the draw. Each draw takes the same number of
    words, so that a seed's stream never shifts.

    >>> from dpcore.training.randomness.random_words import AesWords
    >>> poisson_sample(5, 1.0, AesWords(bytes(32)))
    array([0, 1, 2, 3, 4])
    """
    return np.flatnonzero(words.draw(n).numpy() <= int(q * 2**BITS) - 1)


def allocated(n: int, length: int, words: RandomWords) -> NDArray[np.int64]:
    """Each example's step 0 ... length - 1, uniform and independent of all other examples: (n,).

    Words modulo the length; words above its largest multiple are drawn again, for equal chances.
    """
    limit = 2**BITS - 2**BITS % length
    found = words.draw(n).numpy().copy()
    while (beyond := np.flatnonzero(found >= limit)).size:
        found[beyond] = words.draw(beyond.size).numpy()
    return found % length


def shuffled(n: int, length: int, words: RandomWords) -> NDArray[np.int64]:
    """Each example's step 0 ... length - 1, from a new order cut into batches whose sizes differ by
    1 at most: (n,).

    The order is that of one word for each example; equal words would favour one, so all are drawn
    again.
    """
    found = words.draw(n).numpy()
    while np.unique(found).size < n:
        found = words.draw(n).numpy()
    step_of = np.empty(n, dtype=np.int64)
    step_of[np.argsort(found)] = np.arange(n) * length // n
    return step_of


# By the name of the accounting sampler.
ALLOTTED = {"random_allocation": allocated, "shuffle": shuffled}


class EpochBatches:
    """Batches of whole epochs of `length` steps; each epoch has its own random words, so that no
    state is needed.

    >>> batches = EpochBatches("random_allocation", 8, 2, bytes(32))
    >>> batches.drawn(1).tolist(), batches.drawn(2).tolist()
    ([1, 4, 7], [0, 2, 3, 5, 6])
    """

    def __init__(self, sampler: str, n: int, length: int, secret: bytes) -> None:
        self.n, self.length, self._sampler, self._secret = n, length, sampler, secret
        self._epoch, self._step_of = -1, np.zeros(n, dtype=np.int64)

    def drawn(self, step: int) -> NDArray[np.int64]:
        """Increasing positions of the examples in the batch of a step, from 1 on; maybe none."""
        epoch, place = divmod(step - 1, self.length)
        if epoch != self._epoch:
            words = AesWords(hashlib.sha256(self._secret + b"epoch %d" % epoch).digest())
            self._epoch, self._step_of = epoch, ALLOTTED[self._sampler](self.n, self.length, words)
        return np.flatnonzero(self._step_of == place)
