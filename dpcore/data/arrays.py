"""Examples that are no images, in one file of known length: `data import` writes it, and it is checked when read."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.data.kinds import ArraysFile

Part = tuple[NDArray[Any], NDArray[np.uint8]]  # examples (n, ...) and labels (n,)


def written(train: Part, test: Part, file: ArraysFile) -> bytes:
    """Both parts as the bytes of the file."""
    kind = kind_of(file)
    return b"".join(
        examples.astype(kind).tobytes() + labels.astype(np.uint8).tobytes() for examples, labels in (train, test)
    )


def parts(raw: bytes, file: ArraysFile, classes: int, path: Path) -> tuple[Part, Part]:
    """The training and the test part of the file's bytes; ValueError where they are not what they should be."""
    if len(raw) != file.size:
        raise ValueError(f"Expected {path} to hold {file.size} bytes; it holds {len(raw)}.")
    kind, start, found = kind_of(file), 0, []
    for count in (file.train, file.test):
        shape = (count, *file.shape)
        examples = np.frombuffer(raw, kind, int(np.prod(shape)), start).reshape(shape)
        labels = np.frombuffer(raw, np.uint8, count, start + examples.nbytes)
        start += examples.nbytes + count
        if labels.max() >= classes or (file.ids and examples.max() >= file.ids):
            raise ValueError(f"Expected {path} to name known classes and ids only; import it again.")
        found.append((examples, labels))
    return found[0], found[1]


def kind_of(file: ArraysFile) -> np.dtype:
    """The kind of an example's numbers."""
    return np.dtype("<u2" if file.ids else np.uint8)
