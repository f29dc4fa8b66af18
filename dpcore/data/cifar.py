"""CIFAR-10's Python batches: reading them without running what a pickle may say, and checking each one.

A batch is a pickled dictionary: b"data" (n, 3072) unsigned bytes, red, green and blue planes of 32x32; b"labels" n
numbers. Source: Krizhevsky 2009, "Learning multiple layers of features from tiny images", and its data page.
"""

import hashlib
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.data.kinds import CifarFile

SHAPE = (3, 32, 32)  # channels, height, width
HARMLESS = {  # all that a batch needs: arrays and byte strings
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}


class Reader(pickle.Unpickler):
    """An unpickler that knows arrays and byte strings only."""

    def find_class(self, module: str, name: str) -> Any:
        """The named function if it is harmless; UnpicklingError otherwise."""
        if (module, name) not in HARMLESS:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def checked(raw: bytes, file: CifarFile, path: Path) -> bytes:
    """The same bytes, if they are the file's: MD5 sum, and a batch of its images; ValueError otherwise."""
    md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if md5 != file.md5:
        raise ValueError(f"Expected {path} to have MD5 {file.md5}; it has {md5}.")
    images(raw, file, path)
    return raw


def images(raw: bytes, file: CifarFile, path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images (n, 3, 32, 32) and labels (n,) of a batch; ValueError if it is none."""
    try:
        batch = Reader(io.BytesIO(raw), encoding="bytes").load()
        pixels, labels = batch[b"data"], np.array(batch[b"labels"], dtype=np.uint8)
        return pixels.astype(np.uint8, casting="safe").reshape(file.count, *SHAPE), labels.reshape(file.count)
    except Exception as error:  # a damaged pickle may raise anything
        raise ValueError(f"Expected {path} to be a CIFAR-10 Python batch of {file.count} images; {error}.") from error
