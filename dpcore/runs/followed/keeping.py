"""A followed run in the store: begun, written to in batches, taken up again and ended.

The stored plan has all steps that the training may have taken by now, a few more than it told:
they are stored before they are taken. So whatever kills the process, no step is missing from the
charge (`Run.done`); at a good end the plan is exact.
"""

import json
import os
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from dpcore.runs.followed.count import Releases
from dpcore.runs.followed.request import Followed
from dpcore.runs.kinds import FOLLOWED, event_from_json
from dpcore.runs.lifecycle import ENDINGS, TAKE_UP, Status
from dpcore.runs.record import Run, StoreError, body_of, is_dead, row_of, worker_name
from dpcore.runs.store import Store, changed
from dpcore.runs.store_file import Database, insert
from dpcore.runs.supervision import STALE
from dpcore.training.plan import Plan

LOOK_SECONDS = 0.25  # between two looks at the heartbeat of another process
BUSY_MILLISECONDS = 1_000  # for which a training waits for its turn to write
IN_USE = (
    "Expected one process alone to follow run {run}, but {worker} follows it. Give each training an"
    " id of its own; of several processes of one training, let rank 0 alone have the run (rank=)."
)
OTHERS = (
    "Run {run} was gone on with by another call of dpcore.follow, whose count is kept. The steps"
    " that this one tells are not stored: follow the run again, and pass them as done=."
)
NO_STEP = "No step was told, so nothing was released."
ENDED_WITHOUT = "The program ended without run.finish()."


class Written(NamedTuple):
    """What one writing stores."""

    plan: Plan
    events: Sequence[Any]
    end: Status | None = None
    error: str | None = None


def plan_of(releases: Releases, unaccounted: str) -> Plan:
    """The plan of a followed run: what it is charged."""
    steps = sum(release.count for release in releases)
    if not steps:
        unaccounted = NO_STEP
    return Plan(steps, (), releases, () if unaccounted else releases, unaccounted)


def as_stored(plan: Plan) -> Any:
    """The plan as the store has it."""
    return json.loads(json.dumps(plan.to_json()))


class Kept:
    """One followed run in the store, as the process that follows it writes it."""

    def __init__(
        self, store: Store, run: str, name: str, request: Followed, known: Plan | None = None
    ) -> None:
        self._known = as_stored(known) if known else None  # the plan that the store holds
        self.store = store
        self.run = run
        self.worker = worker_name(os.getpid())
        store.db.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        self._name = name
        self._request = request

    def write(self, written: Written) -> None:
        """Store the plan and the events in one transaction. Errors: StoreError.

        A run that somebody took for dead, or deleted, is there again.
        """
        with self.store.writing() as db:
            self._check(db)
            if not self._update(db, written.plan):
                self._take_up(db, written.plan)
            self._add(db, written.events)
            if written.end is not None:
                own = "id = :run AND worker = :worker"
                values = {"run": self.run, "worker": self.worker, "error": written.error}
                changed(db, ENDINGS[written.end], own, **values)
        self._known = as_stored(written.plan)

    def _check(self, db: Database) -> None:
        """Refuse to write over a plan that another one has written, which may be dearer."""
        found = db.execute("SELECT plan, worker FROM runs WHERE id = ?", (self.run,)).fetchone()
        if found is None:
            return
        if self._known is None:
            raise StoreError(IN_USE.format(run=self.run, worker=found["worker"]))
        if json.loads(found["plan"]) != self._known:
            raise StoreError(OTHERS.format(run=self.run))

    def _update(self, db: Database, plan: Plan) -> bool:
        query = f"""UPDATE runs SET plan = ?, heartbeat = ?
            WHERE id = ? AND worker = ? AND status = '{Status.RUNNING}'"""
        stored = json.dumps(plan.to_json())
        return db.execute(query, (stored, time.time(), self.run, self.worker)).rowcount > 0

    def _take_up(self, db: Database, plan: Plan) -> None:
        """Go on with a run that has ended, or make it."""
        own = f"id = :run AND kind = '{FOLLOWED.name}'"
        for change in TAKE_UP:
            changed(db, change, own, run=self.run, worker=self.worker)
        settings = json.dumps(self._request.to_json())
        if self._update(db, plan):
            db.execute("UPDATE runs SET settings = ? WHERE id = ?", (settings, self.run))
            return
        found = db.execute("SELECT worker FROM runs WHERE id = ?", (self.run,)).fetchone()
        if found is not None:
            raise StoreError(IN_USE.format(run=self.run, worker=found["worker"]))
        insert(db, row_of(self.run, self._request, self._name, self.worker, plan))

    def _add(self, db: Database, events: Sequence[Any]) -> None:
        query = "SELECT COALESCE(MAX(sequence), 0) FROM events WHERE run = ?"
        last = db.execute(query, (self.run,)).fetchone()[0]
        for place, event in enumerate(events, last + 1):
            db.execute("INSERT INTO events VALUES (?, ?, ?)", (self.run, place, body_of(event)))


def last_told(store: Store, run: str) -> int:
    """The steps that the run had told when it was last heard."""
    told = [0]
    for _, body in store.bodies(run)[-1:]:
        event = event_from_json(FOLLOWED.name, json.loads(body))
        told.append(event.step)
    return max(told)


def is_followed_elsewhere(store: Store, run: Run) -> bool:
    """True if another process follows the run now.

    Of a process on another machine its heartbeat tells, for which this waits up to STALE seconds.
    """
    if run.status is not Status.RUNNING or not run.worker:
        return False
    if run.worker == worker_name(os.getpid()) or is_dead(run.worker):
        return False
    here, _, _ = run.worker.rpartition(":")
    if here == worker_name(0).rpartition(":")[0]:
        return True  # it lives, on this machine
    until = time.monotonic() + STALE
    while time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
        now = store.run(run.id)
        if not now.active:
            return False
        if now.heartbeat != run.heartbeat:
            return True
    return False
