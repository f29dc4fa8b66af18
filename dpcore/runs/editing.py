"""What is said about a run afterwards: its name, its tags, a note; and taking ended runs out of the store.

Who may do so is not asked here (`access.py`). What is written is text and nothing else, wherever it is shown.
"""

import json
import time
from collections.abc import Sequence

from dpcore.runs.in_words import printable
from dpcore.runs.record import Run, Status, checkpoint_path
from dpcore.runs.released import take_out
from dpcore.runs.store import Store

LONGEST_NAME = 120  # characters
LONGEST_NOTE = 5_000
LONGEST_TAG = 40
MOST_TAGS = 10


def rename(store: Store, run: str, name: str) -> None:
    """Give the run another name; an empty one lets it be called by its settings."""
    _write(store, run, "name", text(name, LONGEST_NAME, "name"))


def annotate(store: Store, run: str, note: str) -> None:
    """Keep a note with the run, in place of the one before."""
    _write(store, run, "note", text(note, LONGEST_NOTE, "note", lines=True))


def tag(store: Store, run: str, tags: Sequence[str]) -> None:
    """Give the run these tags, in place of those before: each once, in order."""
    wanted = list(dict.fromkeys(filter(None, (text(each, LONGEST_TAG, "tag") for each in tags))))
    if len(wanted) > MOST_TAGS:
        raise ValueError(f"Expected tags={len(wanted)} of them to be at most {MOST_TAGS}.")
    _write(store, run, "tags", json.dumps(wanted))


def delete(store: Store, run: str) -> None:
    """Take an ended run with its events and its checkpoint out of the store, for good.

    What it had released stays counted where it counts for others, as `deleted.py` says.
    Errors: ValueError for a run that may still go on, UnknownRun.
    """
    with store.writing() as db:
        row = db.execute("SELECT status FROM runs WHERE id = ?", (run,)).fetchone()
        if row is not None and Status(row["status"]) not in (Status.QUEUED, Status.RUNNING):
            take_out(db, "id = ?", (run,))
    if row is None:
        store.run(run)  # says that it is unknown
    elif Status(row["status"]) in (Status.QUEUED, Status.RUNNING):
        raise ValueError(f"Expected run={run!r} to have ended, but it is {row['status']}; cancel it first.")
    checkpoint_path(store.home, run).unlink(missing_ok=True)


def clear(store: Store) -> tuple[int, list[Run]]:
    """Cancel what is queued and delete every run that has ended, of every kind; how many, and those that still run."""
    with store.writing() as db:
        db.execute(
            "UPDATE runs SET status = 'cancelled', cancelling = 1, ended = ? WHERE status = 'queued'", (time.time(),)
        )
        db.execute("UPDATE runs SET cancelling = 1 WHERE status = 'running'")
        ended = [row["id"] for row in db.execute("SELECT id FROM runs WHERE status != 'running'")]
        take_out(db, "status != 'running'")
    for run in ended:
        checkpoint_path(store.home, run).unlink(missing_ok=True)
    return len(ended), store.runs(Status.RUNNING, kind=None)


def text(value: str, longest: int, what: str, *, lines: bool = False) -> str:
    """A text as it is kept: without control characters, blanks at its ends and, unless `lines`, line breaks.

    Errors: ValueError where it is longer than `longest`.

    >>> text("  two\\x00 words\\n", 20, "name")
    'two words'
    """
    kept = printable(value, lines=lines)
    if len(kept) > longest:
        raise ValueError(f"Expected {what} of {len(kept):,} characters to have at most {longest:,}.")
    return kept


def _write(store: Store, run: str, column: str, value: str) -> None:
    with store.writing() as db:
        row = db.execute(f"UPDATE runs SET {column} = ? WHERE id = ? RETURNING id", (value, run)).fetchone()
    if row is None:
        store.run(run)  # says that it is unknown
