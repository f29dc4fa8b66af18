"""The run store: one SQLite file that pages, commands and workers of one machine share.

Every method is one short transaction, so any number of threads and processes may call them at once.
Readers never wait for writers (write-ahead log). The file must lie on a local disk.

The queue gives all owners fair shares. Each owner's k-th run, running ones included, goes before
anybody's (k+1)-th. Among equals the owner who has waited longest goes first: since their last run
started, or since they submitted this one, whichever came later. So nobody gains by submitting more
or earlier, and nobody waits for ever. Within an owner's share the shortest run goes first.
"""

import json
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpcore import check
from dpcore.runs.kinds import FOLLOWED, TRAINING, AnyEvent, event_from_json
from dpcore.runs.lifecycle import (
    ASK_TO_STOP,
    CANCEL,
    CLAIM,
    ENDINGS,
    GIVE_BACK,
    Change,
    Status,
    among,
    without_worker,
)
from dpcore.runs.record import (
    Run,
    UnknownRun,
    body_of,
    checkpoint_path,
    row_of,
    run_of,
    state_directory,
)
from dpcore.runs.store_file import (
    FILE,
    PER_STEP,
    SAVED,
    TESTED,
    Database,
    explained,
    identity_of,
    insert,
    opened,
    sql_of,
)
from dpcore.training.events import Checkpointed, Evaluated, Event, Started

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no letter looks like a digit
PAUSED = "paused"  # on the board: workers claim nothing
RUNS = sql_of("runs")
QUEUE = sql_of("queue").format(queued=Status.QUEUED, running=Status.RUNNING)
# Jobs without the setting run on the CPU.
ASKS_FOR = """(:devices IS NULL OR COALESCE(json_extract(settings, '$.device'), 'cpu')
    IN (SELECT value FROM json_each(:devices)))"""
OF_WORKERS = f"kind != '{FOLLOWED.name}'"  # the others take nobody's place
# True if a run waits, fewer than :limit run, and the queue is not paused; with :devices, a list in
# JSON, only runs that ask for one of them count.
MAY_BEGIN = f"""
    (SELECT COUNT(*) FROM runs WHERE status = '{Status.RUNNING}' AND {OF_WORKERS}
        AND {ASKS_FOR}) < :limit
    AND EXISTS (SELECT 1 FROM runs WHERE status = '{Status.QUEUED}' AND {ASKS_FOR})
    AND NOT EXISTS (SELECT 1 FROM board WHERE name = '{PAUSED}')"""
CLAIMED = f"id = ({QUEUE} LIMIT 1) AND {MAY_BEGIN}"  # another worker may have been quicker
# A run that is running, of a worker if one is named.
OF_WORKER = f"""id = :run AND status = '{Status.RUNNING}' AND worker IS COALESCE(:worker, worker)"""
# The cost of a run that continues is what is left of it, as `cost_of` counts it.
COST_LEFT = f"""UPDATE runs SET cost = COALESCE(
        MAX(json_extract(plan, '$.steps') - COALESCE(json_extract({SAVED}, '$.step'), 0), 0)
        * {PER_STEP}, cost) WHERE id = ?"""


def changed(db: Database, change: Change, which: str, **values: Any) -> list[str]:
    """Make a change of the runs that fulfil a condition in SQL; the ids of those that allow it."""
    rows = db.execute(change.statement(which), {"now": time.time(), **values}).fetchall()
    return [row["id"] for row in rows]


def cancel(db: Database, which: str, **values: Any) -> None:
    """Cancel the queued runs that fulfil a condition in SQL, and ask the running ones to stop.

    A followed run does not hear of it.
    """
    for change in (CANCEL, ASK_TO_STOP):
        changed(db, change, f"({which}) AND {OF_WORKERS}", **values)


def add_run(db: Database, row: dict[str, Any], said: Sequence[Event] = ()) -> None:
    """Store the row of a new run, of `row_of`, with its first events."""
    insert(db, row)
    for place, event in enumerate(said, 1):
        db.execute("INSERT INTO events VALUES (?, ?, ?)", (row["id"], place, body_of(event)))


class Store:
    """Runs and their events; StoreError names the path and the reason if the file fails."""

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = state_directory() if home is None else Path(home).absolute()
        self.path = self.home / FILE
        self._lock = threading.Lock()  # one thread at a time has the connection
        with explained(self.path):
            self.db = opened(self.path)
            self._found = identity_of(self.path)

    def close(self) -> None:
        with self._lock:
            self.db.close()

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Give the connection for reading; readers never wait for writers."""
        with self._lock, explained(self.path):
            # SQLite would go on writing into the file that was replaced
            if identity_of(self.path) != self._found:
                raise FileNotFoundError("it was replaced while in use; start the program again")
            yield self.db

    def rows(self, query: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
        with self.reading() as db:
            return db.execute(query, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """Give the connection in a transaction; an error undoes it."""
        with self.reading() as db:
            db.execute("BEGIN IMMEDIATE")
            with db:
                yield db

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
        secret: int | None = None,
        owner: str = "",
    ) -> str:
        """Queue a request, such as the `RunConfig` of a training run; return the id.

        With `worker` hand it to that one at once: a process that does the work itself names itself.
        The id is short and safe in URLs; `run` may give one of `new_id`. The store makes and keeps
        a training run's plan, and any job's secret seed if it is not given. Errors: ValueError, and
        nothing is stored, for settings without a plan.
        """
        row = row_of(run or self.new_id(), request, name, worker, secret=secret, owner=owner)
        with self.writing() as db:
            add_run(db, row)
        return row["id"]

    def cancel(self, run: str) -> Status:
        """Cancel a queued run at once and ask a running one to stop; return the status."""
        with self.writing() as db:
            cancel(db, "id = :run", run=run)
        return self.run(run).status

    def run(self, run: str) -> Run:
        """The run with this id, or UnknownRun."""
        found = self.select("WHERE runs.id = ?", (run,))
        if not found:
            raise self.unknown(run)
        return found[0]

    def select(self, rest: str, values: Sequence[Any]) -> list[Run]:
        """The jobs that the rest of a query in SQL chooses, in its order."""
        rows = self.rows(RUNS + rest, values)
        position = {}  # in the queue
        if any(row["status"] == Status.QUEUED for row in rows):
            position = {run: place for place, run in enumerate(self.queue(), 1)}
        return [run_of(row, position.get(row["id"])) for row in rows]

    def secret(self, run: str) -> int | None:
        """The run's secret seed, for the process that trains it; None for a fixed seed."""
        rows = self.rows("SELECT secret FROM runs WHERE id = ? AND secret != ''", (run,))
        return int(rows[0]["secret"], 16) if rows else None

    def runs(
        self, *statuses: Status, kind: str | None = TRAINING.name, limit: int | None = None
    ) -> list[Run]:
        """Jobs of this kind in these statuses, newest first, at most `limit`.

        None stands for every kind, and no status for all. Each job takes a tenth of a millisecond,
        and there may be tens of thousands.
        """
        where = among(statuses or tuple(Status))
        most = -1 if limit is None else limit
        rest = f"WHERE {where} AND kind = COALESCE(?, kind) ORDER BY number DESC LIMIT ?"
        return self.select(rest, (kind, most))

    def queue(self) -> list[str]:
        """The ids of the queued runs, in the order in which workers would claim them now."""
        return [row["id"] for row in self.rows(QUEUE, {"devices": None})]

    def board(self, name: str) -> str | None:
        """The value on the board under this name, which everybody sees."""
        rows = self.rows("SELECT value FROM board WHERE name = ?", (name,))
        return rows[0]["value"] if rows else None

    def post(self, name: str, value: str | None) -> None:
        """Post a value under a name; None takes it down."""
        with self.writing() as db:
            db.execute("DELETE FROM board WHERE name = ?", (name,))
            if value is not None:
                db.execute("INSERT INTO board VALUES (?, ?)", (name, value))

    def events(self, run: str, after: int = 0) -> list[Any]:
        """The events after number `after`, in order."""
        bodies = self.bodies(run, after)
        kind = self.run(run).kind if bodies else ""
        return [event_from_json(kind, json.loads(body)) for _, body in bodies]

    def bodies(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        """The events after number `after` as (sequence, one line of JSON).

        Sequences count 1, 2, 3, ...
        """
        query = "SELECT sequence, body FROM events WHERE run = ? AND sequence > ? ORDER BY sequence"
        return [(sequence, body) for sequence, body in self.rows(query, (run, after))]

    def latest_tests(self, runs: Sequence[str]) -> dict[str, Evaluated]:
        """The last evaluation of each run that has one."""
        query = (
            f"SELECT id, {TESTED} AS body FROM runs WHERE id IN (SELECT value FROM json_each(?))"
        )
        rows = self.rows(query, (json.dumps(list(runs)),))
        tests = {}
        for row in rows:
            if row["body"]:
                tests[row["id"]] = event_from_json(TRAINING.name, json.loads(row["body"]))
        return tests

    def claim(self, worker: str, limit: int = 1, devices: Sequence[str] = ()) -> Run | None:
        """Give this worker the first run of the queue; None if there is none to begin.

        At most `limit` runs run at once, and none begins while the queue is paused. With `devices`
        only runs that ask for one of them count.
        """
        asked = json.dumps(devices) if devices else None
        room = self.rows(f"SELECT {MAY_BEGIN}", {"devices": asked, "limit": limit})
        if not room[0][0]:  # without the write lock: idle workers ask often
            return None
        with self.writing() as db:
            claimed = changed(db, CLAIM, CLAIMED, worker=worker, devices=asked, limit=limit)
        return self.run(claimed[0]) if claimed else None

    def give_back(self, run: Run) -> bool:
        """Put a claimed run back into its old place in the queue.

        False, and no change, once it has a new event. Nobody sees what a run does before its first
        event, and with its one secret seed it does the same again.
        """
        unchanged = """id = :run AND worker = :worker AND NOT cancelling
            AND (SELECT COUNT(*) FROM events WHERE run = runs.id) = :events"""
        with self.writing() as db:
            given_back = changed(
                db, GIVE_BACK, unchanged, run=run.id, worker=run.worker, events=run.sequence
            )
        return bool(given_back)

    def recover(self, run: Run, reason: str) -> Status | None:
        """Queue a running run again whose worker is gone, or end it; its new status.

        `without_worker` decides. None, and no change, if it has shown a sign of life since `run`
        was read.
        """
        query = f"""SELECT cancelling, handed, attempts FROM runs WHERE id = :run
            AND status = '{Status.RUNNING}' AND worker IS :worker AND heartbeat IS :beat"""
        values = {"run": run.id, "worker": run.worker, "beat": run.heartbeat}
        with self.writing() as db:
            row = db.execute(query, values).fetchone()
            if row is None:
                return None
            change, error = without_worker(
                reason,
                cancelling=row["cancelling"],
                handed=row["handed"],
                attempts=row["attempts"],
            )
            changed(db, change, "id = :run", run=run.id, error=error)
            db.execute(COST_LEFT, (run.id,))
        return change.after

    def append(self, run: str, event: AnyEvent, worker: str | None = None) -> bool:
        """Add the event; True if the run must stop: it was cancelled or no longer runs.

        If `worker` is named and the run is no longer that worker's, nothing is added: another
        worker continues it.
        """
        body = body_of(event)
        query = """INSERT INTO events SELECT ?, COALESCE(MAX(sequence), 0) + 1, ?
            FROM events WHERE run = ?"""
        with self.writing() as db:
            cancelling = self._beat(db, run, worker)
            if cancelling is None:
                return True
            db.execute(query, (run, body, run))
            if isinstance(event, Checkpointed):  # it made progress
                db.execute("UPDATE runs SET attempts = 0 WHERE id = ? AND attempts > 0", (run,))
            if isinstance(event, Started):
                # What came before served other runs, too, as features do.
                db.execute("UPDATE runs SET started = ? WHERE id = ?", (time.time(), run))
                if event.origin:
                    origin = json.dumps(dict(event.origin))
                    db.execute("UPDATE runs SET origin = ? WHERE id = ?", (origin, run))
        return cancelling

    def beat(self, run: str, worker: str | None = None) -> None:
        """Note that the worker of the run is alive."""
        with self.writing() as db:
            self._beat(db, run, worker)

    def stopping(self, run: str, worker: str | None = None) -> bool:
        """True if the run must stop, as `append` says."""
        rows = self.rows(
            f"SELECT cancelling FROM runs WHERE {OF_WORKER}", {"run": run, "worker": worker}
        )
        return not rows or bool(rows[0]["cancelling"])

    def end(
        self, run: str, status: Status, error: str | None = None, worker: str | None = None
    ) -> bool:
        """Give a running run its final status; a finished one needs its checkpoint no more.

        False, and no change, if it is not running or not `worker`'s.
        """
        check.one_of(ENDINGS, status=status)
        with self.writing() as db:
            ended = changed(db, ENDINGS[status], OF_WORKER, run=run, worker=worker, error=error)
        if ended and status is Status.FINISHED:
            checkpoint_path(self.home, run).unlink(missing_ok=True)
        return bool(ended)

    def _beat(self, db: Database, run: str, worker: str | None) -> bool | None:
        """Refresh the heartbeat; True if somebody cancelled the run.

        None if it is not running, or another worker's.
        """
        query = f"UPDATE runs SET heartbeat = :now WHERE {OF_WORKER} RETURNING cancelling"
        row = db.execute(query, {"now": time.time(), "run": run, "worker": worker}).fetchone()
        return None if row is None else bool(row["cancelling"])

    def new_id(self) -> str:
        """An id that no run has."""
        return "".join(secrets.choice(_ALPHABET) for _ in range(10))

    def unknown(self, run: str) -> UnknownRun:
        """The error for an id that no run has."""
        return UnknownRun(f"Expected run={run!r} to be the id of a run in {self.path}.")
