"""Runs as the store says them, and its rows: made of what is asked for, and read as `Run`s."""

import json
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from dpcore.audit.request import AuditRequest
from dpcore.runs.kinds import KINDS, TRAINING, AnyEvent, event_from_json, event_to_json, kind_named, kind_of
from dpcore.training.config import RunConfig
from dpcore.training.events import Event
from dpcore.training.perturbation.request import Request
from dpcore.training.plan import Plan, plan
from dpcore.training.randomness.streams import new_secret


class Status(StrEnum):
    """Where a run stands; the last four are final."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"  # by request; what had happened until then is kept
    FAILED = "failed"  # with its traceback
    LOST = "lost"  # its worker died, or was ended from outside


IMPORTED = "imported"  # in the origin of a run that was not trained here: what it was where it comes from


class StoreError(RuntimeError):
    """The run store cannot be used; the text names its path and the reason."""


class UnknownRun(ValueError):
    """No run has this id."""


@dataclass(frozen=True)
class Run:
    """One run, or job of another kind, as the store knew it when asked.

    Times are Unix seconds, None where it has not come to that. Only training runs have a configuration and a plan.
    """

    id: str
    name: str
    settings: dict[str, Any]  # what was asked, as stored: of a training run its configuration
    status: Status
    created: float
    started: float | None
    ended: float | None
    heartbeat: float | None  # last sign of life of its worker
    worker: str | None  # `worker_name` of the process that claimed it
    cancelling: bool  # cancelling was asked for
    error: str | None  # traceback of a failed run, reason of a lost one
    position: int | None  # place in the queue, 1 is next; None unless queued
    last: AnyEvent | None  # newest event, of the job's kind
    sequence: int  # the newest event's number, 0 before the first
    kind: str = TRAINING.name  # what is done, a name of `KINDS`
    stored_plan: str | None = field(default=None, repr=False)  # as JSON; None in a run of an older version
    owner: str = ""  # who asked for it, where there are several
    tags: tuple[str, ...] = ()
    note: str = ""
    sweep: str | None = None  # what the runs of one sweep have in common
    parent: str | None = None  # the run that it goes on with
    origin: dict[str, str] | None = None  # where it was trained; None before it has begun, and in older runs

    @cached_property
    def config(self) -> RunConfig:
        """The configuration; ValueError where this version does not know a setting."""
        return RunConfig.from_json(self.settings)

    @cached_property
    def request(self) -> Any:
        """What was asked, by the job's kind; ValueError where this version knows no such kind, or not all of it."""
        return kind_named(self.kind).request.from_json(self.settings)

    @cached_property
    def plan(self) -> Plan:
        """The plan that was stored with the run; of a run of an older version, what its settings give."""
        return Plan.from_json(json.loads(self.stored_plan)) if self.stored_plan else plan(self.config)

    @property
    def imported(self) -> str:
        """Which run of another store it was; empty for one of this store. Nothing here has measured its figures."""
        return (self.origin or {}).get(IMPORTED, "")

    @property
    def active(self) -> bool:
        """Whether more may happen."""
        return self.status in (Status.QUEUED, Status.RUNNING)


def body_of(event: AnyEvent) -> str:
    """An event as the store keeps it; RuntimeError for a number that is not finite, which JSON has no word for."""
    try:
        return json.dumps(event_to_json(event), allow_nan=False)
    except ValueError as error:
        raise RuntimeError(f"Expected every number to be finite in {event}.") from error


def state_directory() -> Path:
    """Where runs are kept: DPCORE_HOME, or dpcore in the user's state directory."""
    if home := os.environ.get("DPCORE_HOME"):
        return Path(os.path.expanduser(home)).absolute()  # Path.expanduser raises for a user that is not there
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "dpcore"


def checkpoint_path(home: Path, run: str) -> Path:
    """Where a run's last state lies while it may still be needed."""
    return home / "checkpoints" / f"{run}.pt"


def device_path(home: Path) -> Path:
    """Where the last worker that warmed up has noted the device that it trains on."""
    return home / "device"


def device_here(home: Path) -> str:
    """The device that runs train on here; empty before a worker has found out."""
    try:
        return device_path(home).read_text(encoding="utf-8")
    except OSError:
        return ""


def worker_name(pid: int) -> str:
    """This machine's process `pid`, among all machines that may share a store."""
    return f"{platform.node()}:{pid}"


def is_dead(worker: str) -> bool:
    """Whether `worker` is a process of this machine that is gone; False where that cannot be told.

    >>> is_dead(worker_name(os.getpid())), is_dead("elsewhere:1")
    (False, False)
    """
    node, _, pid = worker.rpartition(":")
    if node != platform.node():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


HIDDEN = ("number", "body", "secret", "cost", "handed", "attempts")  # columns that are not of a `Run`


class Database(Protocol):
    """What `Store.writing` gives."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Any:
        """Do what the query says."""

    def executemany(self, query: str, values: Iterable[Sequence[Any]], /) -> Any:
        """Do so for each of the values."""


def row_of(
    run: str,
    request: Any,
    name: str,
    worker: str | None = None,
    planned: Plan | None = None,
    secret: int | None = None,
    *,
    said: Sequence[Event] = (),
) -> dict[str, Any]:
    """A new run by the names of the columns; what is not given of its plan and secret seed is made.

    `said` is what it begins with, up to a checkpoint. Errors: ValueError for settings that have no plan.
    """
    now, kind = time.time(), kind_of(request)
    planned = (planned or plan(request)) if kind is TRAINING else None
    if request.seed is None and secret is None:
        secret = new_secret()
    return {
        "id": run,
        "kind": kind.name,
        "name": name,
        "settings": json.dumps(request.to_json()),
        "plan": planned and json.dumps(planned.to_json()),
        "secret": None if secret is None else f"{secret:032x}",
        "created": now,
        "status": Status.RUNNING if worker else Status.QUEUED,
        "worker": worker,
        "handed": bool(worker),
        "started": now if worker else None,
        "heartbeat": now if worker else None,
        "cost": _cost(request, planned, getattr(said[-1], "step", 0) if said else 0),
    }


def _cost(request: Any, planned: Plan | None, done: int) -> int:
    """What there is still to do: examples to look at, or of a comparison, whose rows are short, steps of descent."""
    if isinstance(request, Request):
        return request.fits * request.steps
    if isinstance(request, AuditRequest):
        trained = request.trained
        return trained.steps_of_epochs * (trained.batch + trained.public)
    return max(planned.steps - done, 0) * (request.batch + request.public) if planned else 0


def insert(db: Database, row: Mapping[str, Any]) -> None:
    """Write such a row."""
    db.execute(f"INSERT INTO runs ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def insert_events(db: Database, run: str, said: Sequence[AnyEvent]) -> None:
    """Write the first events of a run."""
    db.executemany("INSERT INTO events VALUES (?, ?, ?)", [(run, *each) for each in enumerate(map(body_of, said), 1)])


def run_of(row: Any, position: int | None = None) -> Run:
    """The run of a row of `RUNS`, with its place in the queue."""
    values: dict[str, Any] = {key: row[key] for key in row.keys() if key not in HIDDEN}  # noqa: SIM118
    values["settings"] = json.loads(values["settings"])
    values["stored_plan"] = values.pop("plan")
    values["status"] = Status(values["status"])
    values["cancelling"] = bool(values["cancelling"])
    values["sequence"] = values["sequence"] or 0
    values["tags"] = tuple(json.loads(values["tags"]))
    values["origin"] = json.loads(values["origin"]) if values["origin"] else None
    # another version may have made a job that this one cannot read
    last = row["body"] if row["kind"] in KINDS else None
    return Run(**values, position=position, last=event_from_json(row["kind"], json.loads(last)) if last else None)
