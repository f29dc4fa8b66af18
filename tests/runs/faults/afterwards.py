"""What must hold after any fault: no run is gone, none finished twice, every event is there once,
in order.
"""

from collections.abc import Sequence

from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store
from dpcore.training.events import Checkpointed, Event, Finished, Started, Stepped, Unsaved
from tests.runs.faults.stepping import walked

ENDINGS = """
CREATE TABLE IF NOT EXISTS endings (run TEXT, status TEXT);
CREATE TRIGGER IF NOT EXISTS ending AFTER UPDATE OF status ON runs
WHEN new.status NOT IN ('queued', 'running')
BEGIN INSERT INTO endings VALUES (new.id, new.status); END
"""


def note_endings(store: Store) -> None:
    """Have the store write down by itself whenever a run ends: one that ended twice shows it."""
    with store.writing() as db:
        for statement in ENDINGS.split(";\n", 1):
            db.execute(statement)


def wrongs(store: Store, asked: Sequence[str]) -> list[str]:
    """What is wrong with the runs that were asked for, as sentences; nothing may be."""
    found = {run.id: run for run in store.runs(kind=None)}
    return [
        problem
        for run in asked
        for problem in (_of(store, found[run]) if run in found else [f"{run} is gone."])
    ]


def _of(store: Store, run: Run) -> list[str]:
    with store.reading() as db:
        endings = [
            row["status"]
            for row in db.execute("SELECT status FROM endings WHERE run = ?", (run.id,))
        ]
    numbers = [number for number, _ in store.bodies(run.id)]
    said = store.events(run.id)
    whole = list(walked(run.config, None, store.secret(run.id), None, 0.0))
    checks = {
        f"is {run.status}: {run.error}": run.status is Status.FINISHED,
        f"ended {endings}": endings == ["finished"],
        f"numbers its events {numbers}": numbers == counted(said),
        "says something else than an undisturbed run": (
            without_checkpoints(said) == without_checkpoints(whole)
        ),
    }
    return [f"{run.id} {problem}." for problem, right in checks.items() if not right]


def counted(said: Sequence[Event]) -> list[int]:
    """The numbers that so many events must have."""
    return list(range(1, len(said) + 1))


def without_checkpoints(said: Sequence[Event]) -> list[Event]:
    """The events without checkpoints: a worker may go between writing one and recording it."""
    return [event for event in said if not isinstance(event, Checkpointed | Unsaved)]


def sound(said: Sequence[Event]) -> bool:
    """True if a real run begins once, finishes once, and reports each step once, in order."""
    steps = [event.step for event in said if isinstance(event, Stepped)]
    return (
        sum(isinstance(event, Started) for event in said) == 1
        and sum(isinstance(event, Finished) for event in said) == 1
        and isinstance(said[0], Started)
        and isinstance(said[-1], Finished)
        and steps == sorted(set(steps))
    )
