"""Features in a file: a header that says whose and which they are, then the numbers, checked by a hash when read."""

import hashlib
import json
import math
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

HEADER = 4096  # bytes: the numbers begin at a page of memory
FORMAT = 1  # of the file itself
KIND = np.dtype("<f2")


class Key(NamedTuple):
    """What features follow from, all of it; the name of their file is a hash of it."""

    part: str  # the fingerprint of the images
    kind: str
    version: int  # of the kind
    views: int
    machine: dict[str, str]  # what the last bit of a sum depends on
    shape: tuple[int, ...]  # (n, views, channels, h, w)

    @property
    def name(self) -> str:
        """The name of the file."""
        return hashlib.sha256(json.dumps([FORMAT, self]).encode()).hexdigest()[:32] + ".features"

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * KIND.itemsize

    def header(self, digest: str) -> bytes:
        """The file's first bytes, where its numbers have that digest."""
        text = json.dumps({"format": FORMAT, **self._asdict(), "digest": digest})
        return text.encode().ljust(HEADER - 1) + b"\n"


def read(path: Path, key: Key) -> tuple[Tensor, str] | None:
    """The features with that key and their digest; None where the file is missing, cut short, altered or another's.

    They are mapped from the file, not copied, so that processes share them. That is safe as nobody writes into a file
    that has its name: a new one replaces it, and a removed one lasts as long as it is mapped.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(HEADER)
            if os.fstat(file.fileno()).st_size != HEADER + key.size:
                return None
            values = np.memmap(file, KIND, "c", HEADER, key.shape)
        with suppress(OSError):
            os.utime(path)  # used just now: it is not the first to be removed
    except (OSError, ValueError):
        return None
    digest = digest_of(values)
    return (torch.from_numpy(values), digest) if header == key.header(digest) else None


def write(path: Path, key: Key, values: Tensor, digest: str) -> None:
    """Write the features of that key: the whole file or none. Errors: OSError, and what was there is as before."""
    numbers = values.numpy().astype(KIND, copy=False)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")  # of this process alone
    try:
        with open(aside, "xb") as file:
            file.write(key.header(digest))
            file.write(bytes_of(numbers))
            file.flush()
            os.fsync(file.fileno())  # else a power cut might leave the name with no bytes behind it
        os.replace(aside, path)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)  # half a file only takes room


def digest_of(numbers: np.ndarray) -> str:
    """SHA-256 of the numbers as they lie in the file."""
    return hashlib.sha256(bytes_of(numbers)).hexdigest()


def bytes_of(numbers: np.ndarray) -> memoryview:
    """The numbers as bytes, not copied."""
    return np.ascontiguousarray(numbers).reshape(-1).view(np.uint8).data
