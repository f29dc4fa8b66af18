"""Released noise of runs: how far each has come, and what deleted ones had released, which stays counted.

What was released cannot be taken back. That of a deleted run counts for the other runs of its sweep, and for the run
that it went on with, and is forgotten with the last of those. Only the plan and the number of steps are kept, nothing
that was measured.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.record import Database, Run
from dpcore.runs.store import Store
from dpcore.training.plan import Plan

_KEEP = """
INSERT INTO deleted SELECT id, sweep, parent, plan,
    (SELECT COALESCE(json_extract(body, '$.step'), 0) FROM events WHERE run = runs.id ORDER BY sequence DESC LIMIT 1),
    started IS NOT NULL OR EXISTS (SELECT 1 FROM runs AS rest WHERE rest.parent = runs.id)
        OR EXISTS (SELECT 1 FROM deleted AS rest WHERE rest.parent = runs.id AND rest.begun)
FROM runs WHERE (sweep IS NOT NULL OR parent IS NOT NULL) AND {which}
"""
_FORGET = """
DELETE FROM deleted WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.sweep = deleted.sweep)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = deleted.parent)
"""


@dataclass(frozen=True)
class Deleted:
    """A run that was deleted."""

    id: str
    parent: str | None
    stored_plan: str | None
    done: int | None  # steps; None of one that had said nothing

    @cached_property
    def plan(self) -> Plan:
        """Its plan; ValueError, TypeError or KeyError where this version cannot read it."""
        if self.stored_plan is None:
            raise ValueError(f"Expected the deleted run {self.id} to have a plan.")
        return Plan.from_json(json.loads(self.stored_plan))


def take_out(db: Database, which: str, values: Sequence[Any] = ()) -> None:
    """Delete the runs for which a condition of SQL holds, with their events, and keep what others are charged for."""
    db.execute(_KEEP.format(which=which), values)
    db.execute(f"DELETE FROM events WHERE run IN (SELECT id FROM runs WHERE {which})", values)
    db.execute(f"DELETE FROM runs WHERE {which}", values)
    db.execute(_FORGET)


def deleted_of(store: Store, sweep: str) -> tuple[Deleted, ...]:
    """The runs of a sweep that were deleted."""
    with store.reading() as db:
        rows = db.execute("SELECT id, parent, plan, done FROM deleted WHERE sweep = ? ORDER BY id", (sweep,)).fetchall()
    return tuple(Deleted(*row) for row in rows)


def done_by(run: Run | Deleted) -> int | None:
    """The steps that a run is known to have taken, those of its last checkpoint included; None before it has begun."""
    if isinstance(run, Deleted):
        return run.done
    return getattr(run.last, "step", 0) if run.sequence else None


def released_by(run: Run | Deleted) -> Mechanism | None:
    """What a run has released until now; None where that is nothing, or there is nothing to account for.

    What a run released before that this one begins anew is part of it, before its first step too.
    """
    return run.plan.released(done_by(run))
