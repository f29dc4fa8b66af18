"""The runs of a table: each row with all that an epsilon needs, and the rows that lack something.

**Guarantees:** nothing is guessed. A row without sigma, with q above 1 or with NaN is left out, and
its reason is said. A run that failed or was stopped counts with all its steps, since it released
them.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from dpcore import check
from dpcore.check import verbatim
from dpcore.claims.printed import Printed, printed_epsilon
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Release
from dpcore.runs.editing import MAX_NAME_CHARS, MAX_TAG_CHARS, clean
from dpcore.runs.followed.events import Logged
from dpcore.runs.followed.keeping import plan_of
from dpcore.runs.followed.request import Followed
from dpcore.runs.foreign.row import Row, number_in
from dpcore.runs.foreign.table import Table
from dpcore.runs.lifecycle import Status
from dpcore.runs.plain_text import printable
from dpcore.runs.record import IMPORTED, row_of
from dpcore.runs.store import Store, add_run
from dpcore.training.events import Evaluated
from dpcore.written_number import read_number

Value = TypeVar("Value")

ENDED = {  # status by the word of a program
    "FINISHED": Status.FINISHED,
    "COMPLETE": Status.FINISHED,
    "FAILED": Status.FAILED,
    "FAIL": Status.FAILED,
    "KILLED": Status.CANCELLED,
    "PRUNED": Status.CANCELLED,
}
NEEDED = ("sigma", "steps", "delta", "examples")


class Columns(NamedTuple):
    """Where the numbers of a run stand: the name of a column, or a number that all runs have."""

    sigma: str = ""
    q: str = ""
    batch: str = ""  # in place of q, which is batch / examples
    steps: str = ""
    delta: str = ""
    examples: str = ""
    epsilon: str = ""  # as told
    accuracy: str = ""


@dataclass(frozen=True)
class ForeignRun:
    """A run of a table."""

    place: int  # of its row, from 1
    label: str
    request: Followed
    release: Release
    status: Status
    word: str  # for its status, in its own program
    epsilon: Printed | None  # as told
    accuracy: float | None

    @property
    def told(self) -> dict[str, float]:
        """The numbers that are told beside the releases."""
        found = {}
        if self.epsilon is not None:
            found["told/epsilon"] = self.epsilon.value
        if self.accuracy is not None:
            found["told/accuracy"] = self.accuracy
        return found


class LeftOut(NamedTuple):
    """A row, or a number of a row, that was left out."""

    place: int
    label: str
    why: str  # a sentence


class Found(NamedTuple):
    """What a table holds."""

    runs: tuple[ForeignRun, ...]
    left_out: tuple[LeftOut, ...]  # whole rows
    remarks: tuple[LeftOut, ...]  # numbers of rows that are kept


def found_in(table: Table, columns: Columns) -> Found:
    """The runs of a table. Errors: ValueError for a column that is missing or was not named."""
    reader = _Reader(table, columns)
    runs = []
    left_out = []
    for place, row in enumerate(table.rows, 1):
        try:
            runs.append(reader.run(place, row))
        except ValueError as error:
            left_out.append(LeftOut(place, reader.label(row), str(error)))
    return Found(tuple(runs), tuple(left_out), tuple(reader.remarks))


def keep(store: Store, runs: Sequence[ForeignRun], source: str) -> list[str]:
    """Keep the runs as imported from a file of this name; return their ids."""
    ids = [store.new_id() for _ in runs]
    tags = json.dumps(clean([printable(source)[:MAX_TAG_CHARS]]))
    with store.writing() as db:
        for run, each in zip(ids, runs, strict=True):
            where = f"row {each.place} of {printable(source)}"
            plan = plan_of((each.release,), "")
            row = row_of(run, each.request, each.label or where, planned=plan)
            row |= {"status": each.status, "ended": time.time(), "tags": tags}
            row["origin"] = json.dumps({IMPORTED: where})
            if each.status is not Status.FINISHED:
                row["error"] = f"It was {each.word} there."
            add_run(db, row, _events(each))
    return ids


def _events(run: ForeignRun) -> list[Any]:
    """What the table tells of a run after its last step."""
    steps = run.release.count
    epoch = run.release.q * steps
    found: list[Any] = [Logged(steps, epoch, run.told)]
    if run.accuracy is not None:
        found.insert(0, Evaluated(steps, epoch, run.accuracy, None, ()))
    return found


class _Reader:
    """Reads rows by the columns that were named; `remarks` are on numbers that it left out."""

    def __init__(self, table: Table, columns: Columns) -> None:
        self._table = table
        self._places: dict[str, str | float] = {}  # name of a number -> its column, or its value
        for name, said in columns._asdict().items():
            if said:
                self._places[name] = _place(table, name, said)
        self.remarks: list[LeftOut] = []
        lacking = [f"--{name}" for name in NEEDED if name not in self._places]
        if "q" not in self._places and "batch" not in self._places:
            lacking.append("--q or --batch")
        if lacking:
            raise ValueError(
                f"Expected {', '.join(lacking)} with {table.program}: the column that has it, or"
                f" the number that all runs have. The columns are: {table.listed}."
            )
        if "q" in self._places and "batch" in self._places:
            raise ValueError("Expected --q or --batch, not both: q is batch / examples.")

    def label(self, row: Row) -> str:
        """The name of a row in its own program."""
        if not self._table.label:
            return ""
        own = printable(str(row.get(self._table.label, "")))
        return self._table.named.format(own)[:MAX_NAME_CHARS]

    def run(self, place: int, row: Row) -> ForeignRun:
        """The run of a row. Errors: ValueError says what is wrong with it."""
        word = printable(str(row.get(self._table.state, "")))[:40]
        if self._table.state and word not in ENDED:
            raise ValueError(f"It was {word} when it was written, so its steps are not final.")
        examples = self._whole(row, "examples")
        steps = self._whole(row, "steps")
        check.whole(1, examples=examples)
        check.whole(1, MAX_STEPS, steps=steps)
        by_batch = "batch" in self._places
        q = self._needed(row, "batch") / examples if by_batch else self._needed(row, "q")
        sigma = self._needed(row, "sigma")
        return ForeignRun(
            place,
            self.label(row),
            Followed(delta=self._needed(row, "delta"), examples=examples, q=q, sigma=sigma),
            Release(q, sigma, steps),
            ENDED.get(word, Status.FINISHED),
            word,
            self._beside(place, row, "epsilon", partial(self._printed, row)),
            self._beside(place, row, "accuracy", _share),
        )

    def _number(self, row: Row, name: str) -> float | None:
        place = self._places.get(name)
        return number_in(row, place) if isinstance(place, str) else place

    def _needed(self, row: Row, name: str) -> float:
        number = self._number(row, name)
        if number is None:
            raise ValueError(f"Expected {name} in the column {self._places[name]}: it is empty.")
        return number

    def _whole(self, row: Row, name: str) -> int:
        number = self._needed(row, name)
        if not number.is_integer():
            raise ValueError(f"Expected {name}={number!r} to be a whole number.")
        return int(number)

    def _printed(self, row: Row, epsilon: float) -> Printed:
        """The epsilon that was told, with the digits of a text."""
        place = self._places["epsilon"]
        told = row.get(place) if isinstance(place, str) else None
        return printed_epsilon(told if isinstance(told, str) else epsilon)

    def _beside(
        self, place: int, row: Row, name: str, read: Callable[[float], Value]
    ) -> Value | None:
        """A number without which there is an epsilon all the same."""
        try:
            number = self._number(row, name)
            return None if number is None else read(number)
        except ValueError as error:
            self.remarks.append(LeftOut(place, self.label(row), str(error)))
            return None


def _place(table: Table, name: str, said: str) -> str | float:
    """The column of a number, or the number that all runs have."""
    column = table.column(said)
    if column is not None:
        return column
    try:
        return float(read_number(said))
    except ValueError:
        raise ValueError(
            f"Expected --{name} {verbatim(said)} to be a number or one of the columns:"
            f" {table.listed}."
        ) from None


def _share(accuracy: float) -> float:
    check.in_range(0, 1, accuracy=accuracy)
    return accuracy
