"""Answers of a class to "Spot the fault", on the store's board: the first of each visitor counts.

A visitor is the owner that runs note, too: a digest, of which a table shows a number only.
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from dpcore.audit.faults import programs
from dpcore.runs.plain_text import as_csv
from dpcore.runs.store import Store

PREFIX = "answer "  # of the names on the board
MAX_ANSWERS = 20_000  # of a class
COLUMNS = ("visitor", "trainer", "line", "right_line", "right", "seconds_since_1970")


@dataclass(frozen=True)
class Answer:
    """The line of a program that a visitor pointed at first, and when."""

    visitor: str
    trainer: str
    line: int
    at: float  # seconds since 1970

    @property
    def right(self) -> bool:
        return self.line == programs()[self.trainer].fault


def note(store: Store, answer: Answer) -> None:
    """Note the answer, unless this visitor has answered before, or too many have."""
    name = f"{PREFIX}{answer.visitor} {answer.trainer}"
    full = len(_rows(store)) >= MAX_ANSWERS
    if store.board(name) is None and not full:
        store.post(name, json.dumps(asdict(answer)))


def answers(store: Store) -> list[Answer]:
    """All answers in the order in which they were given."""
    found = [Answer(**json.loads(value)) for _, value in _rows(store)]
    return sorted(found, key=lambda each: each.at)


def forget(store: Store) -> None:
    """Take all answers down."""
    for name, _ in _rows(store):
        store.post(name, None)


def _rows(store: Store) -> list[tuple[str, str]]:
    found = store.rows("SELECT name, value FROM board WHERE name LIKE ?", (f"{PREFIX}%",))
    return [(row["name"], row["value"]) for row in found]


def answer_of(
    visitor: str, trainer: str, line: int, clock: Callable[[], float] = time.time
) -> Answer:
    """An answer given now."""
    return Answer(visitor, trainer, line, clock())


def csv_of_answers(found: Iterable[Answer]) -> str:
    """The answers as CSV; visitors are numbered in the order of their first answers."""
    numbers: dict[str, int] = {}
    rows = []
    for each in found:
        number = numbers.setdefault(each.visitor, len(numbers) + 1)
        right = "yes" if each.right else "no"
        fault = programs()[each.trainer].fault
        rows.append((number, each.trainer, each.line, fault, right, round(each.at)))
    return as_csv(COLUMNS, rows)
