"""The run store: one SQLite file that pages, commands and workers of one machine share.

Every method is one short transaction, so any number of threads and processes may call them at once. Readers never wait
for writers (write-ahead log). The file must lie on a local disk.
"""

import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpcore.runs.kinds import KINDS, TRAINING, AnyEvent, event_from_json, kind_of
from dpcore.runs.record import Run, Status, StoreError, UnknownRun, body_of, state_directory
from dpcore.runs.schema import RUNS
from dpcore.runs.store_file import FILE, opened, what_is_wrong
from dpcore.training.events import Evaluated, Event
from dpcore.training.plan import Plan, plan
from dpcore.training.randomness.streams import new_secret

HIDDEN = ("number", "body", "secret")  # columns that are not of a `Run`
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that reads like something else


class Store:
    """Runs and their events. Raises StoreError, which names the path and the reason, wherever the file fails it."""

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home).absolute() if home is not None else state_directory()
        self.path = self.home / FILE
        self._lock = threading.Lock()
        with self._errors():
            self._db = opened(self.path)
            self._file = self._identity()

    def close(self) -> None:
        """End the use of the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- asking for runs --------------------------------------------------------------------------------------------

    def submit(self, request: Any, name: str = "", worker: str | None = None) -> str:
        """Queue what a request asks for, as a `RunConfig` does for a training run, or hand it to `worker` at once.

        A process does the latter that does the work itself. The id is short and safe in URLs.
        """
        run = self.new_id()
        self.submit_as(run, request, name, worker)
        return run

    def submit_as(
        self,
        run: str,
        request: Any,
        name: str = "",
        worker: str | None = None,
        *,
        said: Sequence[Event] = (),
        planned: Plan | None = None,
        secret: int | None = None,
    ) -> None:
        """As `submit`, under an id of `new_id`, with the events that it begins with.

        A training run's plan is stored with it, and the secret seed of any job; each is made here where there is to
        be one and none is given. Errors: ValueError, and nothing is stored, for settings that have no plan.
        """
        now, kind = time.time(), kind_of(request)
        plan_text = json.dumps((planned or plan(request)).to_json()) if kind is TRAINING else None
        status, started = (Status.RUNNING, now) if worker else (Status.QUEUED, None)
        if request.seed is None and secret is None:
            secret = new_secret()
        hidden = None if secret is None else f"{secret:032x}"
        values = (run, kind.name, name, json.dumps(request.to_json()), plan_text, hidden, now, status, worker)
        columns = "id, kind, name, settings, plan, secret, created, status, worker, started, heartbeat"
        with self._writing() as db:
            row = (*values, started, started)
            db.execute(f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            bodies = ((run, number, body_of(event)) for number, event in enumerate(said, 1))
            db.executemany("INSERT INTO events VALUES (?, ?, ?)", bodies)

    def cancel(self, run: str) -> Status:
        """Cancel a queued run at once, ask a running one to stop; a run that has ended stays as it is. Its status."""
        with self._writing() as db:
            db.execute(
                "UPDATE runs SET status = 'cancelled', cancelling = 1, ended = ? WHERE id = ? AND status = 'queued'",
                (time.time(), run),
            )
            db.execute("UPDATE runs SET cancelling = 1 WHERE id = ? AND status = 'running'", (run,))
            row = db.execute("SELECT status FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            raise self._unknown(run)
        return Status(row["status"])

    # -- looking at them --------------------------------------------------------------------------------------------

    def run(self, run: str) -> Run:
        """The run with this id, or UnknownRun."""
        with self._reading() as db:
            row = db.execute(RUNS + "WHERE runs.id = ?", (run,)).fetchone()
        if row is None:
            raise self._unknown(run)
        return _run(row)

    def secret(self, run: str) -> int | None:
        """The run's secret seed; None for one with a fixed seed. Only who trains the run may ask."""
        with self._reading() as db:
            row = db.execute("SELECT secret FROM runs WHERE id = ?", (run,)).fetchone()
        return int(row["secret"], 16) if row and row["secret"] else None

    def runs(self, *statuses: Status, kind: str | None = TRAINING.name) -> list[Run]:
        """Jobs of this kind (None: of every kind) in these statuses (all where none is named), newest first."""
        allowed, kinds = statuses or tuple(Status), () if kind is None else (kind,)
        where = f"WHERE status IN ({', '.join('?' * len(allowed))}) {'AND kind = ? ' * len(kinds)}"
        with self._reading() as db:
            rows = db.execute(RUNS + where + "ORDER BY number DESC", (*allowed, *kinds)).fetchall()
        return [_run(row) for row in rows]

    def tail(self, run: str, after: int = 0) -> list[tuple[int, Any]]:
        """(sequence, event) of every event after number `after`, of the job's kind, in order from 1, 2, 3, ... on."""
        bodies = self.bodies(run, after)
        kind = self.run(run).kind if bodies else ""
        return [(sequence, event_from_json(kind, json.loads(body))) for sequence, body in bodies]

    def bodies(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        """The same with each event as the JSON of `to_json`, on one line."""
        query = "SELECT sequence, body FROM events WHERE run = ? AND sequence > ? ORDER BY sequence"
        with self._reading() as db:
            return [(sequence, body) for sequence, body in db.execute(query, (run, after))]

    def latest_tests(self, runs: Sequence[str]) -> dict[str, Evaluated]:
        """The last evaluation of each of the runs that has one."""
        query = """SELECT body FROM events WHERE run = ? AND body LIKE '{"event": "evaluated"%'
            ORDER BY sequence DESC LIMIT 1"""
        with self._reading() as db:
            rows = {run: db.execute(query, (run,)).fetchone() for run in runs}
        events = {run: event_from_json(TRAINING.name, json.loads(row["body"])) for run, row in rows.items() if row}
        return {run: event for run, event in events.items() if isinstance(event, Evaluated)}

    # -- working on them --------------------------------------------------------------------------------------------

    def claim(self, worker: str, limit: int = 1) -> Run | None:
        """The oldest queued run, now running and this worker's alone; None where none waits or `limit` are running."""
        if not self._claimable(limit):  # without the write lock: idle workers ask often
            return None
        now = time.time()
        query = """UPDATE runs SET status = 'running', worker = ?, started = ?, heartbeat = ?
            WHERE (SELECT COUNT(*) FROM runs WHERE status = 'running') < ?
            AND number = (SELECT MIN(number) FROM runs WHERE status = 'queued') RETURNING id"""
        with self._writing() as db:
            row = db.execute(query, (worker, now, now, limit)).fetchone()
        return self.run(row["id"]) if row else None

    def give_back(self, run: Run) -> bool:
        """Queue a run again as it was claimed, in its old place; False, and nothing done, once it has said something.

        What a run does before its first event is seen by nobody, and it does the same again: it has one secret seed.
        """
        query = """UPDATE runs SET status = 'queued', worker = NULL, started = NULL, heartbeat = NULL
            WHERE id = ? AND worker = ? AND status = 'running' AND NOT cancelling
            AND (SELECT COUNT(*) FROM events WHERE run = runs.id) = ? RETURNING id"""
        with self._writing() as db:
            return db.execute(query, (run.id, run.worker, run.sequence)).fetchone() is not None

    def append(self, run: str, event: AnyEvent) -> bool:
        """Add the event; whether the run must stop: cancelling was asked for, or it is no longer running."""
        body = body_of(event)
        with self._writing() as db:
            cancelling = self._beat(db, run)
            if cancelling is not None:
                db.execute(
                    "INSERT INTO events SELECT ?, COALESCE(MAX(sequence), 0) + 1, ? FROM events WHERE run = ?",
                    (run, body, run),
                )
        return cancelling is None or cancelling

    def beat(self, run: str) -> None:
        """Note that the run's worker is alive."""
        with self._writing() as db:
            self._beat(db, run)

    def stopping(self, run: str) -> bool:
        """Whether the run must stop, as `append` says."""
        with self._reading() as db:
            row = db.execute("SELECT cancelling FROM runs WHERE id = ? AND status = 'running'", (run,)).fetchone()
        return row is None or bool(row["cancelling"])

    def end(self, run: str, status: Status, error: str | None = None) -> bool:
        """Give a running run its final status; False, and nothing done, where it is not running."""
        query = "UPDATE runs SET status = ?, error = ?, ended = ? WHERE id = ? AND status = 'running' RETURNING id"
        with self._writing() as db:
            return db.execute(query, (status, error, time.time(), run)).fetchone() is not None

    def lose(self, run: str, reason: str) -> bool:
        """End a running run whose worker is gone: cancelled where that was asked for, else lost."""
        query = """UPDATE runs SET status = CASE cancelling WHEN 1 THEN 'cancelled' ELSE 'lost' END,
            error = CASE cancelling WHEN 1 THEN NULL ELSE ? END, ended = ?
            WHERE id = ? AND status = 'running' RETURNING id"""
        with self._writing() as db:
            return db.execute(query, (reason, time.time(), run)).fetchone() is not None

    # -- the file ---------------------------------------------------------------------------------------------------

    def _claimable(self, limit: int) -> bool:
        query = """SELECT EXISTS (SELECT 1 FROM runs WHERE status = 'queued')
            AND (SELECT COUNT(*) FROM runs WHERE status = 'running') < ?"""
        with self._reading() as db:
            return bool(db.execute(query, (limit,)).fetchone()[0])

    def _beat(self, db: sqlite3.Connection, run: str) -> bool | None:
        """Refresh the heartbeat; whether cancelling was asked for, None where the run is not running."""
        query = "UPDATE runs SET heartbeat = ? WHERE id = ? AND status = 'running' RETURNING cancelling"
        row = db.execute(query, (time.time(), run)).fetchone()
        return None if row is None else bool(row["cancelling"])

    def new_id(self) -> str:
        """An id that no run has."""
        return "".join(secrets.choice(_ALPHABET) for _ in range(10))

    def _unknown(self, run: str) -> UnknownRun:
        return UnknownRun(f"Expected run={run!r} to be the id of a run in {self.path}.")

    def _identity(self) -> tuple[int, int]:
        file = os.stat(self.path)
        return file.st_dev, file.st_ino

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(what_is_wrong(self.path, error)) from error
        except OSError as error:
            raise StoreError(
                f"Expected the run store {self.path} to be a file in a writable directory: {error}."
            ) from error

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            # SQLite would go on writing into a file that nobody finds any more
            if self._identity() != self._file:
                raise FileNotFoundError("it was replaced while in use; start the program again")
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")


def _run(row: sqlite3.Row) -> Run:
    values: dict[str, Any] = {key: row[key] for key in row.keys() if key not in HIDDEN}  # noqa: SIM118
    values["settings"] = json.loads(values["settings"])
    values["stored_plan"] = values.pop("plan")
    values["status"] = Status(values["status"])
    values["cancelling"] = bool(values["cancelling"])
    values["sequence"] = values["sequence"] or 0
    last = (
        row["body"] if row["kind"] in KINDS else None
    )  # another version may have made a job that this one cannot read
    return Run(**values, last=event_from_json(row["kind"], json.loads(last)) if last else None)
