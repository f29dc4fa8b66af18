"""Rows of the store's runs: made of what is asked for, and read as `Run`s."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dpcore.audit.request import AuditRequest
from dpcore.runs.kinds import KINDS, TRAINING, event_from_json, kind_of
from dpcore.runs.record import Run, Status
from dpcore.training.events import Event
from dpcore.training.perturbation.request import Request
from dpcore.training.plan import Plan, plan
from dpcore.training.randomness.streams import new_secret

HIDDEN = ("number", "body", "secret", "cost", "handed", "attempts")  # columns that are not of a `Run`


class Database(Protocol):
    """What `Store.writing` gives."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> Any:
        """Do what the query says."""


def row_of(
    run: str,
    request: Any,
    name: str,
    worker: str | None,
    planned: Plan | None,
    secret: int | None,
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


def origin_of(said: Sequence[Event], parent: Run | None) -> str | None:
    """Where a run was trained until now: where the run was that it goes on with, if it goes on from there."""
    return json.dumps(parent.origin) if said and parent and parent.origin else None


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
