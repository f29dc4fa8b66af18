"""The Large Movie Review Dataset: a text file for each review, in the folder aclImdb or its archive.

Paper 004 keeps the 10,000 most frequent words, which are counted on the reviews themselves. That count is no release
with noise, so no epsilon covers it. Here a word's id follows from the word alone: some words share one.
"""

import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from dpcore.data.archive import Bounded
from dpcore.data.arrays import Part
from dpcore.data.idx import uncompressed
from dpcore.data.kinds import ArraysFile
from dpcore.data.originals.reader import Reader, shuffled

FOLDER, ARCHIVE = "aclImdb", "aclImdb_v1.tar.gz"
KINDS = ("neg", "pos")  # folders, in the order of the classes
MOST = 1 << 20  # bytes of one review: the longest has 14 thousand
MOST_UNPACKED = 1 << 30  # bytes of the archive: the real one has a third
FILLED = 0  # the id that fills a short review up
WORD = re.compile(r"[a-z0-9']+")
Key = tuple[str, str, str]  # part, kind, name of a review
Review = tuple[Key, bytes]


def ids_of(text: str, ids: int, length: int) -> NDArray[np.uint16]:
    """The ids of a review's last words, from 1; short reviews are filled up in front.

    >>> ids_of("Good, GOOD<br />film", 10_000, 4).tolist()
    [0, 2274, 2274, 1779]
    """
    words = WORD.findall(text.lower().replace("<br />", " "))[-length:]
    found = [1 + zlib.crc32(word.encode()) % (ids - 1) for word in words]
    return np.array([FILLED] * (length - len(found)) + found, dtype=np.uint16)


def _found(given: Path, file: ArraysFile) -> Path | None:
    if given.name == ARCHIVE:
        return given if os.path.isfile(given) else None
    for place in (given, given / FOLDER):
        if os.path.isdir(place / "train" / KINDS[0]):
            return place
    return given / ARCHIVE if os.path.isfile(given / ARCHIVE) else None


def _read(place: Path, file: ArraysFile) -> tuple[Part, Part]:
    found: dict[Key, NDArray[np.uint16]] = {}
    try:
        for key, text in _of_archive(place) if os.path.isfile(place) else _of_folder(place):
            if len(text) >= MOST or len(found) > file.train + file.test:
                raise ValueError(f"Expected reviews of less than {MOST} bytes in {place}, and no more than there are.")
            found[key] = ids_of(text.decode("utf-8", errors="replace"), file.ids, file.shape[0])
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise ValueError(f"Expected {place} to be {FOLDER} or its whole archive; {error}.") from error
    return _part("train", found, file.train, place), _part("test", found, file.test, place)


def _part(part: str, found: dict[Key, NDArray[np.uint16]], count: int, place: Path) -> Part:
    """The reviews of a part in a fixed order, in which kinds mix: the last ones may be held out as public data."""
    named = sorted(key for key in found if key[0] == part)
    if len(named) != count:
        raise ValueError(
            f"Expected {count} reviews under {part}/neg and {part}/pos in {place}; there are {len(named)}."
        )
    keys = [named[number] for number in shuffled(count)]
    labels = [KINDS.index(kind) for _, kind, _ in keys]
    return np.stack([found[key] for key in keys]), np.array(labels, dtype=np.uint8)


def _of_folder(place: Path) -> Iterator[Review]:
    for part in ("train", "test"):
        for kind in KINDS:
            for path in (place / part / kind).glob("*.txt"):
                with path.open("rb") as stream:
                    yield (part, kind, path.name), stream.read(MOST)


def _of_archive(place: Path) -> Iterator[Review]:
    """Whatever else the archive holds is passed over."""
    with (
        uncompressed(place) as stream,
        tarfile.open(fileobj=cast(IO[bytes], Bounded(stream, MOST_UNPACKED)), mode="r:") as archive,
    ):
        for member in archive:
            *_, part, kind, name = ("", "", *PurePosixPath(member.name).parts)
            if part in ("train", "test") and kind in KINDS and name.endswith(".txt") and member.isfile():
                content = archive.extractfile(member)
                yield (part, kind, name), content.read(MOST) if content else b""


IMDB_FILES = Reader("imdb", _found, _read)
