"""MovieLens 1M: a line UserID::MovieID::Rating::Timestamp for each rating, in ratings.dat or in ml-1m.zip."""

import io
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np

from dpcore.data.arrays import Part
from dpcore.data.catalogue import MOVIES, USERS
from dpcore.data.kinds import ArraysFile
from dpcore.data.originals.reader import Reader, by_place

NAME, FOLDER, ARCHIVE = "ratings.dat", "ml-1m", "ml-1m.zip"
MOST = 1 << 26  # bytes of ratings: the real ones are 25 million
HIGHEST = np.array([USERS, MOVIES, 5])  # user, movie, rating; all from 1


def _found(given: Path, file: ArraysFile) -> Path | None:
    places = [given] if given.name == ARCHIVE else [given / NAME, given / FOLDER / NAME, given / ARCHIVE]
    return next((place for place in places if os.path.isfile(place)), None)


def _read(place: Path, file: ArraysFile) -> tuple[Part, Part]:
    try:
        text = _content(place).decode("ascii").strip().replace("::", " ") or "nothing"
        rows = np.loadtxt(io.StringIO(text), np.int64, comments=None, ndmin=2)
    except (OSError, EOFError, KeyError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        raise ValueError(f"Expected {place} to hold lines UserID::MovieID::Rating::Timestamp; {error}.") from error
    if rows.shape[1] != 4:
        raise ValueError(f"Expected {place} to hold lines UserID::MovieID::Rating::Timestamp.")
    if (rows[:, :3] < 1).any() or (rows[:, :3] > HIGHEST).any():
        raise ValueError(f"Expected users 1 to {USERS}, movies 1 to {MOVIES} and ratings 1 to 5 in {place}.")
    pairs = rows[:, :2] + (-1, USERS - 1)  # users before movies
    return by_place(pairs, rows[:, 2] - 1, file, f"ratings in {place}")


def _content(place: Path) -> bytes:
    """The ratings' bytes; ValueError beyond the bound, whatever an archive says of its size."""
    if place.name == NAME:
        with place.open("rb") as stream:
            raw = stream.read(MOST + 1)
    else:
        with zipfile.ZipFile(place) as archive, archive.open(f"{FOLDER}/{NAME}") as stream:
            raw = stream.read(MOST + 1)
    if len(raw) > MOST:
        raise ValueError(f"it holds more than {MOST} bytes")
    return raw


MOVIELENS_FILES = Reader("movielens", _found, _read)
