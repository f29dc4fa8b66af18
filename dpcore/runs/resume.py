"""Going on with a run that ended early, and with a claimed job whose worker went, from where it was."""

import importlib
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcore.runs.kinds import TRAINING, event_to_json, kind_named
from dpcore.runs.record import Database, Run, Status, UnknownRun, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.checkpoint_header import label_of, private
from dpcore.training.events import Checkpointed, Event, Finished, Started, Stepped
from dpcore.training.plan import Plan, check_anew, check_budget
from dpcore.training.resume_point import resume_point_of

_RESTS = """SELECT id, status FROM (
        SELECT id, status, number FROM runs WHERE parent = ?
        UNION ALL SELECT id, 'deleted', 0 FROM deleted WHERE parent = ? AND begun
    ) ORDER BY status IN ('queued', 'running') DESC, status = 'finished' DESC, number DESC"""
_ENDED = "run {rest} went on with it already and is {status}: resume that one, which is charged for both."
_WHY = {  # how the run stands that goes on with another one -> why nobody else does
    Status.QUEUED: "run {rest} goes on with it already: it is queued.",
    Status.RUNNING: "run {rest} goes on with it already: it is running.",
    Status.FINISHED: "run {rest} went on with it already and has finished.",
    "deleted": "run {rest} went on with it and was deleted. Start a new run instead, which costs its own epsilon.",
}


@dataclass(frozen=True)
class Rest:
    """What is left of a run, as a run of its own. Its checkpoint, if it has one, is in its place already."""

    id: str
    before: Run
    said: Sequence[Event]  # of the run before, up to the checkpoint
    plan: Plan  # where it begins anew, with what the run before has released

    def submit(
        self,
        store: Store,
        worker: str | None = None,
        guard: Callable[[Database], None] | None = None,
    ) -> None:
        """Hand it to `worker`, or queue it where none is named, unless `guard` of `Store.submit` raises.

        Errors: ValueError where another run goes on with the one before, or has done so; UnknownRun where that is gone.
        """
        before, secret = self.before, store.secret(self.before.id)

        def asked(db: Database) -> None:
            _check_alone(db, before.id)
            if guard:
                guard(db)

        store.submit(
            before.config,
            before.name,
            worker,
            run=self.id,
            said=self.said,
            planned=self.plan,
            secret=secret,
            owner=before.owner,
            sweep=before.sweep,
            parent=before,
            guard=asked,
        )


def ended_early(run: Run) -> bool:
    """Whether the run can be resumed: it was lost, cancelled or failed, and is no imported one."""
    return not run.active and run.status is not Status.FINISHED and not run.imported


@contextmanager
def rest_of(store: Store, run: str) -> Iterator[Rest]:
    """A new run that goes on where the run was last saved, with its events until then, to be submitted inside.

    Where that fails, nothing is left behind. Where nothing was saved it begins anew, with the same seed.
    **Guarantees:** on the same device, with as many threads, the same torch and this version of the program, its
    batches, noise and weights are those that the run would have had, so that both together cost what one of them
    costs. Elsewhere a checkpoint is refused. A run that begins anew may draw other noise: what the run before has
    released is charged to it, too. So that no third run is forgotten, a run is gone on with once: whoever asks again is
    told of the run that does so, which can be resumed in its turn.
    Errors: ValueError for a run that may still go on or has finished, one that was resumed before, an imported one, a
    job of another kind, a checkpoint that cannot be read, or a run that would have to begin anew and has an epsilon to
    stop at.
    """
    before, new = store.run(run), store.new_id()
    if before.kind != TRAINING.name:
        raise ValueError(f"Expected run={run!r} to be a training run, but it is of the kind {before.kind}.")
    if before.imported:
        raise ValueError(
            f"Expected run={run!r} to be one of this store, but it was imported: its checkpoint and its secret seed "
            "stayed where it was trained. Start a new run of its settings instead, which costs its own epsilon."
        )
    if not ended_early(before):
        raise ValueError(f"Expected run={run!r} to have ended early, but it is {before.status}.")
    with store.reading() as db:  # and once more as it is stored: here, so that nothing is trained in vain
        _check_alone(db, run)
    old, file = checkpoint_path(store.home, run), checkpoint_path(store.home, new)
    try:
        events = [event for _, event in store.tail(run)]
        said = _taken(old, file, events)
        done = max((getattr(event, "step", 0) for event in events), default=0)
        if not said:
            check_anew(before.config, done)
        planned = before.plan.behind(done) if said else before.plan.anew(done)
        check_budget(before.config, planned)
        yield Rest(new, before, said, planned)
    except BaseException as error:
        file.unlink(missing_ok=True)
        if isinstance(error, ValueError):  # what it says of the copy is true of the original, which is still there
            raise ValueError(str(error).replace(str(file), str(old))) from error
        raise


def _check_alone(db: Database, run: str) -> None:
    """ValueError where a run goes on with this one, or has done so: a second one would not be charged for the first.

    One that never began, and is gone, does not count. Errors: UnknownRun where the run itself is gone.
    """
    if not db.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone():
        raise UnknownRun(f"Expected run={run!r} to be there still, but it was deleted.")
    if row := db.execute(_RESTS, (run, run)).fetchone():
        why = _WHY.get(row["status"], _ENDED).format(rest=row["id"], status=row["status"])
        raise ValueError(f"Expected run={run!r} to be resumed once, but {why}")


def _taken(file: Path, copy: Path, events: Sequence[Event]) -> Sequence[Event]:
    """Copy a run's checkpoint, if what it did until then is recorded: the events until then, else none."""
    if not file.exists():
        return []
    try:
        with open(file, "rb") as old, open(copy, "wb", opener=private) as new:
            shutil.copyfileobj(old, new)
        label = label_of(copy)  # of the copy: nobody replaces that
    except OSError as error:
        raise ValueError(f"Expected {file} to be a checkpoint that can be read; {error}.") from error
    if label:
        said = _until(label.step, events)
    else:  # it cannot be resumed either: who reads the rest of it says so
        saved = [number for number, event in enumerate(events, 1) if isinstance(event, Checkpointed)]
        said = events[: max(saved, default=0)]
    if not said:
        copy.unlink()
    return said


def _until(step: int, events: Sequence[Event]) -> Sequence[Event]:
    """The events up to a checkpoint after the step; none where some of them are missing.

    The process may have ended between writing the file and recording that it did: then what is recorded ends with the
    report of the steps up to there, and the last event is made up for.
    """
    said = [event for event in events if isinstance(event, Started) or 0 < event.step <= step]
    steps = [event.step for event in said if isinstance(event, Stepped)]
    if not said or not isinstance(said[0], Started) or steps[-1:] != [step]:
        return []
    return said if Checkpointed(step) in said else [*said, Checkpointed(step)]


# of a configuration, with `file`, where its state is kept, `planned`, its plan, `secret`, its seed, and `resume_point`,
# how far it had come
Train = Callable[..., Generator[Any, None, None]]
TIMES = ("seconds",)  # of an event: they differ from one attempt to the next


class NotContinued(ValueError):
    """Nobody can go on with the job here; the text says why."""


def job_events(
    home: Path, run: Run, secret: int | None, said: Sequence[Any], train: Train
) -> Generator[Any, None, None]:
    """The events of a job that has a secret seed and has said so much already, a training run's by `train`.

    Its checkpoint is kept in `home`. Errors: NotContinued, before the first of them, where a job that was begun cannot
    go on here.
    """
    if run.kind != TRAINING.name:
        events = load(kind_named(run.kind).work)(run.request, secret=secret)
        return _behind(events, said)
    if said and isinstance(said[-1], Finished):  # its worker went before it could note the end
        return (event for event in ())
    file, point = checkpoint_path(home, run.id), resume_point_of(said, run.origin)
    label = label_of(file) if file.exists() else None
    if label and label.step > (point.reported if point else 0):
        file.unlink()  # a power cut took the last events, and kept what came after them
    events = train(run.config, file=file, planned=run.plan, secret=secret, resume_point=point)
    return _explained(events) if point else events


def load(work: str) -> Train:
    """The function that "module:name" names."""
    module, _, name = work.partition(":")
    return getattr(importlib.import_module(module), name)


def _explained(events: Generator[Any, None, None]) -> Generator[Any, None, None]:
    """The events; what keeps the first of them from coming is NotContinued."""
    try:
        first = next(events, None)
    except ValueError as error:
        raise NotContinued(str(error)) from error
    if first is not None:
        yield first
        yield from events


def _behind(events: Generator[Any, None, None], said: Sequence[Any]) -> Generator[Any, None, None]:
    """The events behind those that were said before, which must come again as they were."""
    for before in said:
        if _timeless(next(events, None)) != _timeless(before):
            raise NotContinued("What it finds here is not what it has said before, so it cannot go on here.")
    yield from events


def _timeless(event: Any) -> dict[str, Any] | None:
    return event and {name: value for name, value in event_to_json(event).items() if name not in TIMES}
