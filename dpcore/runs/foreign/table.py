"""A table of runs that another program wrote, with a row for each run."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.check import verbatim
from dpcore.runs.export.imported_events import MAX_BYTES
from dpcore.runs.foreign import optuna, trackio
from dpcore.runs.foreign.database import MAGIC, opened, tables_of
from dpcore.runs.foreign.row import Rows

MAX_ROWS = 500
MAX_HEADS = 100_000  # bytes of the first line
MAX_SHOWN = 30  # columns in an error
# What programs write before the name of a column.
PREFIXES = ("params.", "metrics.", "config.", "tags.", "params_", "user_attrs_")
TRIAL = "trial {}"
SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class Table:
    """The rows, by column. `label` names the column of their names, `state` that of how they ended;
    empty where there is none.
    """

    program: str
    rows: Rows
    label: str = ""
    state: str = ""
    named: str = "{}"  # a name, around what the label has

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in order."""
        found: dict[str, None] = {}
        for row in self.rows:
            found |= dict.fromkeys(row)
        return list(found)

    def column(self, name: str) -> str | None:
        """The column of this name, or of this name after a prefix; None without one.

        Errors: ValueError if several columns may be meant.

        >>> Table("MLflow", ({"params.sigma": "1.1"},)).column("sigma")
        'params.sigma'
        """
        columns = self.columns
        if name in columns:
            return name
        meant = [each for each in columns if each in {f"{prefix}{name}" for prefix in PREFIXES}]
        if len(meant) > 1:
            raise ValueError(
                f"Expected {verbatim(name)} to name one column; name one of: {', '.join(meant)}."
            )
        return meant[0] if meant else None

    @property
    def listed(self) -> str:
        """The columns in a sentence."""
        names = [verbatim(each) for each in self.columns]
        more = f" and {len(names) - MAX_SHOWN} more" if len(names) > MAX_SHOWN else ""
        return f"{', '.join(names[:MAX_SHOWN])}{more}"


def looks_like_table(content: bytes) -> bool:
    """True for a database, and for a text whose first line has several cells.

    >>> looks_like_table(b"sigma,q\\n1,0.1\\n"), looks_like_table(b'{"run": 1, "q": 2}')
    (True, False)
    """
    if content.startswith(MAGIC):
        return True
    try:
        first = content[:MAX_HEADS].partition(b"\n")[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    is_json = first.lstrip()[:1] in ("{", "[")
    return not is_json and any(each in first for each in SEPARATORS)


def read_table(content: bytes, study: str = "") -> Table:
    """Read the table in the bytes of a file: CSV, an Optuna study or a trackio project.

    Errors: ValueError, a sentence, for a file of another kind, or without rows.
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"Expected the file to have at most {MAX_BYTES:,} bytes.")
    table = _of_database(content, study) if content.startswith(MAGIC) else _of_text(content)
    if not table.rows:
        raise ValueError("Expected the file to have at least one run; it has none.")
    if len(table.rows) > MAX_ROWS:
        raise ValueError(f"Expected at most {MAX_ROWS} runs in a file, not {len(table.rows):,}.")
    return table


def _of_database(content: bytes, study: str) -> Table:
    with opened(content) as db:
        tables = tables_of(db)
        if tables >= optuna.TABLES:
            return Table("Optuna", optuna.rows_of(db, study), "number", "state", TRIAL)
        if tables >= trackio.TABLES:
            return Table("trackio", trackio.rows_of(db), "run_name")
    raise ValueError(
        "Expected a database of Optuna or trackio. Of MLflow, write a table by 'mlflow experiments"
        " csv -x ID -o runs.csv'; of another program, write CSV."
    )


def _of_text(content: bytes) -> Table:
    """Read CSV; the first line names the columns."""
    try:
        text = content.decode("utf-8-sig")
        first = text.partition("\n")[0]
        separator = max(SEPARATORS, key=first.count)
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"Expected the file to be a table in CSV, but it is not: {error}."
        ) from None
    lines = [line for line in lines if line]
    heads = lines[0] if lines else []
    if len(set(heads)) < len(heads):
        raise ValueError("Expected each column of the table to have a name of its own.")
    rows = []
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(heads):
            raise ValueError(
                f"Expected row {number} of the table to have {len(heads)} cells, as its first line"
                f" has, not {len(line)}."
            )
        rows.append(dict(zip(heads, line, strict=True)))
    return _named(heads, tuple(rows))


def _named(heads: list[str], rows: tuple[Mapping[str, Any], ...]) -> Table:
    """The table with the program that wrote it, by its columns."""
    if {"run_id", "status", "experiment_id"} <= {*heads}:
        label = "tags.mlflow.runName" if "tags.mlflow.runName" in heads else "run_id"
        return Table("MLflow", rows, label, "status")
    of_trials = {"number", "state"} <= {*heads}
    if of_trials and any(each.startswith("params_") for each in heads):
        return Table("Optuna", rows, "number", "state", TRIAL)
    return Table("a table", rows)
