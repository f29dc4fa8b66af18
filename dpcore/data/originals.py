"""Read the original files of data sets other than images, for `data import`; free of torch.

Adult: 123 binary features, LIBSVM's columns, of which each number is one of a few ranges.

The Large Movie Review Dataset: a text file for each review, in the folder aclImdb or its archive.
Paper 004 keeps the 10,000 most frequent words, counted on the reviews themselves without noise: no
epsilon covers that. Here a word's id follows from the word alone, and some words share one.

MovieLens 1M: a line UserID::MovieID::Rating::Timestamp for each rating, in ratings.dat.
"""

import io
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from dpcore.data.formats import ArraysFile, Part, content, find, members, uncompressed
from dpcore.data.tabular.columns import Category, Column, Ranges
from dpcore.data.tabular.table import shuffled
from dpcore.data.tabular.tables import ADULT, FACTS
from dpcore.regular_file import open_regular

ADULT_FILE = "adult.data"  # 32,561 rows; like paper 004 we leave adult.test alone
MAX_ADULT = 1 << 25  # bytes that are read
_COLUMNS: dict[str, Column] = {
    each.name: each for each in ADULT.columns if isinstance(each, Category)
}
for _name, _starts in FACTS["adult"]["ranges"].items():
    _COLUMNS[_name] = Ranges(_name, tuple(_starts))
BINARY = tuple(_COLUMNS[name] for name in ADULT.fields[:-1])
ADULT_ROWS = replace(ADULT, files=(ADULT_FILE,), columns=BINARY, chosen=list)

REVIEWS = "aclImdb"
REVIEWS_ARCHIVE = "aclImdb_v1.tar.gz"
KINDS = ("neg", "pos")  # folders, in the order of the classes
MAX_REVIEW = 1 << 20  # bytes of one review: the longest has 14 thousand
MAX_REVIEWS_UNPACKED = 1 << 30  # bytes of the archive: the real one has a third
FILLER = 0  # the id that fills a short review up
WORD = re.compile(r"[a-z0-9']+")

RATINGS = "ratings.dat"
MAX_RATINGS = 1 << 26  # bytes: the real ones are 25 million
# The ids that MovieLens 1M's own description gives.
USERS = 6_040
MOVIES = 3_952
MAX_FIELDS = np.array([USERS, MOVIES, 5])  # user, movie, rating, each from 1

Key = tuple[str, str, str]  # part, kind, name of a review


@dataclass(frozen=True)
class Reader:
    """The two functions that turn the files of a data set into its two parts."""

    # A file or folder in a folder, or the archive itself.
    find: Callable[[Path, ArraysFile], Path | None]
    read: Callable[[Path, ArraysFile], tuple[Part, Part]]  # ValueError if the files are wrong


def by_place(examples: NDArray, labels: NDArray, file: ArraysFile, what: str) -> tuple[Part, Part]:
    """Split rows into a training and a test part by their positions alone, never by a value.

    ValueError if the number of rows is not the data set's.
    """
    count = file.train + file.test
    if len(labels) != count:
        raise ValueError(f"Expected {count} {what}; there are {len(labels)}.")
    order = shuffled(count)
    test = order[: file.test]
    train = order[file.test :]
    return (examples[train], labels[train]), (examples[test], labels[test])


def _find_adult(folder: Path, file: ArraysFile) -> Path | None:
    """Return the file if it has all rows; one with fewer is a table for comparisons."""
    path = find(folder, ADULT_FILE)
    if path is None:
        return None
    with uncompressed(path) as stream:
        lines = stream.read(MAX_ADULT).splitlines()
    rows = [line for line in lines if line.strip()]
    return path if len(rows) == file.train + file.test else None


def _read_adult(path: Path, file: ArraysFile) -> tuple[Part, Part]:
    rows = ADULT_ROWS.rows(path.parent)
    return by_place(rows.features, rows.labels, file, f"rows in {ADULT_FILE}")


def ids_of(text: str, ids: int, length: int) -> NDArray[np.uint16]:
    """Return the ids of a review's last words, from 1; short reviews are padded in front.

    >>> ids_of("Good, GOOD<br />film", 10_000, 4).tolist()
    [0, 2274, 2274, 1779]
    """
    words = WORD.findall(text.lower().replace("<br />", " "))[-length:]
    found = [1 + zlib.crc32(word.encode()) % (ids - 1) for word in words]
    return np.array([FILLER] * (length - len(found)) + found, dtype=np.uint16)


def _find_reviews(given: Path, file: ArraysFile) -> Path | None:
    for place in (given, given / REVIEWS):
        # Images may have classes of these names.
        if any((place / "train" / KINDS[0]).glob("*.txt")):
            return place
    for archive in (given, given / REVIEWS_ARCHIVE):
        if archive.name == REVIEWS_ARCHIVE and os.path.isfile(archive):
            return archive
    return None


def _read_reviews(place: Path, file: ArraysFile) -> tuple[Part, Part]:
    found: dict[Key, NDArray[np.uint16]] = {}
    reviews = _reviews_in_archive if os.path.isfile(place) else _reviews_in_folder
    try:
        for key, text in reviews(place):
            if len(text) >= MAX_REVIEW or len(found) > file.train + file.test:
                raise ValueError(
                    f"Expected reviews of less than {MAX_REVIEW} bytes in {place}, and no more than"
                    " there are."
                )
            found[key] = ids_of(text.decode("utf-8", errors="replace"), file.ids, file.shape[0])
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise ValueError(
            f"Expected {place} to be {REVIEWS} or its whole archive; {error}."
        ) from error
    train = _reviews_of("train", found, file.train, place)
    return train, _reviews_of("test", found, file.test, place)


def _reviews_of(part: str, found: dict[Key, NDArray[np.uint16]], count: int, place: Path) -> Part:
    """Return a part's reviews in a fixed order that mixes both kinds: the last may be held out as
    public data.
    """
    named = sorted(key for key in found if key[0] == part)
    if len(named) != count:
        raise ValueError(
            f"Expected {count} reviews under {part}/neg and {part}/pos in {place}; there are"
            f" {len(named)}."
        )
    reviews = []
    labels = []
    for number in shuffled(count):
        key = named[number]
        reviews.append(found[key])
        labels.append(KINDS.index(key[1]))
    return np.stack(reviews), np.array(labels, dtype=np.uint8)


def _reviews_in_folder(place: Path) -> Iterator[tuple[Key, bytes]]:
    for part in ("train", "test"):
        for kind in KINDS:
            for path in (place / part / kind).glob("*.txt"):
                with open_regular(path) as stream:
                    yield (part, kind, path.name), stream.read(MAX_REVIEW)


def _reviews_in_archive(place: Path) -> Iterator[tuple[Key, bytes]]:
    for path, _, stream in members(place, MAX_REVIEWS_UNPACKED, _is_review):
        part, kind, name = path.parts[-3:]
        yield (part, kind, name), stream.read(MAX_REVIEW)


def _is_review(path: PurePosixPath) -> bool:
    """True for the path of a review in the archive, such as aclImdb/train/neg/0_3.txt."""
    if len(path.parts) < 3:
        return False
    part, kind, name = path.parts[-3:]
    return part in ("train", "test") and kind in KINDS and name.endswith(".txt")


def _find_ratings(given: Path, file: ArraysFile) -> Path | None:
    for place in (given / RATINGS, given / "ml-1m" / RATINGS):
        if os.path.isfile(place):
            return place
    return None


def _read_ratings(place: Path, file: ArraysFile) -> tuple[Part, Part]:
    raw = content(place, MAX_RATINGS)
    lines = "lines UserID::MovieID::Rating::Timestamp"
    try:
        text = raw.decode("ascii").strip().replace("::", " ") or "nothing"
        rows = np.loadtxt(io.StringIO(text), np.int64, comments=None, ndmin=2)
    except ValueError as error:
        raise ValueError(f"Expected {place} to hold {lines}; {error}.") from error
    if rows.shape[1] != 4:
        raise ValueError(f"Expected {place} to hold {lines}.")
    if (rows[:, :3] < 1).any() or (rows[:, :3] > MAX_FIELDS).any():
        raise ValueError(
            f"Expected users 1 to {USERS}, movies 1 to {MOVIES} and ratings 1 to 5 in {place}."
        )
    pairs = rows[:, :2] + (-1, USERS - 1)  # users before movies
    return by_place(pairs, rows[:, 2] - 1, file, f"ratings in {place}")


READERS = {
    "adult": Reader(_find_adult, _read_adult),
    "imdb": Reader(_find_reviews, _read_reviews),
    "movielens": Reader(_find_ratings, _read_ratings),
}
