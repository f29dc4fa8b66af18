"""The examples and labels of a data set as arrays; free of torch."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore import check
from dpcore.data import files
from dpcore.data.catalogue import (
    SOURCES,
    Dataset,
    data_root,
    dataset_of,
    in_debian_folder,
    missing,
    raw_folder,
    remedy,
    sample_path,
)


@dataclass(frozen=True, eq=False)
class Images:
    """Images, or examples of another kind, with their labels."""

    images: NDArray[Any]  # (n, 28, 28), in colour (n, 3, 32, 32), features (n, d); 16-bit ids (n, d)
    labels: NDArray[np.uint8]  # (n,) from 0

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Split:
    """A data set: what is trained on and what is tested on."""

    train: Images
    test: Images


def load(name: str, source: str) -> Split:
    """The training and test part of a data set.

    "sample" is the bundled one: 10,000 and 2,000 images, every class equally often. "full" is read from the data root,
    in torchvision's layout but without torchvision, whose import alone takes longer than the first epoch of some runs;
    or from Debian's package if that is installed. ValueError if the source is not here or not intact.

    >>> split = load("mnist", "sample")
    >>> split.train.images.shape, len(split.test)
    ((10000, 28, 28), 2000)
    """
    dataset = dataset_of(name)
    check.one_of(SOURCES, source=source)
    if source == "sample":
        if not dataset.sampled:
            raise ValueError(f"Expected source='full' for {dataset.title}: no sample of it is bundled.")
        return _sample(sample_path(dataset))
    faults = missing(dataset)
    if not faults:
        return split_of(dataset, raw_folder(dataset))
    if in_debian_folder(dataset) and dataset.debian_folder:
        return split_of(dataset, dataset.debian_folder)
    raise ValueError(f"Expected the full {dataset.title} under {data_root()}, but {faults[0]}; {remedy(dataset)}.")


def split_of(dataset: Dataset, folder: Path) -> Split:
    """The data set read from a folder of its files, gzipped or not, each one checked."""
    train, test = files.parts_of(dataset, folder)
    return Split(Images(*train), Images(*test))


@lru_cache(maxsize=1)
def _sample(path: Path) -> Split:
    """The bundled sample, at hand once it has been read: a worker reads it while it waits for a run."""
    with np.load(path) as parts:
        arrays = {name: parts[name] for name in parts}
    for array in arrays.values():
        array.flags.writeable = False
    return Split(*(Images(arrays[f"{part}_images"], arrays[f"{part}_labels"]) for part in ("train", "test")))
