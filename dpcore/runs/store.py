"""The run store: one SQLite file that pages, commands and workers of one machine share.

Every method is one short transaction, so any number of threads and processes may call them at once. Readers never wait
for writers (write-ahead log). The file must lie on a local disk.

The queue is first come, first served, with fair shares for all owners. The k-th run of each owner, those that run now
counted, goes before anybody's (k+1)-th. Among those the owner goes first who has waited longest: since a run of theirs
was started last, or since they asked for this one if that was later. So nobody gets ahead by asking for more, or for
the next one sooner, and nobody waits for ever. Within an owner's share the shortest run is first.
"""

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from dpcore.runs.kinds import TRAINING, AnyEvent, event_from_json
from dpcore.runs.record import (
    Database,
    Run,
    Status,
    UnknownRun,
    body_of,
    insert,
    insert_events,
    row_of,
    run_of,
    state_directory,
)
from dpcore.runs.store_file import FILE, RECOVER, RUNS, StoreFile
from dpcore.training.events import Checkpointed, Evaluated, Event, Started
from dpcore.training.plan import Plan

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


def places(db: Database, rows: Sequence[Any]) -> dict[str, int]:
    """The place of each queued run, 1 is next; empty where none of these rows is of one."""
    queued = any(row["status"] == Status.QUEUED for row in rows)
    return {run: place for place, run in enumerate(in_order(db), 1)} if queued else {}


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


MAX_ATTEMPTS = 3  # to go on with a run that gets no further
PAUSED = "paused"  # on the board: nothing is claimed
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that reads like something else


class Store:
    """Runs and their events. Raises StoreError, which names the path and the reason, wherever the file fails it."""

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home).absolute() if home is not None else state_directory()
        self.path = self.home / FILE
        self._file = StoreFile(self.path)
        # for what other files ask of the store
        self.rows, self.reading, self.writing = self._file.rows, self._file.reading, self._file.writing

    def close(self) -> None:
        """End the use of the file."""
        self._file.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(
        self,
        request: Any,
        name: str = "",
        worker: str | None = None,
        *,
        run: str | None = None,
        said: Sequence[Event] = (),
        planned: Plan | None = None,
        secret: int | None = None,
        owner: str = "",
        sweep: str | None = None,
        parent: Run | None = None,
        guard: Callable[[Database], None] | None = None,
    ) -> str:
        """Queue what a request asks for, as a `RunConfig` does for a training run, or hand it to `worker` at once.

        A process does the latter that does the work itself. The id is returned: `run`, where one of `new_id` is given,
        else a new one; it is short and safe in URLs. A training run's plan is stored with it, and the secret seed of
        any job; each is made here where there is to be one and none is given. `said` are the events that it begins
        with, `owner` is who asks, where there are several, `sweep` what it has in common with other runs, `parent` the
        run that it goes on with. Errors: ValueError, and nothing is stored, for settings that have no plan; what
        `guard` raises, which is asked first, in the same transaction.
        """
        run = run or self.new_id()
        row = row_of(run, request, name, worker, planned, secret, said=said)
        row |= {"owner": owner, "sweep": sweep, "parent": parent and parent.id}
        if said and parent and parent.origin:  # it goes on where that was trained
            row["origin"] = json.dumps(parent.origin)
        with self.writing() as db:
            if guard:
                guard(db)
            insert(db, row)
            insert_events(db, run, said)
        return run

    def submit_all(
        self,
        asked: Sequence[tuple[Any, str]],
        *,
        owner: str = "",
        sweep: str | None = None,
        guard: Callable[[Database], None] | None = None,
    ) -> list[str]:
        """Queue what (request, name) pairs ask for, all of it or nothing; the new ids, in that order.

        Errors: as of `submit`.
        """
        own = {"owner": owner, "sweep": sweep}
        rows = [row_of(self.new_id(), request, name) | own for request, name in asked]
        with self.writing() as db:
            if guard:
                guard(db)
            for row in rows:
                insert(db, row)
        return [row["id"] for row in rows]

    def cancel(self, run: str) -> Status:
        """Cancel a queued run at once, ask a running one to stop; a run that has ended stays as it is. Its status."""
        with self.writing() as db:
            db.execute(
                "UPDATE runs SET status = 'cancelled', cancelling = 1, ended = ? WHERE id = ? AND status = 'queued'",
                (time.time(), run),
            )
            db.execute("UPDATE runs SET cancelling = 1 WHERE id = ? AND status = 'running'", (run,))
            row = db.execute("SELECT status FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            raise self.unknown(run)
        return Status(row["status"])

    def run(self, run: str) -> Run:
        """The run with this id, or UnknownRun."""
        with self.reading() as db:
            rows = db.execute(RUNS + "WHERE runs.id = ?", (run,)).fetchall()
            position = places(db, rows).get(run)
        if not rows:
            raise self.unknown(run)
        return run_of(rows[0], position)

    def secret(self, run: str) -> int | None:
        """The run's secret seed; None for one with a fixed seed. Only who trains the run may ask."""
        rows = self.rows("SELECT secret FROM runs WHERE id = ? AND secret != ''", (run,))
        return int(rows[0]["secret"], 16) if rows else None

    def runs(self, *statuses: Status, kind: str | None = TRAINING.name, limit: int | None = None) -> list[Run]:
        """Jobs of this kind (None: of every kind) in these statuses (all where none is named), newest first.

        At most `limit`: there may be tens of thousands, and each takes a tenth of a millisecond.
        """
        allowed, kinds = statuses or tuple(Status), () if kind is None else (kind,)
        most = -1 if limit is None else limit
        where = f"WHERE status IN ({', '.join('?' * len(allowed))}) {'AND kind = ? ' * len(kinds)}"
        with self.reading() as db:
            rows = db.execute(RUNS + where + "ORDER BY number DESC LIMIT ?", (*allowed, *kinds, most)).fetchall()
            positions = places(db, rows)
        return [run_of(row, positions.get(row["id"])) for row in rows]

    def queue(self) -> list[str]:
        """The ids of the queued runs, in the order in which they will be claimed as things stand."""
        with self.reading() as db:
            return in_order(db)

    def board(self, name: str) -> str | None:
        """What is posted under this name for everybody to see, if anything."""
        rows = self.rows("SELECT value FROM board WHERE name = ?", (name,))
        return rows[0]["value"] if rows else None

    def post(self, name: str, value: str | None) -> None:
        """Post a value under a name, or take it down."""
        with self.writing() as db:
            db.execute("DELETE FROM board WHERE name = ?", (name,))
            if value is not None:
                db.execute("INSERT INTO board VALUES (?, ?)", (name, value))

    def tail(self, run: str, after: int = 0) -> list[tuple[int, Any]]:
        """(sequence, event) of every event after number `after`, of the job's kind, in order from 1, 2, 3, ... on."""
        bodies = self.bodies(run, after)
        kind = self.run(run).kind if bodies else ""
        return [(sequence, event_from_json(kind, json.loads(body))) for sequence, body in bodies]

    def bodies(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        """The same with each event as the JSON of `to_json`, on one line."""
        query = "SELECT sequence, body FROM events WHERE run = ? AND sequence > ? ORDER BY sequence"
        return [(sequence, body) for sequence, body in self.rows(query, (run, after))]

    def latest_tests(self, runs: Sequence[str]) -> dict[str, Evaluated]:
        """The last evaluation of each of the runs that has one."""
        query = """SELECT body FROM events WHERE run = ? AND body LIKE '{"event": "evaluated"%'
            ORDER BY sequence DESC LIMIT 1"""
        with self.reading() as db:
            rows = {run: db.execute(query, (run,)).fetchone() for run in runs}
        return {run: event_from_json(TRAINING.name, json.loads(row["body"])) for run, row in rows.items() if row}

    def claim(self, worker: str, limit: int = 1, devices: Sequence[str] = ()) -> Run | None:
        """The first run of the queue, now running and this worker's alone; None where there is none to begin.

        At most `limit` run at once, and none is begun while the queue is paused. With `devices` only runs count that
        ask for one of them.
        """
        query = f"SELECT EXISTS (SELECT 1 FROM runs WHERE status = 'queued' {_asking_for(devices)})"
        with self.reading() as db:  # without the write lock: idle workers ask often
            if not _may_begin(db, limit, devices) or not db.execute(query, tuple(devices)).fetchone()[0]:
                return None
        now = time.time()
        with self.writing() as db:
            run = first(db, devices) if _may_begin(db, limit, devices) else None
            query = "UPDATE runs SET status = 'running', worker = ?, started = ?, heartbeat = ? WHERE id = ?"
            db.execute(query, (worker, now, now, run))
        return self.run(run) if run else None

    def give_back(self, run: Run) -> bool:
        """Queue a run again as it was claimed, in its old place; False, and nothing done, once it has said something.

        What a run does before its first event is seen by nobody, and it does the same again: it has one secret seed.
        """
        query = """UPDATE runs SET status = 'queued', worker = NULL, started = NULL, heartbeat = NULL
            WHERE id = ? AND worker = ? AND status = 'running' AND NOT cancelling
            AND (SELECT COUNT(*) FROM events WHERE run = runs.id) = ? RETURNING id"""
        with self.writing() as db:
            return db.execute(query, (run.id, run.worker, run.sequence)).fetchone() is not None

    def recover(self, run: Run, reason: str, most: int = MAX_ATTEMPTS) -> Status | None:
        """Queue a running run again whose worker is gone, to go on where it was; its status then.

        It ends as lost, for that reason, where the process that asked for it did the work, or where it has got no
        further in so many attempts; as cancelled where that was asked for. None, and nothing is done, where it has
        shown signs of life since `run` was looked up: its worker is not gone, or another has it.
        """
        values = {"id": run.id, "worker": run.worker, "beat": run.heartbeat, "most": most, "now": time.time()}
        values |= {"reason": reason, "vain": f"{reason} It has got no further in {most} attempts."}
        with self.writing() as db:
            row = db.execute(RECOVER, values).fetchone()
        return Status(row["status"]) if row else None

    def append(self, run: str, event: AnyEvent, worker: str | None = None) -> bool:
        """Add the event; whether the run must stop: cancelling was asked for, or it is no longer running.

        It adds nothing where a `worker` is named and the run is not that worker's: it was taken for dead, and another
        goes on with the run.
        """
        body = body_of(event)
        with self.writing() as db:
            cancelling = self._beat(db, run, worker)
            if cancelling is not None:
                db.execute(
                    "INSERT INTO events SELECT ?, COALESCE(MAX(sequence), 0) + 1, ? FROM events WHERE run = ?",
                    (run, body, run),
                )
                if isinstance(event, Checkpointed):  # it has got further
                    db.execute("UPDATE runs SET attempts = 0 WHERE id = ? AND attempts > 0", (run,))
                if isinstance(event, Started) and event.origin:
                    db.execute("UPDATE runs SET origin = ? WHERE id = ?", (json.dumps(dict(event.origin)), run))
        return cancelling is None or cancelling

    def beat(self, run: str, worker: str | None = None) -> None:
        """Note that the run's worker is alive."""
        with self.writing() as db:
            self._beat(db, run, worker)

    def stopping(self, run: str, worker: str | None = None) -> bool:
        """Whether the run must stop, as `append` says."""
        query = "SELECT cancelling FROM runs WHERE id = ? AND status = 'running' AND worker IS COALESCE(?, worker)"
        rows = self.rows(query, (run, worker))
        return not rows or bool(rows[0]["cancelling"])

    def end(self, run: str, status: Status, error: str | None = None, worker: str | None = None) -> bool:
        """Give a running run its final status; False, and nothing done, where it is not running, or not `worker`'s."""
        query = """UPDATE runs SET status = ?, error = ?, ended = ?
            WHERE id = ? AND status = 'running' AND worker IS COALESCE(?, worker) RETURNING id"""
        with self.writing() as db:
            return db.execute(query, (status, error, time.time(), run, worker)).fetchone() is not None

    def _beat(self, db: sqlite3.Connection, run: str, worker: str | None) -> bool | None:
        """Refresh the heartbeat; whether cancelling was asked for, None where the run is not running, or another's."""
        query = """UPDATE runs SET heartbeat = ?
            WHERE id = ? AND status = 'running' AND worker IS COALESCE(?, worker) RETURNING cancelling"""
        row = db.execute(query, (time.time(), run, worker)).fetchone()
        return None if row is None else bool(row["cancelling"])

    def new_id(self) -> str:
        """An id that no run has."""
        return "".join(secrets.choice(_ALPHABET) for _ in range(10))

    def unknown(self, run: str) -> UnknownRun:
        """The error for an id that no run has."""
        return UnknownRun(f"Expected run={run!r} to be the id of a run in {self.path}.")


def _may_begin(db: sqlite3.Connection, limit: int, devices: Sequence[str]) -> bool:
    """Whether fewer than `limit` run, of those on the devices where some are named, and the queue is not paused."""
    query = f"""SELECT (SELECT COUNT(*) FROM runs WHERE status = 'running' {_asking_for(devices)}) < ?
        AND NOT EXISTS (SELECT 1 FROM board WHERE name = '{PAUSED}')"""
    return bool(db.execute(query, (*devices, limit)).fetchone()[0])


def _asking_for(devices: Sequence[str]) -> str:
    return f"AND {DEVICE} IN ({', '.join('?' * len(devices))})" if devices else ""
