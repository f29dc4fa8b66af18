"""Asking for runs within the limits, and keeping imported ones: what pages do, by these three functions.

The limits that count runs are asked in the transaction that stores the new ones, so nobody gets past one of them by
asking twice at once.
"""

from collections.abc import Sequence
from typing import Any

from dpcore.audit.request import AuditRequest
from dpcore.runs.export.imported import ImportedRun, take_in
from dpcore.runs.kinds import TRAINING
from dpcore.runs.limits import FILE, Limits, limits_of
from dpcore.runs.record import Database
from dpcore.runs.resume import rest_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan

WAIT = " Wait until some of yours have begun, or cancel some."
DELETE = " Delete some of yours first."


def submit(store: Store, asked: Sequence[tuple[Any, str]], owner: str = "", sweep: str | None = None) -> list[str]:
    """Queue what (request, name) pairs ask for, all of it or nothing; the new ids, in that order.

    `sweep` is what they have in common. Errors: ValueError, which names the limit that does not allow it, or a setting;
    StoreError.
    """
    limits = limits_of(store.home)
    for request, _ in asked:
        check_size(request, limits)
    return store.submit_all(asked, owner=owner, sweep=sweep, guard=lambda db: check_room(db, limits, owner, len(asked)))


def submit_rest(store: Store, run: str) -> str:
    """Queue the rest of a run, as `rest_of` finds it; ValueError also where a limit does not allow it."""
    limits = limits_of(store.home)
    before = store.run(run)
    if before.kind == TRAINING.name:
        check_size(before.config, limits)
    with rest_of(store, run) as rest:
        rest.submit(store, guard=lambda db: check_room(db, limits, before.owner, 1))
    return rest.id


def keep(store: Store, imported: ImportedRun, owner: str) -> str:
    """Take in an imported run as `owner`'s; the new id. ValueError where the owner keeps as many as the limit says."""
    limits = limits_of(store.home)
    return take_in(store, imported, owner, guard=lambda db: _check_kept(db, limits, owner, 1))


def check_size(request: Any, limits: Limits) -> None:
    """ValueError for a training run, or an audit of one, of more steps or larger batches than the limits allow."""
    config = request.trained if isinstance(request, AuditRequest) else request
    if isinstance(config, RunConfig):
        _check(limits, "batch", config.batch)
        _check(limits, "steps", plan(config).steps)


def check_room(db: Database, limits: Limits, owner: str, runs: int) -> None:
    """ValueError where so many more runs of an owner would be too many, of those that wait or of all that are kept."""
    _check(limits, "queued", _count(db, owner, " AND status = 'queued'") + runs, WAIT)
    _check_kept(db, limits, owner, runs)


def _check_kept(db: Database, limits: Limits, owner: str, runs: int) -> None:
    _check(limits, "kept", _count(db, owner) + runs, DELETE)


def _count(db: Database, owner: str, more: str = "") -> int:
    query = "SELECT COUNT(*) FROM runs WHERE owner = ?"  # of which an index knows all
    return db.execute(query + more, (owner,)).fetchone()[0]


def _check(limits: Limits, name: str, value: int, way_out: str = "") -> None:
    most = getattr(limits, name)
    if value > most:
        raise ValueError(f"Expected {name}={value:,} to be at most the limit {name}={most:,} of {FILE}.{way_out}")
