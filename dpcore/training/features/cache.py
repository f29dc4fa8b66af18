"""Features of a part of a data set, computed once and kept below the data root if possible."""

import hashlib
import json
import math
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dpcore.data.catalogue import data_root
from dpcore.data.loading import Images
from dpcore.regular_file import open_regular
from dpcore.training.features.compute import Steps, compute_features, image_shape
from dpcore.training.features.kinds import KINDS
from dpcore.training.randomness.random_words import machine_of
from dpcore.whole_file import whole_file

HEADER = 4096  # bytes: the numbers begin at a page of memory
FORMAT = 1  # of the file itself
KIND = np.dtype("<f2")


class Key(NamedTuple):
    """The key of features; the name of their file is its hash."""

    part: str  # the fingerprint of the images
    kind: str
    version: int  # of the kind
    views: int
    machine: dict[str, str]  # on which the last bit of a sum depends
    shape: tuple[int, ...]  # (n, views, channels, h, w)

    @property
    def name(self) -> str:
        return hashlib.sha256(json.dumps([FORMAT, self]).encode()).hexdigest()[:32] + ".features"

    @property
    def size(self) -> int:
        """The bytes of the numbers."""
        return math.prod(self.shape) * KIND.itemsize

    def header(self, digest: str) -> bytes:
        """The first bytes of the file, for numbers of that digest."""
        text = json.dumps({"format": FORMAT, **self._asdict(), "digest": digest})
        return text.encode().ljust(HEADER - 1) + b"\n"


class Features(NamedTuple):
    values: Tensor  # (n, views, channels, h, w), float16 on the CPU; read-only
    digest: str  # SHA-256 of the values, which must be the same for a resumed run
    note: str = ""  # a sentence if they could not be kept; empty otherwise


def read(path: Path, key: Key) -> Features | None:
    """The features with that key; None if the file is missing, incomplete, altered or of another
    key.

    They are mapped from the file, so that processes share them: nobody writes into a named file,
    and a removed one lasts as long as it is mapped.
    """
    try:
        with open_regular(path) as file:
            header = file.read(HEADER)
            if os.fstat(file.fileno()).st_size != HEADER + key.size:
                return None
            values = np.memmap(file, KIND, "c", HEADER, key.shape)
        with suppress(OSError):
            os.utime(path)  # used just now, so it is not the first to be removed
    except (OSError, ValueError):
        return None
    digest = digest_of(values)
    if header != key.header(digest):
        return None
    return Features(torch.from_numpy(values), digest)


def digest_of(numbers: np.ndarray) -> str:
    """SHA-256 of the numbers as in the file."""
    return hashlib.sha256(numbers.ravel().data).hexdigest()


MAX_BYTES = 4 * 10**9  # bytes of all files together
UNFINISHED_FOR = 3600.0  # seconds without a change after which an unfinished file is removed


def load_or_compute(
    part: Images, kind: str, views: int, *, cores: int | None = None, root: Path | None = None
) -> Steps[Features]:
    """The features of all examples of a part, in their order, for each of `views` views, with
    progress.

    They are read from the features' folder below the root (None: the data root), or computed and
    kept there; equal bits either way. Processes that need the same ones at once each compute them.
    Errors: ValueError for examples that the kind does not take.
    """
    folder = (root or data_root()) / "features"
    key = key_of(part, kind, views)
    if found := read(folder / key.name, key):
        return found
    values = yield from compute_features(part.images, KINDS[kind], views, cores)
    digest = digest_of(values.numpy())
    return Features(values, digest, keep(folder, key, values, digest))


def kept(part: Images, kind: str, views: int, root: Path | None = None) -> bool:
    """True if there is a file of these features."""
    return ((root or data_root()) / "features" / key_of(part, kind, views).name).exists()


def key_of(part: Images, kind: str, views: int) -> Key:
    """The key of the features of a part. Errors: ValueError if there are none."""
    chosen = KINDS[kind]
    machine = machine_of(torch.device("cpu"), 1)
    shape = chosen.shape_of(image_shape(part.images))
    return Key(part.fingerprint, kind, chosen.version, views, machine, (len(part), views, *shape))


def keep(folder: Path, key: Key, values: Tensor, digest: str) -> str:
    """Write the features into the folder, in place of older ones if needed; return a sentence on a
    failure, or "".
    """
    if key.size > MAX_BYTES:
        return (
            f"The features are not kept: {key.size} bytes are more than the {MAX_BYTES} that"
            f" {folder} may hold."
        )
    try:
        make_room(folder, HEADER + key.size)
        with whole_file(folder / key.name, shared=True) as file:
            file.write(key.header(digest))
            file.write(np.ascontiguousarray(values.numpy(), KIND).data)
    except OSError as error:
        return (
            f"The features could not be kept in {folder}, so the next run computes them again;"
            f" {error}."
        )
    return ""


def make_room(folder: Path, size: int) -> None:
    """Remove unfinished files, and the least recently used features until `size` bytes are free."""
    for file in folder.glob(".*.part"):
        with suppress(FileNotFoundError):  # another process has just renamed or removed it
            if time.time() - file.stat().st_mtime > UNFINISHED_FOR:
                file.unlink()
    # Another process has just removed one, since it makes room itself.
    with suppress(FileNotFoundError):
        files = sorted(folder.glob("*.features"), key=lambda file: file.stat().st_mtime)
        while files and size + sum(file.stat().st_size for file in files) > MAX_BYTES:
            files.pop(0).unlink()
