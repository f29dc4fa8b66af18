"""Examples and labels of a data set as arrays, and a hash that identifies it; free of torch."""

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore import check
from dpcore.data import catalogue
from dpcore.data.formats import checked_content


@dataclass(frozen=True, eq=False)
class Images:
    """Images, or examples of another kind, with their labels."""

    # (n, 28, 28), in colour (n, 3, 32, 32), features (n, d); 16-bit ids (n, d).
    images: NDArray[Any]
    labels: NDArray[np.uint8]  # (n,) from 0

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property  # a sample's is known when the next run begins
    def fingerprint(self) -> str:
        """SHA-256 over examples and labels, their shapes and types; as little private as
        `fingerprint_of`.
        """
        digest = hashlib.sha256()
        for array in (self.images, self.labels):
            digest.update(f"{array.dtype.newbyteorder('<').str} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Split:
    """The training and the test part of a data set."""

    train: Images
    test: Images


def load(name: str, source: str) -> Split:
    """Load the training and test part of a data set.

    "sample" is bundled: 10,000 and 2,000 images, every class equally often. "full" is read from the
    data root in torchvision's layout, without torchvision's slow import, or from Debian's package.
    ValueError if the source is missing or damaged.

    >>> split = load("mnist", "sample")
    >>> split.train.images.shape, len(split.test)
    ((10000, 28, 28), 2000)
    """
    dataset = catalogue.dataset_of(name)
    check.one_of(catalogue.SOURCES, source=source)
    if source == "sample":
        if not dataset.sampled:
            raise ValueError(
                f"Expected source='full' for {dataset.title}: no sample of it is bundled."
            )
        return _sample(catalogue.SAMPLES / f"{name}.npz")
    folder = _folder_of(dataset)
    if not dataset.arrays:
        return Split(part_of(dataset, folder, test=False), part_of(dataset, folder, test=True))
    raw = checked_content(folder, dataset.arrays)
    path = folder / dataset.arrays.name
    train, test = dataset.arrays.read(raw, path, len(dataset.classes))
    split = Split(Images(*train), Images(*test))
    if dataset.fingerprint not in ("", fingerprint_of(split)):
        raise ValueError(
            f"Expected {folder} to hold the images that were imported; delete it, and import them"
            " again."
        )
    return split


def load_test_images(name: str, source: str) -> Images:
    """Load only the test part of a data set of images, from its own files.

    Errors as those of `load`.

    >>> len(load_test_images("mnist", "sample"))
    2000
    """
    dataset = catalogue.dataset_of(name)
    if source == "sample" or dataset.arrays:
        return load(name, source).test
    return part_of(dataset, _folder_of(dataset), test=True)


def _folder_of(dataset: catalogue.Dataset) -> Path:
    """Return the folder of the full set's files; ValueError if they are missing."""
    faults = catalogue.missing(dataset)
    if not faults:
        return catalogue.raw_folder(dataset)
    if catalogue.in_debian_folder(dataset) and dataset.debian_folder:
        return dataset.debian_folder
    raise ValueError(
        f"Expected the full {dataset.title} under {catalogue.data_root()}, but {faults[0]};"
        f" {catalogue.remedy(dataset)}."
    )


def part_of(dataset: catalogue.Dataset, folder: Path, *, test: bool) -> Images:
    """Read a part of a data set from its IDX files or Python batches, gzipped or not, each one
    checked.
    """
    if dataset.idx:
        images, labels = dataset.idx[2:] if test else dataset.idx[:2]
        raw = checked_content(folder, images)
        return Images(images.read(raw), labels.read(checked_content(folder, labels)))
    batches = dataset.batches[-1:] if test else dataset.batches[:-1]
    parts = [each.read(checked_content(folder, each), folder / each.name) for each in batches]
    images, labels = zip(*parts, strict=True)
    return Images(np.concatenate(images), np.concatenate(labels))


@lru_cache(maxsize=2)  # both samples: a waiting worker has looked at each
def _sample(path: Path) -> Split:
    """Read the bundled sample once: a worker does so while it waits for a run."""
    with np.load(path) as parts:
        train = Images(_fixed(parts["train_images"]), _fixed(parts["train_labels"]))
        test = Images(_fixed(parts["test_images"]), _fixed(parts["test_labels"]))
    return Split(train, test)


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def fingerprint_of(split: Split) -> str:
    """Return SHA-256 over the training and the test part: examples and labels, their shapes and
    types.

    **No guarantee of privacy:** it is an exact function of the data, and no epsilon covers it. An
    attacker who knows all examples but one can try candidates for the last. Show it for public data
    only.

    >>> fingerprint_of(load("mnist", "sample"))[:16]
    'b89a8a18179fe38a'
    """
    return hashlib.sha256(f"{split.train.fingerprint}{split.test.fingerprint}".encode()).hexdigest()
