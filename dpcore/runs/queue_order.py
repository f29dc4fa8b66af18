"""Who is next: first come, first served, with fair shares for all owners.

The k-th run of each owner, those that run now counted, goes before anybody's (k+1)-th. Among those the owner goes first
who has waited longest: since a run of his was started last, or since he asked for this one if that was later. So nobody
gets ahead by asking for more, or for the next one sooner, and nobody waits for ever. Within an owner's share the
shortest run is first.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from dpcore.runs.record import Database

DEVICE = "COALESCE(json_extract(settings, '$.device'), 'cpu')"  # a job that says nothing of it needs no other

# what is asked of an owner is asked once: asked in SQL for each run, 10,000 of them took seconds
WAITING = """SELECT id, number, owner, created{more} FROM runs WHERE status = 'queued' ORDER BY owner, cost, number"""
BUSY = "SELECT owner, COUNT(*) AS busy FROM runs WHERE status = 'running' GROUP BY owner"
LAST = "SELECT MAX(started) AS last FROM runs WHERE owner = ?"


class Turn(NamedTuple):
    """When a run comes: before those whose turn is larger."""

    share: int  # runs of its owner that come before it, or run
    since: float
    number: int
    id: str


def in_order(db: Database) -> list[str]:
    """The ids of the queued runs, in the order in which they will be claimed as things stand."""
    waiting = db.execute(WAITING.format(more="")).fetchall()
    return [turn.id for turn in sorted(turn for turns in _by_owner(db, waiting) for turn, _ in turns)]


def first(db: Database, devices: Sequence[str] = ()) -> str | None:
    """The first of them, or of those that ask for one of the devices, where some are named."""
    waiting = db.execute(WAITING.format(more=f", {DEVICE} AS device" if devices else "")).fetchall()
    firsts = []
    for turns in _by_owner(db, waiting):
        firsts += islice((turn for turn, row in turns if not devices or row["device"] in devices), 1)
    return min(firsts).id if firsts else None


def _by_owner(db: Database, waiting: Sequence[Any]) -> Iterator[Iterator[tuple[Turn, Any]]]:
    """The turn of each run beside its row, owner by owner, and each owner's in order."""
    busy = {row["owner"]: row["busy"] for row in db.execute(BUSY)}
    for owner, rows in groupby(waiting, key=lambda row: row["owner"]):
        last = db.execute(LAST, (owner,)).fetchone()["last"] or 0.0
        yield _turns(rows, busy.get(owner, 0), last)


def _turns(rows: Iterator[Any], busy: int, last: float) -> Iterator[tuple[Turn, Any]]:
    for share, row in enumerate(rows, busy):
        yield Turn(share, max(row["created"], last), row["number"], row["id"]), row
