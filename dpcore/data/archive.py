"""CIFAR-10 as it is published: a tar archive, of which only the batches are unpacked."""

import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from dpcore.data.catalogue import DATASETS, CifarFile

ROOM = 2  # a member may be so many times its pixels: the real ones are 1.01 times


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The folder itself, or for an archive a folder with its batches, gone afterwards; ValueError if it is neither."""
    if path.is_dir():
        yield path
        return
    if not path.is_file():
        raise ValueError(f"Expected DIR={str(path)!r} to be a folder or CIFAR-10's archive.")
    with tempfile.TemporaryDirectory(prefix="dpcore-") as scratch:
        try:
            _unpack(path, Path(scratch))
        except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
            raise ValueError(f"Expected {path} to be a folder or a whole tar archive; {error}.") from error
        yield Path(scratch)


def _unpack(path: Path, target: Path) -> None:
    """Write the members that are named as batches, wherever they lie in the archive; nothing else is touched."""
    files = {file.name: file for dataset in DATASETS.values() for file in dataset.batches}
    with tarfile.open(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name).name
            if name in files and member.isfile() and member.size <= _most(files[name]):
                content = archive.extractfile(member)
                (target / name).write_bytes(content.read() if content else b"")


def _most(file: CifarFile) -> int:
    return ROOM * file.size + 4096
