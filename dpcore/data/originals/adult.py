"""Adult as 123 binary features: LIBSVM's columns, of which each number is one of a few ranges."""

from dataclasses import replace
from pathlib import Path

from dpcore.data import idx
from dpcore.data.arrays import Part
from dpcore.data.kinds import ArraysFile
from dpcore.data.originals.reader import Reader, by_place
from dpcore.data.tabular.adult import ADULT, COLUMNS, FIELDS
from dpcore.data.tabular.columns import Category, Ranges
from dpcore.data.tabular.delimited import place_of

DATA = "adult.data"  # 32,561 rows: all that paper 004 takes; adult.test is left alone, as there
MOST = 1 << 25  # bytes of the file that are looked at
RANGES = {  # where a next range begins: LIBSVM's are fifths of the rows, these are round numbers of ours
    "age": (26, 33, 41, 50),
    "fnlwgt": (110_000, 160_000, 200_000, 260_000),
    "education-num": (9, 10, 11, 13),
    "capital-gain": (1,),
    "capital-loss": (1,),
    "hours-per-week": (35, 40, 41, 50),
}
WORDS = {each.name: each for each in COLUMNS if isinstance(each, Category)}
BINARY = tuple(WORDS[name] if name in WORDS else Ranges(name, RANGES[name]) for name in FIELDS[:-1])
ROWS = replace(ADULT, files=(DATA,), columns=BINARY, chosen=list)


def _found(folder: Path, file: ArraysFile) -> Path | None:
    """The folder, if it has the file with all rows: fewer are a table, which is compared on and not trained on."""
    path = place_of(folder, DATA)
    if path is None:
        return None
    with idx.uncompressed(path) as stream:
        lines = stream.read(MOST).splitlines()
    return folder if sum(1 for line in lines if line.strip()) == file.train + file.test else None


def _read(folder: Path, file: ArraysFile) -> tuple[Part, Part]:
    rows = ROWS.rows(folder)
    return by_place(rows.features, rows.labels, file, f"rows in {DATA}")


ADULT_FILES = Reader("adult", _found, _read)
