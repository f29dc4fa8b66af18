"""Full data sets for `tests.benchmarks.gpu`, or samples repeated to their size where they are not at hand.

Features of a sample that stands in are computed once for each of its examples, and then repeated too. Where only time
is measured they are made up, so that no processor has to be waited for.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from unittest.mock import patch
from weakref import WeakKeyDictionary

import numpy as np
import torch

from dpcore.data.loading import Images, Split, load
from dpcore.training import inputs
from dpcore.training.config import RunConfig
from dpcore.training.features.cache import Features, finding
from dpcore.training.features.kinds import kind_of
from dpcore.training.features.pieces import Steps, image_shape
from tests.benchmarks import made_up as invented

FULL = 60_000  # training examples of MNIST and of Fashion-MNIST
ORIGINALS: WeakKeyDictionary[Images, Images] = WeakKeyDictionary()  # what is repeated -> the sample that it repeats


@contextmanager
def data_for(source: str, *, made_up: bool = False) -> Iterator[Callable[[RunConfig], str]]:
    """Full data sets; for one that is not at hand its sample stands in, repeated. What gives the name of what it is.

    Features may be `made_up`.
    """

    def named(config: RunConfig) -> str:
        if made_up and config.features != "pixels":
            return f"made-up features of {config.examples:,} examples"
        return source if source != "full" or at_hand(config.dataset) else f"sample, repeated to {FULL:,}"

    def loaded(dataset: str, wanted: str) -> Split:
        return full(dataset) if wanted == "full" else load(dataset, wanted)

    with patch.object(inputs, "load", loaded), patch.object(inputs, "finding", inventing if made_up else repeating):
        yield named


def inventing(part: Images, kind: str, views: int) -> Steps[Features]:
    """Features of the right shape that say nothing of the examples."""
    yield len(part), len(part)
    return Features(invention(len(part), views, kind_of(kind).shape_of(image_shape(part.images))), "made up")


@lru_cache(maxsize=2)
def invention(n: int, views: int, shape: tuple[int, ...]) -> torch.Tensor:
    """The same for every contender: those of 60,000 examples take half a gigabyte."""
    return invented.features(n, (views, *shape))


def repeating(part: Images, kind: str, views: int) -> Steps[Features]:
    """The features that a run finds, those of a repeated sample without computing any of them twice."""
    original = ORIGINALS.get(part, part)
    found = yield from finding(original, kind, views)
    if original is part:
        return found
    return found._replace(values=found.values[torch.arange(len(part)) % len(original)])


@lru_cache(maxsize=2)
def full(dataset: str) -> Split:
    """The full data set, or its sample repeated."""
    if at_hand(dataset):
        return load(dataset, "full")
    sample = load(dataset, "sample")
    return Split(repeated(sample.train, FULL), sample.test)


@lru_cache
def at_hand(dataset: str) -> bool:
    """Whether the full data set is here."""
    try:
        return bool(load(dataset, "full"))
    except ValueError:
        return False


def repeated(part: Images, n: int) -> Images:
    """The examples over and over again, n of them."""
    rows = np.arange(n) % len(part)
    again = Images(part.images[rows], part.labels[rows])
    ORIGINALS[again] = part
    return again
