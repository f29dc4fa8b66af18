"""Tables in delimited text files, plain or gzipped, checked field by field."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpcore.data.catalogue import IMPORT, data_root
from dpcore.data.formats import content, find
from dpcore.data.tabular.columns import Column, features_of, names_of
from dpcore.data.tabular.table import Rows, Table

MAX_BYTES = 1 << 30  # read of one file at most
Lines = list[str]


@dataclass(frozen=True)
class Original:
    """A table in its original files, which lie in the data root."""

    name: str
    title: str
    classes: tuple[str, ...]
    bound: float  # of a row's norm
    origin: str
    files: tuple[str, ...]  # all are needed, one after another
    fields: tuple[str, ...]  # of each line, in order; the last one is the class
    columns: tuple[Column, ...]  # those used as features, named as fields
    words: tuple[tuple[str, int], ...]  # words of the last field, each with its class
    separator: str
    header: bool
    otherwise: int | None  # the class of any other word; None: there is none
    chosen: Callable[[Lines], Lines]  # selects the lines to keep
    # The table's number at openml.org, whose columns are named as the fields; None: it has none.
    openml: int | None

    def table(self) -> Table:
        """Return the catalogue's entry."""
        names = names_of(self.columns)
        return Table(
            self.name,
            self.title,
            self.classes,
            len(names),
            self.bound,
            self.origin,
            self.read,
            names,
            self.absent,
        )

    def absent(self) -> str:
        """Say in a sentence why it cannot be read; nothing if it can."""
        fetch = ""
        if self.openml:
            fetch = f"'python -m dpcore data download --dataset {self.name}' or "
        for name in self.files:
            if find(folder_of_tables(), name) is None:
                return f"Expected {name} in {folder_of_tables()}; {fetch}{IMPORT} brings it."
        return ""

    def read(self) -> Rows:
        """Read the table from the data root."""
        why = self.absent()
        if why:
            raise ValueError(why)
        return self.rows(folder_of_tables())

    def rows(self, folder: Path) -> Rows:
        """Read the table from a folder of its files; ValueError, as a sentence, if one is missing
        or wrong.
        """
        lines = []
        for name in self.files:
            lines += self._lines(folder, name)
        values = self._values(self.chosen(lines))
        taken = [values[self.fields.index(column.name)] for column in self.columns]
        return Rows(features_of(self.columns, taken), self._labels(values[-1]))

    def _lines(self, folder: Path, name: str) -> Iterator[str]:
        path = find(folder, name)
        if path is None:
            raise ValueError(f"Expected {name} or {name}.gz in {folder}.")
        text = content(path, MAX_BYTES).decode("utf-8", errors="replace")
        for line in text.splitlines()[1 if self.header else 0 :]:
            # Adult's test file begins with such a line.
            if line.strip() and not line.startswith("|"):
                yield line

    def _values(self, lines: Lines) -> list[Sequence[str]]:
        """Return the fields, column by column."""
        read = csv.reader(lines, delimiter=self.separator, skipinitialspace=True)
        rows = []
        try:
            for place, row in enumerate(read, 1):
                if len(row) != len(self.fields):
                    raise ValueError(
                        f"Expected {len(self.fields)} fields in each row of {self.files[0]}; row"
                        f" {place} has {len(row)}."
                    )
                rows.append([field.strip() for field in row])
        except csv.Error as error:
            raise ValueError(f"Expected {self.files[0]} to be delimited text; {error}.") from error
        if not rows:
            raise ValueError(f"Expected rows in {self.files[0]}; there are none.")
        return list(zip(*rows, strict=True))

    def _labels(self, values: Sequence[str]) -> np.ndarray:
        words = dict(self.words)
        # Adult's test file and KDDCup99 end words with a point.
        bare = [value.rstrip(".") for value in values]
        unknown = set(bare) - words.keys()
        if unknown and self.otherwise is None:
            raise ValueError(
                f"Expected the last field of {self.files[0]} to be one of {list(words)}, not"
                f" {min(unknown)!r}."
            )
        return np.array([words.get(value, self.otherwise) for value in bare], dtype=np.int64)


def folder_of_tables() -> Path:
    """Return the folder of the original files of tables."""
    return data_root() / "tables"
