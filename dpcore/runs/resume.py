"""Continue a run that ended early, or a claimed job whose worker is gone."""

import json
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from dpcore.regular_file import open_regular
from dpcore.runs.kinds import TRAINING, event_to_json, kind_named
from dpcore.runs.lifecycle import ACTIVE, ENDED_EARLY, Status, among
from dpcore.runs.record import Run, UnknownRun, checkpoint_path, row_of
from dpcore.runs.store import Store, add_run
from dpcore.runs.store_file import Database, sql_of
from dpcore.training.checkpoint_header import label_of
from dpcore.training.events import Checkpointed, Event, Finished, Started, Stepped
from dpcore.training.plan import Plan, check_anew, check_budget
from dpcore.training.resume_point import resume_point_of
from dpcore.whole_file import private

_RESTS = sql_of("rests").format(active=among(ACTIVE), finished=Status.FINISHED)


@dataclass(frozen=True)
class Rest:
    """The rest of a run as a new run. Its checkpoint, if any, is in place already."""

    id: str
    before: Run
    said: Sequence[Event]  # its events up to the checkpoint
    plan: Plan  # of a run that begins again it includes the releases before
    secret: int | None = field(repr=False)

    def add_run(self, db: Database, worker: str | None = None) -> None:
        """Hand it to `worker`, or queue it if none is named.

        Errors: ValueError if another run continues, or continued, the run before; UnknownRun if
        that is gone.
        """
        before = self.before
        _check_alone(db, before.id)
        row = row_of(
            self.id,
            before.config,
            before.name,
            worker,
            self.plan,
            self.secret,
            owner=before.owner,
            sweep=before.sweep,
            parent=before.id,
            said=self.said,
        )
        if self.said and before.origin:  # the checkpoint ties it to that machine
            row["origin"] = json.dumps(before.origin)
        add_run(db, row, self.said)


def ended_early(run: Run) -> bool:
    """True if the run can be resumed: it was lost, cancelled or failed here."""
    return run.status in ENDED_EARLY and not run.imported and not run.followed


@contextmanager
def rest_of(store: Store, run: str) -> Iterator[Rest]:
    """Prepare the run that continues from the last checkpoint, or begins again with the same seed.

    Add it inside. An error leaves nothing behind.
    **Guarantees:** with the same device, threads, torch and version of the program, its batches,
    noise and weights are those that the run would have had, so both together cost what one costs.
    Elsewhere a checkpoint is refused. A run that begins again may draw other noise, so it is also
    charged for the releases of the run before. A run continues once, so that no third run is
    forgotten; its rest can be resumed in turn. Errors: ValueError for an active, finished, imported
    or already resumed run, a job of another kind, an unreadable checkpoint, or a run that must
    begin again and has an epsilon to stop at.
    """
    before = store.run(run)
    _check_resumable(before)
    # And again when it is stored; here, so that nothing is trained in vain.
    with store.reading() as db:
        _check_alone(db, run)
    new = store.new_id()
    old_file = checkpoint_path(store.home, run)
    new_file = checkpoint_path(store.home, new)
    try:
        events = store.events(run)
        done = max([getattr(event, "step", 0) for event in events], default=0)
        said = _taken(old_file, new_file, events)
        if said:
            planned = before.plan.behind(done)
        else:
            check_anew(before.config, done)
            planned = before.plan.anew(done)
        check_budget(before.config, planned)
        yield Rest(new, before, said, planned, store.secret(run))
    except BaseException as error:
        new_file.unlink(missing_ok=True)
        if isinstance(error, ValueError):  # it names the copy; the original is still there
            raise ValueError(str(error).replace(str(new_file), str(old_file))) from error
        raise


def _check_resumable(before: Run) -> None:
    """Raise ValueError unless this is a training run of this store that ended early."""
    run = before.id
    if before.kind != TRAINING.name:
        raise ValueError(
            f"Run {run} is a job of kind {before.kind}; only training runs can be resumed."
        )
    if before.imported:
        raise ValueError(
            f"Run {run} was imported, without its checkpoint and its secret seed. Start a new run"
            " with its settings, which costs its own epsilon."
        )
    if not ended_early(before):
        raise ValueError(
            f"Run {run} is {before.status}; only a run that ended early can be resumed."
        )


def _check_alone(db: Database, run: str) -> None:
    """Raise ValueError if a run continues this one or did so.

    A second one would not be charged for the first. A deleted one that never began does not count.
    Errors: UnknownRun if the run itself is gone.
    """
    if not db.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone():
        raise UnknownRun(f"Run {run} was deleted.")
    row = db.execute(_RESTS, {"run": run}).fetchone()
    if row:
        why = _why_no_other(row["status"])
        raise ValueError(f"Run {run} can be resumed once, but run {row['id']} {why}")


def _why_no_other(status: str) -> str:
    """The reason why no other run may continue a run that one of this status continues."""
    if status == "deleted":
        return "continued it and was deleted. Start a new run, which costs its own epsilon."
    if status in ACTIVE:
        return f"continues it already and is {status}."
    if status in ENDED_EARLY:
        return f"continued it and is {status}. Resume that run, which is charged for both."
    return "continued it and has finished."


def _taken(file: Path, copy: Path, events: Sequence[Event]) -> Sequence[Event]:
    """Copy a run's checkpoint; the events before it, none if they are not all recorded."""
    if not file.exists():
        return []
    try:
        with open_regular(file) as old, open(copy, "wb", opener=private) as new:
            shutil.copyfileobj(old, new)
        label = label_of(copy)  # nobody replaces the copy
    except OSError as error:
        raise ValueError(
            f"Expected {file} to be a checkpoint that can be read; {error}."
        ) from error
    if label:
        said = _until(label.step, events)
    else:  # an unreadable checkpoint: the error comes from its reader
        said = list(events)
        while said and not isinstance(said[-1], Checkpointed):
            said.pop()
    if not said:
        copy.unlink()
    return said


def _until(step: int, events: Sequence[Event]) -> Sequence[Event]:
    """The events up to a checkpoint after the step; none if some are missing.

    A process may end after it wrote the file and before it recorded that. The last event is added
    then.
    """
    said = [event for event in events if isinstance(event, Started) or 0 < event.step <= step]
    steps = [event.step for event in said if isinstance(event, Stepped)]
    whole = said and isinstance(said[0], Started) and steps[-1:] == [step]
    if not whole:
        return []
    if Checkpointed(step) not in said:
        said.append(Checkpointed(step))
    return said


# takes a configuration, the `file` of its state, its plan `planned`, its seed `secret` and its
# `resume_point`
Train = Callable[..., Generator[Any, None, None]]
TIMES = ("seconds",)  # fields of events that differ between attempts


class NotContinued(ValueError):
    """The job cannot continue here; the text says why."""


def job_events(
    home: Path, run: Run, secret: int | None, said: Sequence[Any], train: Train
) -> Generator[Any, None, None]:
    """The further events of a job after those in `said`; `train` yields those of a training run.

    `home` holds its checkpoint. Errors: NotContinued, before the first event, if a begun job cannot
    continue here.
    """
    if run.kind != TRAINING.name:
        work = resolve_name(kind_named(run.kind).work)
        return _behind(work(run.request, secret=secret), said)
    if said and isinstance(said[-1], Finished):  # its worker died before it noted the end
        return (event for event in ())
    file = checkpoint_path(home, run.id)
    point = resume_point_of(said, run.origin)
    reported = point.reported if point else 0
    label = label_of(file) if file.exists() else None
    if label and label.step > reported:
        file.unlink()  # a power cut took the last events, but not the checkpoint after them
    events = train(run.config, file=file, planned=run.plan, secret=secret, resume_point=point)
    return _explained(events) if point else events


def _explained(events: Generator[Any, None, None]) -> Generator[Any, None, None]:
    """The events; a ValueError before the first becomes NotContinued."""
    try:
        first = next(events, None)
    except ValueError as error:
        raise NotContinued(str(error)) from error
    if first is not None:
        yield first
        yield from events


def _behind(events: Generator[Any, None, None], said: Sequence[Any]) -> Generator[Any, None, None]:
    """The events after those of before, which must come again unchanged."""
    for before in said:
        if _timeless(next(events, None)) != _timeless(before):
            raise NotContinued(
                "Its results here differ from its recorded ones, so it cannot continue here."
            )
    yield from events


def _timeless(event: Any) -> dict[str, Any] | None:
    if event is None:
        return None
    values = event_to_json(event)
    for name in TIMES:
        values.pop(name, None)
    return values
