"""Rename, tag, annotate and delete runs, and remember the releases of deleted ones.

A release cannot be taken back. A deleted run's releases still count for the other runs of its sweep
and for the run that it continued, until the last of those is deleted. The store keeps its plan and
its number of steps, and no measurement. `limits.py` says who may change a run. All texts are plain
text wherever they are shown.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpcore.runs.lifecycle import CHARGED_STEPS, ENDED, Status, among, check_ended
from dpcore.runs.plain_text import printable
from dpcore.runs.record import Run, checkpoint_path
from dpcore.runs.store import Store, cancel
from dpcore.runs.store_file import Database, sql_of
from dpcore.training.plan import Plan

_KEEP = sql_of("keep_releases")
_FORGET = sql_of("forget_releases")


@dataclass(frozen=True)
class Deleted:
    id: str
    parent: str | None
    stored_plan: str | None
    done: int | None  # the steps that it is charged for; None if it had no event

    @cached_property
    def plan(self) -> Plan:
        """The plan; ValueError, TypeError or KeyError if this version cannot read it."""
        # One of an older version has none.
        return Plan.from_json(json.loads(self.stored_plan or ""))


def take_out(db: Database, which: str, values: Sequence[Any] = ()) -> None:
    """Delete the runs that fulfil a condition in SQL; keep releases that others are charged for."""
    db.execute(_KEEP.format(charged_steps=CHARGED_STEPS, which=which), values)
    db.execute(f"DELETE FROM events WHERE run IN (SELECT id FROM runs WHERE {which})", values)
    db.execute(f"DELETE FROM runs WHERE {which}", values)
    db.execute(_FORGET)


def deleted_of(store: Store, sweep: str) -> tuple[Deleted, ...]:
    query = "SELECT id, parent, plan, done FROM deleted WHERE sweep = ? ORDER BY id"
    return tuple(Deleted(*row) for row in store.rows(query, (sweep,)))


MAX_NAME_CHARS = 120
MAX_NOTE_CHARS = 5_000
MAX_TAG_CHARS = 40
MAX_TAGS = 10


def rename(store: Store, run: str, name: str) -> None:
    """Rename the run; an empty name stands for a description of its settings."""
    _write(store, run, "name", text(name, MAX_NAME_CHARS, "name"))


def annotate(store: Store, run: str, note: str) -> None:
    _write(store, run, "note", text(note, MAX_NOTE_CHARS, "note", lines=True))


def tag(store: Store, run: str, tags: Sequence[str]) -> None:
    """Replace the run's tags; each counts once."""
    _write(store, run, "tags", json.dumps(clean(tags)))


def clean(tags: Sequence[str]) -> list[str]:
    """The tags, each once. Errors: ValueError for too many, or a long one."""
    cleaned = [text(each, MAX_TAG_CHARS, "tag") for each in tags]
    wanted = list(dict.fromkeys(filter(None, cleaned)))
    if len(wanted) > MAX_TAGS:
        raise ValueError(f"Expected at most {MAX_TAGS} tags of a run, not {len(wanted)}.")
    return wanted


def delete(store: Store, run: str) -> None:
    """Delete an ended run, its events and its checkpoint for good.

    Its releases stay charged to others. Errors: ValueError for an active run, UnknownRun.
    """
    with store.writing() as db:
        row = db.execute("SELECT status FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            raise store.unknown(run)
        check_ended(run, row["status"])
        take_out(db, "id = ?", (run,))
    checkpoint_path(store.home, run).unlink(missing_ok=True)


def clear(store: Store) -> tuple[int, list[Run]]:
    """Cancel all queued jobs and delete all ended ones.

    Return the number of deleted jobs, and the jobs that still run.
    """
    over = among(ENDED)
    with store.writing() as db:
        cancel(db, "true")
        ended = [row["id"] for row in db.execute(f"SELECT id FROM runs WHERE {over}")]
        take_out(db, over)
    for run in ended:
        checkpoint_path(store.home, run).unlink(missing_ok=True)
    return len(ended), store.runs(Status.RUNNING, kind=None)


def text(value: str, longest: int, what: str, *, lines: bool = False) -> str:
    """The text without control characters and outer blanks, on one line unless `lines`.

    Errors: ValueError if it is too long.

    >>> text("  two\\x00 words\\n", 20, "name")
    'two words'
    """
    kept = printable(value, lines=lines)
    if len(kept) > longest:
        raise ValueError(f"Expected a {what} of at most {longest:,} characters, not {len(kept):,}.")
    return kept


def _write(store: Store, run: str, column: str, value: str) -> None:
    with store.writing() as db:
        row = db.execute(
            f"UPDATE runs SET {column} = ? WHERE id = ? RETURNING id", (value, run)
        ).fetchone()
    if row is None:
        raise store.unknown(run)
