"""How far a run has come, and what it has released until then: each epsilon that it has spent follows from that."""

from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.deleted import Deleted
from dpcore.runs.record import Run


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
