"""Full data sets for `tests.benchmarks.gpu`, or samples repeated to their size where they are not at hand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from unittest.mock import patch

import numpy as np

from dpcore.data.loading import Images, Split, load
from dpcore.training import inputs

FULL = 60_000  # training examples of MNIST and of Fashion-MNIST


@contextmanager
def data_for(source: str) -> Iterator[Callable[[str], str]]:
    """Full data sets; for one that is not at hand its sample stands in, repeated. What gives the name of what it is."""

    def named(dataset: str) -> str:
        return source if source != "full" or at_hand(dataset) else f"sample, repeated to {FULL:,}"

    def loaded(dataset: str, wanted: str) -> Split:
        return full(dataset) if wanted == "full" else load(dataset, wanted)

    with patch.object(inputs, "load", loaded):
        yield named


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
    return Images(part.images[rows], part.labels[rows])
