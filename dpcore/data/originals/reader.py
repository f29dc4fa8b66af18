"""What reads the original files of a data set: how they are found, and the two parts that they make."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpcore.data.arrays import Part
from dpcore.data.kinds import ArraysFile


@dataclass(frozen=True)
class Reader:
    """How the files of a data set become its two parts."""

    dataset: str  # its id
    find: Callable[[Path, ArraysFile], Path | None]  # in a folder, or the archive itself; None: they are not there
    read: Callable[
        [Path, ArraysFile], tuple[Part, Part]
    ]  # what was found; ValueError where it is not what it should be


def by_place(examples: NDArray, labels: NDArray, file: ArraysFile, what: str) -> tuple[Part, Part]:
    """Rows in a training and a test part, by their places alone: no value has a say in which row is where.

    ValueError where there are not as many rows as the data set has.
    """
    count = file.train + file.test
    if len(labels) != count:
        raise ValueError(f"Expected {count} {what}; there are {len(labels)}.")
    order = shuffled(count)
    test, train = order[: file.test], order[file.test :]
    return (examples[train], labels[train]), (examples[test], labels[test])


def shuffled(count: int) -> NDArray[np.int64]:
    """So many places in an order that is always the same."""
    return np.random.RandomState(0).permutation(count)  # NumPy never changes what this generator returns
