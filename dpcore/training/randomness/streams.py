"""Where a run's random numbers come from.

A run starts from a seed. By default that is a secret of 128 bits from the operating system, kept beside the run and
never shown. A run may choose a fixed seed instead: then it can be repeated, and whoever knows the seed can draw the
noise again and subtract it.

The weights start from the seed alone. All else follows from the seed and the settings together: two runs that differ in
any setting share no noise, so that the difference of what they release is as noisy as each of them. Two settings are
left out: a moving average changes nothing of the run beside it, and a run without privacy has the batches of the
private one whose other settings are the same. A setting at its default does not enter, so that a new one changes no
earlier run.

**Guarantees:** a secret seed is one of 2^128, and every stream keeps as many, but for two: whoever knows neither secret
nor noise has to try them all. CUDA's own generator keeps 63 bits of what it is given; a run whose noise generator is
"secure" does not draw from it. The first weights, which are public, have a seed of 63 bits that says nothing of the
others. A fixed seed is one of 2^63, which is no secret however large it is. The README beside this file says which
generators are cryptographic ones.

Batches are Poisson samples, or such that every epoch holds each example exactly once: drawn by allotting examples to
steps, or by a shuffle. Those cost what `dpcore/privacy/sampling` proves of them, not what Poisson batches cost.
"""

import hashlib
import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from dpcore.training.config import RunConfig
from dpcore.training.randomness.random_words import BITS, AesWords, RandomWords

LEFT_OUT = ("private", "ema")
SECRET_BITS = 128


class Streams(NamedTuple):
    """What each kind of random number starts from; no two of them share any."""

    weights: int  # of torch.manual_seed
    batches: SeedSequence
    noise: SeedSequence
    chances: SeedSequence  # of simulated annealing
    projection: SeedSequence  # noise of DP-PCA
    relevance: SeedSequence  # noise of ADPPL's relevances
    mean: SeedSequence  # noise of the private mean


def new_secret() -> int:
    """A fresh secret seed from the operating system."""
    return secrets.randbits(SECRET_BITS)


def streams_of(config: RunConfig, secret: int | None = None) -> Streams:
    """The streams of a run; `secret` is the seed of one that has no fixed seed.

    Errors: ValueError for a run without any seed.
    """
    if config.seed is None and secret is None:
        raise ValueError("Expected a secret for a run without a fixed seed.")
    start = config.seed if config.seed is not None else _digest("weights", secret)
    weights = int(SeedSequence(start).generate_state(1, np.uint64)[0]) % 2**63
    settings = {name: value for name, value in config.chosen().items() if name not in LEFT_OUT}
    all_else = SeedSequence(_digest(settings, secret if config.seed is None else None))
    return Streams(weights, *all_else.spawn(len(Streams._fields) - 1))


def fingerprint(secret: int | None) -> str:
    """What tells one secret from others and gives nothing of it away; empty for a run with a fixed seed."""
    return "" if secret is None else f"{_digest('fingerprint', secret):064x}"


def _digest(what: object, secret: int | None) -> int:
    """256 bits that depend on both; nobody who lacks the secret can tell them from chance."""
    text = json.dumps([what, None if secret is None else f"{secret:032x}"], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


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


class EpochBatches(ABC):
    """Batches of whole epochs of `length` steps; each epoch has words of its own, so that nothing needs to be kept."""

    def __init__(self, n: int, length: int, secret: bytes) -> None:
        self.n, self.length, self.secret = n, length, secret
        self.epoch, self.step_of = -1, np.zeros(n, dtype=np.int64)

    def drawn(self, step: int) -> NDArray[np.int64]:
        """Positions of the examples in the batch of a step, from 1 on, increasing; maybe none."""
        epoch, place = divmod(step - 1, self.length)
        if epoch != self.epoch:
            words = AesWords(hashlib.sha256(self.secret + b"epoch %d" % epoch).digest())
            self.epoch, self.step_of = epoch, self.allotted(words)
        return np.flatnonzero(self.step_of == place)

    @abstractmethod
    def allotted(self, words: RandomWords) -> NDArray[np.int64]:
        """In which step of an epoch each example is, 0 ... length - 1: (n,)."""


@final
class AllocatedBatches(EpochBatches):
    """Each example in one step of the epoch, all steps being equally likely, independently of all other examples.

    >>> AllocatedBatches(8, 2, bytes(32)).drawn(1).tolist(), AllocatedBatches(8, 2, bytes(32)).drawn(2).tolist()
    ([1, 4, 7], [0, 2, 3, 5, 6])
    """

    def allotted(self, words: RandomWords) -> NDArray[np.int64]:
        """Words modulo the length; those above its largest multiple are drawn again, so that no step is likelier."""
        limit = 2**BITS - 2**BITS % self.length
        found = words.draw(self.n).numpy().copy()
        while (beyond := np.flatnonzero(found >= limit)).size:
            found[beyond] = words.draw(beyond.size).numpy()
        return found % self.length


@final
class ShuffledBatches(EpochBatches):
    """The examples in a new order for each epoch, cut into batches whose sizes differ by 1 at most."""

    def allotted(self, words: RandomWords) -> NDArray[np.int64]:
        """By the rank of a word for each example; equal words, which would favour an order, are all drawn again."""
        found = words.draw(self.n).numpy()
        while np.unique(found).size < self.n:
            found = words.draw(self.n).numpy()
        step_of = np.empty(self.n, dtype=np.int64)
        step_of[np.argsort(found)] = np.arange(self.n) * self.length // self.n
        return step_of


OF_EPOCHS: dict[str, Callable[[int, int, bytes], EpochBatches]] = {  # by the name of the sampler that accounts for them
    "random_allocation": AllocatedBatches,
    "shuffle": ShuffledBatches,
}
