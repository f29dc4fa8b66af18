"""Batches: Poisson samples, and batches of whole epochs, whose cost `dpcore/privacy/sampling` proves."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpcore.training.randomness.random_words import BITS, AesWords, RandomWords


def poisson_sample(n: int, q: float, words: RandomWords) -> NDArray[np.int64]:
    """Increasing positions of the drawn examples: each of the n independently with probability q; maybe none.

    Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1, "take a random sample with probability L/N".
    Guarantees: the probability is floor(q 2^63) / 2^63, so at most q and above q - 2^-63. A lower rate never costs
    more, so the charge covers the draw. Each draw takes the same number of words, so that a seed's stream never shifts.

    >>> from dpcore.training.randomness.random_words import AesWords
    >>> poisson_sample(5, 1.0, AesWords(bytes(32)))
    array([0, 1, 2, 3, 4])
    """
    return np.flatnonzero(words.draw(n).numpy() <= int(q * 2**BITS) - 1)


class EpochBatches(ABC):
    """Batches of whole epochs of `length` steps; each epoch has its own random words, so that no state is needed."""

    def __init__(self, n: int, length: int, secret: bytes) -> None:
        self.n, self.length, self.secret = n, length, secret
        self.epoch, self.step_of = -1, np.zeros(n, dtype=np.int64)

    def drawn(self, step: int) -> NDArray[np.int64]:
        """Increasing positions of the examples in the batch of a step, from 1 on; maybe none."""
        epoch, place = divmod(step - 1, self.length)
        if epoch != self.epoch:
            words = AesWords(hashlib.sha256(self.secret + b"epoch %d" % epoch).digest())
            self.epoch, self.step_of = epoch, self.allotted(words)
        return np.flatnonzero(self.step_of == place)

    @abstractmethod
    def allotted(self, words: RandomWords) -> NDArray[np.int64]:
        """The step of each example in an epoch, 0 ... length - 1: (n,)."""


@final
class AllocatedBatches(EpochBatches):
    """Each example is in one step of the epoch, uniformly and independently of all other examples.

    >>> AllocatedBatches(8, 2, bytes(32)).drawn(1).tolist(), AllocatedBatches(8, 2, bytes(32)).drawn(2).tolist()
    ([1, 4, 7], [0, 2, 3, 5, 6])
    """

    def allotted(self, words: RandomWords) -> NDArray[np.int64]:
        """Words modulo the length; words above its largest multiple are drawn again, for equal chances."""
        limit = 2**BITS - 2**BITS % self.length
        found = words.draw(self.n).numpy().copy()
        while (beyond := np.flatnonzero(found >= limit)).size:
            found[beyond] = words.draw(beyond.size).numpy()
        return found % self.length


@final
class ShuffledBatches(EpochBatches):
    """The examples in a new order for each epoch, cut into batches whose sizes differ by 1 at most."""

    def allotted(self, words: RandomWords) -> NDArray[np.int64]:
        """The ranks of one word for each example; equal words would favour an order, so all are drawn again."""
        found = words.draw(self.n).numpy()
        while np.unique(found).size < self.n:
            found = words.draw(self.n).numpy()
        step_of = np.empty(self.n, dtype=np.int64)
        step_of[np.argsort(found)] = np.arange(self.n) * self.length // self.n
        return step_of


OF_EPOCHS: dict[str, Callable[[int, int, bytes], EpochBatches]] = {  # by the name of the accounting sampler
    "random_allocation": AllocatedBatches,
    "shuffle": ShuffledBatches,
}
