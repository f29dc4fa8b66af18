"""The life of a run: its statuses, the changes that lead from one to another, and its charge.

A new run waits, or is its worker's at once if the process that submits it does the work. `CHANGES`
is all that can happen then. The store makes each change by its statement in SQL, which leaves a run
of any other status alone. A run that has ended stays as it ended; another run may continue it. Only
a followed run may be taken up again, by the program that it belongs to (`TAKE_UP`).

**Charged** are the steps up to the last event (`CHARGED_STEPS`), whatever the status: the whole
plan of a finished run, the steps so far of one that was cancelled, failed or lost, and nothing
before the first event. A followed run is charged what its plan says: all steps that it may have
taken. So no change makes a run cheaper. A run is given back only without a new
event. A deleted run counts on for the runs of its sweep and for the run that it continued.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_ATTEMPTS = 3  # to continue a run without a new checkpoint


class Status(StrEnum):
    """The status of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"  # by request; its events are kept
    FAILED = "failed"  # with its traceback
    LOST = "lost"  # its worker died or was killed, and no other can continue it


ACTIVE = (Status.QUEUED, Status.RUNNING)
ENDED = (Status.FINISHED, Status.CANCELLED, Status.FAILED, Status.LOST)  # may be deleted
ENDED_EARLY = (Status.CANCELLED, Status.FAILED, Status.LOST)  # may be resumed


def among(statuses: Sequence[Status]) -> str:
    """The condition in SQL that a run has one of these statuses.

    >>> among(ACTIVE)
    "status IN ('queued', 'running')"
    """
    quoted = [f"'{each}'" for each in statuses]
    return f"status IN ({', '.join(quoted)})"


@dataclass(frozen=True)
class Change:
    """An event in the life of a run, which only a run of the status `before` can have."""

    before: Status
    after: Status
    sets: str  # in other columns, as SQL

    def statement(self, which: str) -> str:
        """The SQL that makes this change of the runs that fulfil a condition, and gives their ids.

        Runs of another status than `before` stay as they are.
        """
        return (
            f"UPDATE runs SET status = '{self.after}', {self.sets}"
            f" WHERE status = '{self.before}' AND ({which}) RETURNING id"
        )


_BEGINS = "worker = :worker, started = :now, heartbeat = :now"
_GOES_ON = "worker = :worker, heartbeat = :now, ended = NULL, error = NULL, cancelling = 0"
_ENDS = "ended = :now, error = :error"

# A worker takes the run.
CLAIM = Change(Status.QUEUED, Status.RUNNING, _BEGINS)
# Its worker has no place for it: it is as if nobody had claimed it.
GIVE_BACK = Change(Status.RUNNING, Status.QUEUED, "worker = NULL, started = NULL, heartbeat = NULL")
# Its worker is gone, and another one continues it.
QUEUE_AGAIN = Change(Status.RUNNING, Status.QUEUED, "worker = NULL, attempts = attempts + 1")
# Somebody cancels a run that waits.
CANCEL = Change(Status.QUEUED, Status.CANCELLED, "cancelling = 1, ended = :now")
# Somebody cancels a run that trains: its worker will stop.
ASK_TO_STOP = Change(Status.RUNNING, Status.RUNNING, "cancelling = 1")
# It stops, as it was asked to.
STOP = Change(Status.RUNNING, Status.CANCELLED, _ENDS)
FINISH = Change(Status.RUNNING, Status.FINISHED, _ENDS)
FAIL = Change(Status.RUNNING, Status.FAILED, _ENDS)
# Its worker is gone, and no other can continue it.
LOSE = Change(Status.RUNNING, Status.LOST, _ENDS)

# The program of a followed run goes on with it: only such a run goes on by itself.
TAKE_UP = tuple(Change(status, Status.RUNNING, _GOES_ON) for status in ENDED)

CHANGES = (CLAIM, GIVE_BACK, QUEUE_AGAIN, CANCEL, ASK_TO_STOP, STOP, FINISH, FAIL, LOSE)
ENDINGS = {change.after: change for change in (STOP, FINISH, FAIL, LOSE)}  # of a run that trains

# The steps that a run is charged for, in SQL; NULL before its first event. `Run.done` in Python.
CHARGED_STEPS = """(SELECT COALESCE(CASE WHEN runs.kind = 'followed'
        THEN json_extract(runs.plan, '$.steps') END, json_extract(body, '$.step'), 0) FROM events
    WHERE run = runs.id ORDER BY sequence DESC LIMIT 1)"""


def without_worker(
    reason: str, *, cancelling: bool, handed: bool, attempts: int
) -> tuple[Change, str | None]:
    """The change of a running run whose worker is gone for this reason, and the error to note.

    `handed` says that the process which submitted it did the work.
    """
    if cancelling:
        return STOP, None
    if handed:
        return LOSE, reason
    if attempts >= MAX_ATTEMPTS:
        return LOSE, f"{reason} It made no progress in {MAX_ATTEMPTS} attempts."
    return QUEUE_AGAIN, None


def check_ended(run: str, status: Status) -> None:
    """Raise ValueError unless a run of this status may be deleted."""
    if status in ACTIVE:
        raise ValueError(f"Run {run} is {status}. Cancel it before you delete it.")
