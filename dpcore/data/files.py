"""Files of every format: found, checked, and read as images and labels."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.data import arrays, cifar, idx
from dpcore.data.catalogue import Dataset
from dpcore.data.kinds import ArraysFile, CifarFile, File

Part = tuple[NDArray[Any], NDArray[np.uint8]]  # examples (n, ...) and labels (n,)


def checked(folder: Path, file: File) -> bytes:
    """The uncompressed bytes of a data set's file in the folder; ValueError if it is missing or not the one."""
    path = idx.find(folder, file)
    if path is None:
        raise ValueError(f"Expected {file.name} or {file.name}.gz in {folder}.")
    raw = idx.content(path, file)
    if isinstance(file, ArraysFile):
        return raw  # its parts are checked as they are read
    return cifar.checked(raw, file, path) if isinstance(file, CifarFile) else idx.checked(raw, file, path)


def parts_of(dataset: Dataset, folder: Path) -> tuple[Part, Part]:
    """Training and test part of the data set in a folder of its files, each one checked."""
    if dataset.arrays:
        raw = checked(folder, dataset.arrays)
        return arrays.parts(raw, dataset.arrays, len(dataset.classes), folder / dataset.arrays.name)
    if dataset.batches:
        *train, test = [cifar.images(checked(folder, each), each, folder / each.name) for each in dataset.batches]
        images, labels = zip(*train, strict=True)
        return (np.concatenate(images), np.concatenate(labels)), test
    train_images, train_labels, test_images, test_labels = (
        idx.array(checked(folder, each), each) for each in dataset.idx
    )
    return (train_images, train_labels), (test_images, test_labels)
