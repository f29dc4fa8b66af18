"""Submit runs, resume them and keep imported ones within the limits, as the pages do.

The limits on the number of runs are checked in the transaction that has stored the new runs, and
undo it, so nobody can exceed one with two requests at once.
"""

from collections.abc import Sequence
from typing import Any

from dpcore.audit.request import AuditRequest
from dpcore.runs.export.imported import ImportedRun
from dpcore.runs.kinds import TRAINING
from dpcore.runs.lifecycle import Status
from dpcore.runs.limits import FILE, Limits, limits_of
from dpcore.runs.record import row_of
from dpcore.runs.resume import rest_of
from dpcore.runs.store import Store, add_run
from dpcore.runs.store_file import Database
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan

WAIT = " Wait until some of your runs have started, or cancel some."
DELETE = " Delete some of your runs first."


def submit(
    store: Store, asked: Sequence[tuple[Any, str]], owner: str = "", sweep: str | None = None
) -> list[str]:
    """Queue (request, name) pairs, all or none; the new ids, in that order.

    Errors: ValueError, which names the limit or setting that forbids it; StoreError.
    """
    limits = limits_of(store.home)
    for request, _ in asked:
        check_size(request, limits)
    rows = [
        row_of(store.new_id(), request, name, owner=owner, sweep=sweep) for request, name in asked
    ]
    with store.writing() as db:
        for row in rows:
            add_run(db, row)
        check_room(db, limits, owner)
    return [row["id"] for row in rows]


def submit_rest(store: Store, run: str) -> str:
    """Queue the rest of a run; ValueError as of `rest_of`, or if a limit forbids it."""
    limits = limits_of(store.home)
    before = store.run(run)
    if before.kind == TRAINING.name:
        check_size(before.config, limits)
    with rest_of(store, run) as rest, store.writing() as db:
        rest.add_run(db)
        check_room(db, limits, before.owner)
    return rest.id


def keep(store: Store, imported: ImportedRun, owner: str) -> str:
    """Keep an imported run as `owner`'s; the new id.

    ValueError if the owner has as many runs as the limit allows.
    """
    limits = limits_of(store.home)
    run = store.new_id()
    with store.writing() as db:
        imported.add_run(db, run, owner)
        _check_kept(db, limits, owner)
    return run


def check_size(request: Any, limits: Limits) -> None:
    """Raise ValueError for a training run, or an audit of one, with too many steps or examples."""
    config = request.trained if isinstance(request, AuditRequest) else request
    if isinstance(config, RunConfig):
        _check(limits, "batch", config.batch)
        _check(limits, "steps", plan(config).steps)


def check_room(db: Database, limits: Limits, owner: str) -> None:
    """Raise ValueError if an owner has too many runs, which undoes the transaction."""
    _check(limits, "queued", _count(db, owner, f" AND status = '{Status.QUEUED}'"), WAIT)
    _check_kept(db, limits, owner)


def _check_kept(db: Database, limits: Limits, owner: str) -> None:
    _check(limits, "kept", _count(db, owner), DELETE)


def _count(db: Database, owner: str, more: str = "") -> int:
    query = "SELECT COUNT(*) FROM runs WHERE owner = ?"  # answered by an index
    return db.execute(query + more, (owner,)).fetchone()[0]


def _check(limits: Limits, name: str, value: int, way_out: str = "") -> None:
    most = getattr(limits, name)
    if value > most:
        raise ValueError(
            f"The limit {name} of {FILE} is {most:,}, and this would make {value:,}.{way_out}"
        )
