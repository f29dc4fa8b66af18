"""Afterwards: a run's name, tags and note, deleting ended runs, and how far runs have come with releasing noise.

What was released cannot be taken back. That of a deleted run counts for the other runs of its sweep, and for the run
that it went on with, and is forgotten with the last of those. Only the plan and the number of steps are kept, nothing
that was measured.

Who may do so is not asked here (`limits.py`). What is written is text and nothing else, wherever it is shown.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpcore.runs.in_words import printable
from dpcore.runs.record import Database, Run, Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.plan import Plan

_KEEP = """
INSERT INTO deleted SELECT id, sweep, parent, plan,
    (SELECT COALESCE(json_extract(body, '$.step'), 0) FROM events WHERE run = runs.id ORDER BY sequence DESC LIMIT 1),
    started IS NOT NULL OR EXISTS (SELECT 1 FROM runs AS rest WHERE rest.parent = runs.id)
        OR EXISTS (SELECT 1 FROM deleted AS rest WHERE rest.parent = runs.id AND rest.begun)
FROM runs WHERE (sweep IS NOT NULL OR parent IS NOT NULL) AND {which}
"""
_FORGET = """
DELETE FROM deleted WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.sweep = deleted.sweep)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = deleted.parent)
"""


@dataclass(frozen=True)
class Deleted:
    """A run that was deleted."""

    id: str
    parent: str | None
    stored_plan: str | None
    done: int | None  # steps; None of one that had said nothing

    @cached_property
    def plan(self) -> Plan:
        """Its plan; ValueError, TypeError or KeyError where this version cannot read it."""
        if self.stored_plan is None:
            raise ValueError(f"Expected the deleted run {self.id} to have a plan.")
        return Plan.from_json(json.loads(self.stored_plan))


def take_out(db: Database, which: str, values: Sequence[Any] = ()) -> None:
    """Delete the runs for which a condition of SQL holds, with their events, and keep what others are charged for."""
    db.execute(_KEEP.format(which=which), values)
    db.execute(f"DELETE FROM events WHERE run IN (SELECT id FROM runs WHERE {which})", values)
    db.execute(f"DELETE FROM runs WHERE {which}", values)
    db.execute(_FORGET)


def deleted_of(store: Store, sweep: str) -> tuple[Deleted, ...]:
    """The runs of a sweep that were deleted."""
    query = "SELECT id, parent, plan, done FROM deleted WHERE sweep = ? ORDER BY id"
    return tuple(Deleted(*row) for row in store.rows(query, (sweep,)))


def done_by(run: Run | Deleted) -> int | None:
    """The steps that a run is known to have taken, those of its last checkpoint included; None before it has begun."""
    if isinstance(run, Deleted):
        return run.done
    return getattr(run.last, "step", 0) if run.sequence else None


MAX_NAME_CHARS = 120  # characters
MAX_NOTE_CHARS = 5_000
MAX_TAG_CHARS = 40
MAX_TAGS = 10


def rename(store: Store, run: str, name: str) -> None:
    """Give the run another name; an empty one lets it be called by its settings."""
    _write(store, run, "name", text(name, MAX_NAME_CHARS, "name"))


def annotate(store: Store, run: str, note: str) -> None:
    """Keep a note with the run, in place of the one before."""
    _write(store, run, "note", text(note, MAX_NOTE_CHARS, "note", lines=True))


def tag(store: Store, run: str, tags: Sequence[str]) -> None:
    """Give the run these tags, in place of those before: each once, in order."""
    wanted = list(dict.fromkeys(filter(None, (text(each, MAX_TAG_CHARS, "tag") for each in tags))))
    if len(wanted) > MAX_TAGS:
        raise ValueError(f"Expected tags={len(wanted)} of them to be at most {MAX_TAGS}.")
    _write(store, run, "tags", json.dumps(wanted))


def delete(store: Store, run: str) -> None:
    """Take an ended run with its events and its checkpoint out of the store, for good.

    What it had released stays counted where it counts for others, as `deleted.py` says.
    Errors: ValueError for a run that may still go on, UnknownRun.
    """
    with store.writing() as db:
        row = db.execute("SELECT status FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            raise store.unknown(run)
        if row["status"] in (Status.QUEUED, Status.RUNNING):
            raise ValueError(f"Expected run={run!r} to have ended, but it is {row['status']}; cancel it first.")
        take_out(db, "id = ?", (run,))
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
        raise store.unknown(run)
