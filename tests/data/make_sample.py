"""Write the bundled samples: python -m tests.data.make_sample DIR, with the full sets' IDX files
under DIR.

The first 1,000 training and 200 test images of every class, in their original order: the same bytes
on every machine.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpcore.data.catalogue import DATASETS, SAMPLES, Dataset, raw_folder
from dpcore.data.loading import Images, part_of


def first_of_each(labels: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
    """Return the positions of the first `count` examples of every class, increasing.

    >>> first_of_each(np.array([3, 3, 5, 3, 5], np.uint8), 1)
    array([0, 2])
    """
    return np.sort(
        np.concatenate([np.flatnonzero(labels == label)[:count] for label in np.unique(labels)])
    )


def stratified(part: Images, per_class: int) -> Images:
    """Return the first `per_class` examples of every class."""
    chosen = first_of_each(part.labels, per_class)
    return Images(part.images[chosen], part.labels[chosen])


def write_sample(dataset: Dataset, folder: Path, path: Path) -> None:
    """Write the sample of the data set whose IDX files are in the folder."""
    train, test = (part_of(dataset, folder, test=part) for part in (False, True))
    train, test = stratified(train, 1000), stratified(test, 200)
    note = (
        f"A sample of {dataset.title}: the first 1,000 training and 200 test images of every class,"
        " unchanged."
    )
    np.savez_compressed(
        path,
        train_images=train.images,
        train_labels=train.labels,
        test_images=test.images,
        test_labels=test.labels,
        classes=np.array(dataset.classes),
        note=np.array(note),
        origin=np.array(dataset.origin),
        licence=np.array(dataset.licence),
    )


if __name__ == "__main__":
    for each in (dataset for dataset in DATASETS.values() if dataset.sampled):
        write_sample(each, raw_folder(each, Path(sys.argv[1])), SAMPLES / f"{each.name}.npz")
