"""Runs, the rows of the store, and the way from one to the other."""

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dpcore.audit.request import AuditRequest
from dpcore.regular_file import regular_text
from dpcore.runs.followed.request import IMPORTED_MARK, MARK
from dpcore.runs.kinds import (
    FOLLOWED,
    KINDS,
    TRAINING,
    AnyEvent,
    event_from_json,
    event_to_json,
    kind_named,
    kind_of,
)
from dpcore.runs.lifecycle import ACTIVE, Status
from dpcore.training.config import RunConfig
from dpcore.training.events import Event
from dpcore.training.perturbation.request import Request
from dpcore.training.plan import Plan, plan
from dpcore.training.randomness.streams import new_secret
from dpcore.whole_file import private

IMPORTED = "imported"  # in the origin of an imported run: its name in the other store


class StoreError(RuntimeError):
    """The run store fails; the text names the path and the reason."""


class UnknownRun(ValueError):
    """No run has this id."""


@dataclass(frozen=True)
class Run:
    """A run, or a job of another kind, as the store knew it when asked.

    Times are Unix seconds, None until they come. Only training runs have a configuration and a
    plan.
    """

    id: str
    name: str
    settings: dict[str, Any]  # the request as stored; a configuration for a training run
    status: Status
    created: float
    started: float | None
    ended: float | None
    heartbeat: float | None  # last sign of life of its worker
    worker: str | None  # `worker_name` of the process that claimed it
    cancelling: bool  # somebody cancelled it
    error: str | None  # traceback of a failed run, reason of a lost one
    position: int | None  # place in the queue, 1 is next; None unless queued
    last: AnyEvent | None  # newest event, of the job's kind
    sequence: int  # the newest event's number, 0 before the first
    kind: str = TRAINING.name  # a name of `KINDS`
    # As JSON; None in runs of older versions.
    stored_plan: str | None = field(default=None, repr=False)
    owner: str = ""  # the user who submitted it, if there are several
    tags: tuple[str, ...] = ()
    note: str = ""
    sweep: str | None = None  # id that the runs of one sweep share
    parent: str | None = None  # the run that it continues
    # Where it was trained; None before it begins, and in older runs.
    origin: dict[str, str] | None = None

    @cached_property
    def config(self) -> RunConfig:
        """The configuration; ValueError if this version does not know a setting."""
        return RunConfig.from_json(self.settings)

    @cached_property
    def request(self) -> Any:
        """The request, by the kind of job; ValueError if this version cannot read it."""
        return kind_named(self.kind).request.from_json(self.settings)

    @cached_property
    def plan(self) -> Plan:
        """The stored plan; for runs of older versions, the plan that follows from the settings."""
        if self.stored_plan:
            return Plan.from_json(json.loads(self.stored_plan))
        return plan(self.config)

    @property
    def imported(self) -> str:
        """The name of an imported run in its own store; empty for a run of this store."""
        return (self.origin or {}).get(IMPORTED, "")

    @property
    def followed(self) -> bool:
        """True for the training of another program, which alone can go on with it or end it."""
        return self.kind == FOLLOWED.name

    @property
    def mark(self) -> str:
        """What stands wherever a followed run, or one of another program, is shown; else empty."""
        if not self.followed:
            return ""
        return IMPORTED_MARK if self.imported else MARK

    @property
    def active(self) -> bool:
        return self.status in ACTIVE

    @property
    def done(self) -> int | None:
        """The steps that it is charged for, those of its last checkpoint included.

        None before its first event. Of a followed run they are all that it may have taken.
        """
        if self.followed and self.sequence:
            return self.plan.steps
        return getattr(self.last, "step", 0) if self.sequence else None


def body_of(event: AnyEvent) -> str:
    """An event as the store keeps it.

    Errors: RuntimeError for a number that is not finite, which JSON lacks.
    """
    try:
        return json.dumps(event_to_json(event), allow_nan=False)
    except ValueError as error:
        raise RuntimeError(f"Expected every number to be finite in {event}.") from error


def state_directory() -> Path:
    """The home of the runs: DPCORE_HOME, or dpcore in the user's state directory."""
    home = os.environ.get("DPCORE_HOME")
    if home:
        # Path.expanduser raises for a user that is not there.
        return Path(os.path.expanduser(home)).absolute()
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "dpcore"


def checkpoint_path(home: Path, run: str) -> Path:
    """The path of a run's checkpoint, which exists while it may be needed."""
    return home / "checkpoints" / f"{run}.pt"


def device_path(home: Path) -> Path:
    """The path where the last worker that warmed up noted its device."""
    return home / "device"


def device_here(home: Path) -> str:
    """The device on which runs train here; empty before a worker has found out."""
    try:
        return regular_text(device_path(home))
    except OSError:
        return ""


def note_device(home: Path, device: str) -> None:
    """Note the device on which runs train here. Errors: OSError."""
    with open(device_path(home), "w", encoding="utf-8", opener=private) as file:
        file.write(device)


def worker_name(pid: int) -> str:
    """The name of this machine's process `pid` among all machines that share a store."""
    return f"{platform.node()}:{pid}"


def is_dead(worker: str) -> bool:
    """True if `worker` is a dead process of this machine; False if nobody can tell.

    >>> is_dead(worker_name(os.getpid())), is_dead("elsewhere:1")
    (False, False)
    """
    node, _, pid = worker.rpartition(":")
    if node != platform.node():
        return False
    try:
        os.kill(int(pid), 0)
    except OSError as error:  # else it is another user's
        return isinstance(error, ProcessLookupError)
    return False


HIDDEN = ("number", "body", "secret", "cost", "handed", "attempts")  # columns that `Run` lacks


def row_of(
    run: str,
    request: Any,
    name: str,
    worker: str | None = None,
    planned: Plan | None = None,
    secret: int | None = None,
    *,
    owner: str = "",
    sweep: str | None = None,
    parent: str | None = None,
    said: Sequence[Event] = (),
) -> dict[str, Any]:
    """The row of a new run, by column; its plan and secret seed are made unless given.

    `said` are its first events, up to a checkpoint. Errors: ValueError for settings without a plan.
    """
    now = time.time()
    began = now if worker else None
    kind = kind_of(request)
    stored_plan = None
    if kind is TRAINING:
        planned = planned or plan(request)
    if planned is not None:
        stored_plan = json.dumps(planned.to_json())
    if request.seed is None and secret is None:
        secret = new_secret()
    done = getattr(said[-1], "step", 0) if said else 0
    return {
        "id": run,
        "kind": kind.name,
        "name": name,
        "settings": json.dumps(request.to_json()),
        "plan": stored_plan,
        "secret": None if secret is None else f"{secret:032x}",
        "created": now,
        "status": Status.RUNNING if worker else Status.QUEUED,
        "worker": worker,
        "handed": bool(worker),
        "started": began,
        "heartbeat": began,
        "cost": cost_of(request, planned, done),
        "owner": owner,
        "sweep": sweep,
        "parent": parent,
    }


def cost_of(request: Any, planned: Plan | None = None, done: int = 0) -> int:
    """The work left of a job, as a number of examples to look at.

    For a comparison, whose rows are short, it is a number of steps. A training run has done `done`
    steps of its plan. A public example counts a third: it tests a step by a forward pass alone.
    """
    if isinstance(request, Request):
        return request.results * request.seeds * request.steps
    if isinstance(request, AuditRequest):
        config = request.trained
        steps = config.steps_of_epochs
    elif isinstance(request, RunConfig):
        config = request
        planned = planned or plan(request)
        steps = max(planned.steps - done, 0)
    else:
        return 0
    return steps * (config.batch + config.public // 3)  # in SQL `PER_STEP`


def run_of(row: Any, position: int | None = None) -> Run:
    """Read a row of `RUNS` as a run, with its place in the queue."""
    values: dict[str, Any] = {key: row[key] for key in row.keys() if key not in HIDDEN}  # noqa: SIM118
    values["settings"] = json.loads(values["settings"])
    values["stored_plan"] = values.pop("plan")
    values["status"] = Status(values["status"])
    values["cancelling"] = bool(values["cancelling"])
    values["sequence"] = values["sequence"] or 0
    values["tags"] = tuple(json.loads(values["tags"]))
    values["origin"] = json.loads(values["origin"] or "null")
    last = None
    if row["body"] and row["kind"] in KINDS:  # this version cannot read events of other kinds
        last = event_from_json(row["kind"], json.loads(row["body"]))
    return Run(**values, position=position, last=last)
