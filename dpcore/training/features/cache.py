"""Features of a part of a data set, computed once and kept below the data root.

What cannot be read is computed, what cannot be kept is used all the same. Like the data beside it a file is as private
as the images are.
"""

import hashlib
import json
import math
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dpcore import check
from dpcore.data.catalogue import data_root
from dpcore.data.loading import Images, fingerprint_of_part
from dpcore.training.features.compute import MAX_VIEWS, Steps, compute_features, image_shape
from dpcore.training.features.kinds import kind_of
from dpcore.training.randomness.random_words import machine_of

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
    numbers = np.ascontiguousarray(values.numpy(), KIND)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")  # of this process alone
    try:
        with open(aside, "xb") as file:
            file.write(key.header(digest))
            file.write(numbers.data)
            file.flush()
            os.fsync(file.fileno())  # else a power cut might leave the name with no bytes behind it
        os.replace(aside, path)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)  # half a file only takes room


def digest_of(numbers: np.ndarray) -> str:
    """SHA-256 of the numbers as they lie in the file."""
    return hashlib.sha256(numbers.ravel().data).hexdigest()


POLL_SECONDS = 0.2  # seconds between two looks at whether the turn has come
PATIENCE_SECONDS = 120.0  # seconds without a further image after which nobody is waited for: a process may be suspended


class Turn:
    """The turn that goes with a lock file, asked for again and again until it comes; over when it is closed.

    Whoever has the turn holds a lock on a file of its own, which the operating system takes from a process that is
    killed. That file is as many bytes long as images are done, so that those who wait can say so: it holds nothing and
    takes no room. A turn saves work and protects nothing: where there is no lock to be had, and where whoever has the
    turn gets no further, nobody is waited for.
    """

    def __init__(self, path: Path) -> None:
        self.done = 0  # images, of whoever has the turn
        self._path = path
        self._file: IO[bytes] | None = None  # of the lock that is held
        self._heard = time.monotonic()  # when another number of images was seen

    def close(self) -> None:
        """Remove the lock file; whoever opened it just before may compute beside the next one, to the same bits."""
        if self._file:
            with suppress(OSError):
                self._path.unlink()
            self._file.close()

    def awaited(self, total: int) -> Iterator[tuple[int, int]]:
        """Until it comes: how many images are done, and of how many, also while that stays the same."""
        while not self.came():
            yield min(self.done, total), total
            time.sleep(POLL_SECONDS)

    def came(self) -> bool:
        """Whether nobody is waited for any more: the turn is taken, or there is none to be had. Does not block."""
        with ExitStack() as undone:
            try:
                import fcntl  # late: not every system has it

                self._path.parent.mkdir(parents=True, exist_ok=True)
                file = undone.enter_context(open(self._path, "ab"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                done = os.fstat(file.fileno()).st_size
                if done != self.done:
                    self.done, self._heard = done, time.monotonic()
                return time.monotonic() - self._heard > PATIENCE_SECONDS
            except (OSError, ImportError):  # nothing can be written there, or locked
                return True
            undone.pop_all()
        self._file = file
        self.tell(0)
        return True

    def tell(self, done: int) -> None:
        """Tell those who wait how many images are done."""
        if self._file:
            with suppress(OSError):
                self._file.truncate(done)


MAX_BYTES = 4 * 10**9  # bytes of all files together
UNFINISHED_FOR = 3600.0  # seconds without a word after which what was never finished, or its lock file, is removed


class Features(NamedTuple):
    """Features and what there is to say of them."""

    values: Tensor  # (n, views, channels, h, w), float16 on the CPU; nobody writes to them
    digest: str  # SHA-256 of the values: a run that is taken up again must find the same
    note: str = ""  # a sentence where they could not be kept; empty otherwise


def load_or_compute(
    part: Images, kind: str, views: int, *, cores: int | None = None, root: Path | None = None
) -> Steps[Features]:
    """The features of all examples of a part, in their order, each of `views` views of it, some at a time.

    They are read from the features' folder below the root (None: the data root), or computed and kept there. Whoever
    computes the same ones is waited for, and says how far that is; where that comes to nothing they are computed here.
    **Guarantees:** the same bits whether read or computed, on any number of `cores`.
    Errors: ValueError for an unknown kind, a number of views that is not from 1 to 16, and examples that the kind does
    not take.
    """
    folder = (root or data_root()) / "features"
    key = key_of(part, kind, views)
    found = read(folder / key.name, key)
    if found is None and key.size > MAX_BYTES:  # nobody will keep them, so that it is no use to wait for anybody
        return (yield from compute_and_keep(part, key, folder, cores))
    if found is None:
        with closing(Turn(folder / f".{key.name}.lock")) as turn:
            yield from turn.awaited(len(part))
            found = read(folder / key.name, key)  # by now somebody else may have kept them
            if found is None:
                return (yield from compute_and_keep(part, key, folder, cores, turn.tell))
    yield len(part), len(part)
    return Features(*found)


def compute_and_keep(
    part: Images, key: Key, folder: Path, cores: int | None, tell: Callable[[int], None] = lambda done: None
) -> Steps[Features]:
    """Features that are computed and, where that can be, kept; `tell` hears how far they are, too."""
    values = yield from compute_features(part.images, kind_of(key.kind), key.views, cores, tell)
    digest = digest_of(values.numpy())
    return Features(values, digest, keep(folder, key, values, digest))


def key_of(part: Images, kind: str, views: int) -> Key:
    """What the features of a part follow from; ValueError where there are none."""
    check.whole(1, MAX_VIEWS, views=views)
    check.whole(1, examples=len(part))
    chosen, machine = kind_of(kind), machine_of(torch.device("cpu"), 1)
    shape = chosen.shape_of(image_shape(part.images))
    return Key(fingerprint_of_part(part), kind, chosen.version, views, machine, (len(part), views, *shape))


def keep(folder: Path, key: Key, values: Tensor, digest: str) -> str:
    """Write the features into the folder, where older ones make room; a sentence where they cannot be kept, else ""."""
    if key.size > MAX_BYTES:
        return f"The features are not kept: {key.size} bytes are more than the {MAX_BYTES} that {folder} may hold."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        make_room(folder, HEADER + key.size)
        write(folder / key.name, key, values, digest)
    except OSError as error:
        return f"The features could not be kept in {folder}, so the next run computes them again; {error}."
    return ""


def make_room(folder: Path, size: int) -> None:
    """Remove what was never finished, and of the features those used the longest ago, until so many bytes are free."""
    for file in (*folder.glob(".*.part"), *folder.glob(".*.lock")):
        if time.time() - file.stat().st_mtime > UNFINISHED_FOR:
            file.unlink(missing_ok=True)
    files = sorted(folder.glob("*.features"), key=lambda file: file.stat().st_mtime)
    while files and size + sum(file.stat().st_size for file in files) > MAX_BYTES:
        files.pop(0).unlink(missing_ok=True)
