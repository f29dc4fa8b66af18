"""Files of data sets: IDX files, CIFAR-10's Python batches, and arrays that `data import` writes.

The size of a file is limited, its bytes are checked, and each kind reads them as examples and
labels.
"""

import gzip
import hashlib
import math
import os
import pickle
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from dpcore.regular_file import open_regular

Part = tuple[NDArray[Any], NDArray[np.uint8]]  # examples (n, ...) and labels (n,)
CIFAR_SHAPE = (3, 32, 32)  # channels, height, width of an image in CIFAR's Python batches


@dataclass(frozen=True)
class IdxFile:
    """A file in the IDX format: big-endian magic number and sizes, then bytes."""

    name: str
    shape: tuple[int, ...]
    md5: str  # of the uncompressed file, and so of its magic number and sizes

    @property
    def size(self) -> int:
        """Bytes of the uncompressed file."""
        return 4 + 4 * len(self.shape) + math.prod(self.shape)

    def read(self, raw: bytes) -> NDArray[np.uint8]:
        """Return the bytes of a checked file as an array of its shape."""
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(self.shape)).reshape(self.shape)


@dataclass(frozen=True)
class CifarFile:
    """One of CIFAR-10's Python batches.

    It is a pickled dictionary: b"data" (n, 3072) unsigned bytes, red, green and blue planes of
    32x32; b"labels" n numbers. Source: Krizhevsky 2009, "Learning multiple layers of features from
    tiny images", and its data page.
    """

    name: str
    count: int  # images in it
    md5: str

    @property
    def size(self) -> int:
        """Bytes of its pixels; the file has some more."""
        return self.count * math.prod(CIFAR_SHAPE)

    def read(self, raw: bytes, path: Path) -> Part:
        """Return images (n, 3, 32, 32) and labels (n,) of a batch; ValueError if it is none.

        `raw` comes from `checked_content`: a pickle may run code, so only one with the MD5 of
        CIFAR-10's own is read.
        """
        try:
            batch = pickle.loads(raw, encoding="bytes")
            pixels = batch[b"data"].astype(np.uint8, casting="safe")
            labels = np.array(batch[b"labels"], dtype=np.uint8)
            return pixels.reshape(self.count, *CIFAR_SHAPE), labels.reshape(self.count)
        except Exception as error:  # a damaged pickle may raise anything
            raise ValueError(
                f"Expected {path} to be a CIFAR-10 batch of {self.count} images; {error}."
            ) from error


@dataclass(frozen=True)
class ArraysFile:
    """Examples as `data import` makes them from a set's original files.

    Training examples, their labels, test examples, their labels, without a header: ids as 16-bit
    numbers, low byte first, everything else as bytes.
    """

    shape: tuple[int, ...]  # of one example; of a grey image its height and width
    train: int
    test: int
    originals: str  # the files it is made from, in words
    ids: int = 0  # number of ids, if an example's numbers are ids; 0: they are quantities
    name: str = "examples"
    md5: ClassVar[str] = ""  # unknown

    @property
    def kind(self) -> np.dtype:
        """The type of an example's numbers."""
        return np.dtype("<u2" if self.ids else np.uint8)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return (self.train + self.test) * (math.prod(self.shape) * self.kind.itemsize + 1)

    def read(self, raw: bytes, path: Path, classes: int) -> tuple[Part, Part]:
        """Return the training and the test part of a checked file; ValueError for an unknown class
        or id.
        """
        start = 0
        parts = []
        for count in (self.train, self.test):
            shape = (count, *self.shape)
            examples = np.frombuffer(raw, self.kind, math.prod(shape), start).reshape(shape)
            labels = np.frombuffer(raw, np.uint8, count, start + examples.nbytes)
            start += examples.nbytes + count
            if labels.max() >= classes or (self.ids and examples.max() >= self.ids):
                raise ValueError(
                    f"Expected {path} to name known classes and ids only; import it again."
                )
            parts.append((examples, labels))
        return parts[0], parts[1]

    def written(self, train: Part, test: Part) -> bytes:
        """Return both parts as the bytes of the file."""
        raw = b""
        for examples, labels in (train, test):
            raw += examples.astype(self.kind).tobytes() + labels.astype(np.uint8).tobytes()
        return raw


File = IdxFile | CifarFile | ArraysFile


def max_bytes(file: File) -> int:
    """Return the most bytes that are read of a file; CIFAR-10's have 1.01 times their pixels."""
    return 2 * file.size + 4096 if isinstance(file, CifarFile) else file.size


def checked_content(folder: Path, file: File) -> bytes:
    """Return the uncompressed bytes of a data set's file in the folder; ValueError if it is missing
    or another one.
    """
    path = find(folder, file.name)
    if path is None:
        raise ValueError(f"Expected {file.name} or {file.name}.gz in {folder}.")
    raw = content(path, max_bytes(file))
    if len(raw) < file.size:
        raise ValueError(
            f"Expected {path} to hold {file.size} bytes uncompressed; it holds {len(raw)}."
        )
    if file.md5:
        md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
        if md5 != file.md5:
            raise ValueError(f"Expected {path} to have MD5 {file.md5}; it has {md5}.")
    return raw


def find(folder: Path, name: str) -> Path | None:
    """Return the path of a file in the folder, plain or gzipped; None if it is missing."""
    for path in (folder / name, folder / f"{name}.gz"):
        if os.path.isfile(path):
            return path
    return None


def content(path: Path, max_bytes: int) -> bytes:
    """Return the uncompressed bytes of a file, gzipped or not; ValueError if it is unreadable or
    too large.
    """
    try:
        with uncompressed(path) as stream:
            raw = stream.read(max_bytes + 1)  # one byte more tells a file that is too large
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"Expected {path} to be a readable file; {error}.") from error
    if len(raw) > max_bytes:
        raise ValueError(
            f"Expected {path} to hold at most {max_bytes} bytes uncompressed; it holds more."
        )
    return raw


def uncompressed(path: Path) -> BinaryIO:
    """Open a file as a stream, unpacked on the fly if it is gzipped."""
    with open_regular(path) as stream:
        gzipped = stream.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path)) if gzipped else path.open("rb")


MAX_MEMBERS = 600_000  # of an archive: as many images as a data set may have, and others
MAX_LIST_BYTES = 1 << 27  # of the list of its members in a zip archive


class BoundedReads:
    """A file without long reads, for `ZipFile`, which reads the list of all members at once."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.seek = stream.seek
        self.tell = stream.tell
        self.seekable = stream.seekable

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; BadZipFile for more than a list of members has."""
        if size > MAX_LIST_BYTES:
            raise zipfile.BadZipFile(f"its list of members has more than {MAX_LIST_BYTES:,} bytes")
        return self.stream.read(size)


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive.

    Errors: ValueError if it is damaged or has more than MAX_MEMBERS members.
    """
    with open_regular(path) as stream:
        try:
            archive = zipfile.ZipFile(cast(IO[bytes], BoundedReads(stream)))
            if len(archive.infolist()) > MAX_MEMBERS:
                raise zipfile.BadZipFile(f"it has more than {MAX_MEMBERS:,} members")
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise ValueError(f"Expected {path} to be a whole zip archive; {error}.") from error
        yield archive


class Bounded:
    """A stream that ends with an error after so many bytes, so that an archive cannot lie about its
    sizes.
    """

    def __init__(self, stream: BinaryIO, max_bytes: int) -> None:
        self.stream = stream
        self.max_bytes = max_bytes

    def read(self, size: int) -> bytes:
        """Return the next bytes; ReadError beyond the bound."""
        if self.stream.tell() + size > self.max_bytes:
            raise tarfile.ReadError(f"it unpacks to more than {self.max_bytes} bytes")
        return self.stream.read(size)


Wants = Callable[[PurePosixPath], bool]  # tells by its name whether a file in an archive is read


def members(
    path: Path, max_bytes: int, wants: Wants
) -> Iterator[tuple[PurePosixPath, int, IO[bytes]]]:
    """Yield the name, size and stream of each wanted file in a zip or tar archive.

    A stream is read before the next one. A tar archive is read to its end: ReadError if it unpacks
    to more bytes. Of a file in a zip archive no more than its size is read, and no other is opened.
    Errors: ValueError for a damaged zip archive; either for more than MAX_MEMBERS members.
    """
    if zipfile.is_zipfile(path):
        with open_zip(path) as archive:
            for member in archive.infolist():
                name = PurePosixPath(member.filename)
                if wants(name):
                    with archive.open(member) as stream:
                        yield name, member.file_size, stream
        return
    with (
        uncompressed(path) as raw,
        tarfile.open(fileobj=cast(IO[bytes], Bounded(raw, max_bytes)), mode="r|") as archive,
    ):
        for count, member in enumerate(archive, 1):
            if count > MAX_MEMBERS:
                raise tarfile.ReadError(f"it has more than {MAX_MEMBERS:,} members")
            name = PurePosixPath(member.name)
            stream = archive.extractfile(member) if member.isfile() and wants(name) else None
            if stream:
                yield name, member.size, stream
