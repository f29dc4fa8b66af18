"""Batches of a training: its sampler of `dpcore/privacy/sampling` draws them and proves their cost.

A sampler gives each example its step in a round, from random words: an epoch, or one step.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from dpcore.privacy.sampling import SAMPLERS, steps_of_epoch
from dpcore.training.randomness.random_words import AesWords, RandomWords


def step_of_each(sampler: str, n: int, q: float, words: RandomWords) -> NDArray[np.int64]:
    """The step of each of n examples within a round; -1 for an example in none: (n,)."""
    draw = SAMPLERS[sampler].draw
    assert draw is not None  # the settings have no other sampler

    def numbers(count: int) -> NDArray[np.int64]:
        return words.draw(count).numpy()

    return draw(n, q, numbers)


def batch_of_step(sampler: str, n: int, q: float, words: RandomWords) -> NDArray[np.int64]:
    """Increasing positions of the examples in a batch that is drawn for itself; maybe none.

    >>> batch_of_step("poisson", 5, 1.0, AesWords(bytes(32)))
    array([0, 1, 2, 3, 4])
    """
    return np.flatnonzero(step_of_each(sampler, n, q, words) == 0)


class EpochBatches:
    """Batches of whole epochs; each epoch has its own random words, so that no state is needed.

    >>> batches = EpochBatches("random_allocation", 8, 1 / 2, bytes(32))
    >>> batches.drawn(1).tolist(), batches.drawn(2).tolist()
    ([1, 4, 7], [0, 2, 3, 5, 6])
    """

    def __init__(self, sampler: str, n: int, q: float, secret: bytes) -> None:
        self.n = n
        self.length = steps_of_epoch(q)
        self._q = q
        self._sampler = sampler
        self._secret = secret
        self._epoch = -1
        self._step_of = np.zeros(n, dtype=np.int64)

    def drawn(self, step: int) -> NDArray[np.int64]:
        """Increasing positions of the examples in the batch of a step, from 1 on; maybe none."""
        epoch, place = divmod(step - 1, self.length)
        if epoch != self._epoch:
            words = AesWords(hashlib.sha256(self._secret + b"epoch %d" % epoch).digest())
            self._epoch = epoch
            self._step_of = step_of_each(self._sampler, self.n, self._q, words)
        return np.flatnonzero(self._step_of == place)
