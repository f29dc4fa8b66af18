"""CIFAR-10 as it is published: a tar archive, of which only the batches are unpacked."""

import os
import reprlib
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from dpcore.data.catalogue import CIFAR10, DATASETS
from dpcore.data.idx import uncompressed

MOST = 2 * sum(file.most for file in CIFAR10.batches)  # bytes that are unpacked: twice what the batches may have
SHOWN = reprlib.Repr()
SHOWN.maxstring = 300  # letters of a path in a message


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder itself, or for an archive a folder with its batches, gone afterwards; ValueError if it is neither."""
    if os.path.isdir(path):
        yield path
        return
    if not os.path.isfile(path):
        raise ValueError(f"Expected DIR={SHOWN.repr(str(path))} to be a folder or CIFAR-10's archive.")
    with tempfile.TemporaryDirectory(prefix="dpcore-") as scratch:
        try:
            _unpack(path, Path(scratch))
        except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
            raise ValueError(f"Expected {path} to be a folder or a whole tar archive; {error}.") from error
        yield Path(scratch)


class Bounded:
    """A stream that refuses to be read beyond its first bytes, whatever an archive says of its members' sizes."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self.stream, self.most = stream, most

    def read(self, size: int) -> bytes:
        """The next bytes; ReadError beyond the bound."""
        self._allow(self.tell() + size)
        return self.stream.read(size)

    def seek(self, position: int) -> int:
        """Go to a position; ReadError beyond the bound."""
        self._allow(position)
        return self.stream.seek(position)

    def tell(self) -> int:
        """The position."""
        return self.stream.tell()

    def _allow(self, position: int) -> None:
        if position > self.most:
            raise tarfile.ReadError(f"it unpacks to more than {self.most} bytes")


def _unpack(path: Path, target: Path) -> None:
    """Write the members that are named as batches, wherever they lie in the archive; nothing else is touched."""
    files = {file.name: file for dataset in DATASETS.values() for file in dataset.batches}
    with (
        uncompressed(path) as stream,
        tarfile.open(fileobj=cast(IO[bytes], Bounded(stream, MOST)), mode="r:") as archive,
    ):
        for member in archive:
            name = PurePosixPath(member.name).name
            if name in files and member.isfile() and member.size <= files[name].most:
                content = archive.extractfile(member)
                (target / name).write_bytes(content.read() if content else b"")
