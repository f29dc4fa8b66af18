"""IDX files: reading, and checking that a file is the one it claims to be."""

import gzip
import hashlib
import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from dpcore.data.kinds import File, IdxFile


def find(folder: Path, file: File) -> Path | None:
    """The file in the folder, plain or gzipped, or None."""
    return next((path for path in (folder / file.name, folder / f"{file.name}.gz") if os.path.isfile(path)), None)


def content(path: Path, file: File) -> bytes:
    """The uncompressed bytes of a file, gzipped or not; ValueError if it cannot be read whole or holds too many."""
    try:
        with uncompressed(path) as stream:
            raw = stream.read(file.most + 1)  # the one beyond is never there, or the file is another
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"Expected {path} to be a readable file; {error}.") from error
    if len(raw) > file.most:
        raise ValueError(f"Expected {path} to hold {file.most} bytes uncompressed; it holds more.")
    return raw


def uncompressed(path: Path) -> BinaryIO:
    """The file as a stream, unpacked while it is read if it is gzipped."""
    with path.open("rb") as stream:
        gzipped = stream.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path)) if gzipped else path.open("rb")


def checked(raw: bytes, file: IdxFile, path: Path) -> bytes:
    """The same bytes, if magic number, shape, length and MD5 sum are those of the file; ValueError otherwise."""
    dimensions = len(file.shape)
    header = struct.unpack_from(f">{1 + dimensions}I", raw) if len(raw) >= 4 + 4 * dimensions else (0,)
    if header[0] != file.magic:
        raise ValueError(f"Expected {path} to start with the IDX magic number {file.magic:#010x}.")
    if header[1:] != file.shape:
        raise ValueError(f"Expected {path} to have shape {file.shape}; its header says {header[1:]}.")
    if len(raw) != file.size:
        raise ValueError(f"Expected {path} to hold {file.size} bytes uncompressed; it holds {len(raw)}.")
    md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if md5 != file.md5:
        raise ValueError(f"Expected {path} to have MD5 {file.md5}; it has {md5}.")
    return raw


def is_file_of(path: Path, file: IdxFile) -> bool:
    """Whether the path holds exactly that file."""
    try:
        return bool(checked(content(path, file), file, path))
    except ValueError:
        return False


def array(raw: bytes, file: IdxFile) -> NDArray[np.uint8]:
    """The bytes of a checked file as an array of its shape."""
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(file.shape)).reshape(file.shape)
