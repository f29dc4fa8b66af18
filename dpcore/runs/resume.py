"""Going on with a run that ended early."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.checkpoint_header import label_of, private
from dpcore.training.events import Checkpointed, Event, Started, Stepped


@dataclass(frozen=True)
class Rest:
    """What is left of a run, as a run of its own. Its checkpoint, if it has one, is in its place already."""

    id: str
    before: Run
    said: Sequence[Event]  # of the run before, up to the checkpoint

    def submit(self, store: Store, worker: str | None = None) -> None:
        """Hand it to `worker`, or queue it where none is named."""
        before, secret = self.before, store.secret(self.before.id)
        store.submit_as(self.id, before.config, before.name, worker, said=self.said, planned=before.plan, secret=secret)


def ended_early(run: Run) -> bool:
    """Whether the run can be resumed: it was lost, cancelled or failed."""
    return not run.active and run.status is not Status.FINISHED


def resume(store: Store, run: str, worker: str | None = None) -> str:
    """A new run that goes on where the run was last saved, with its events until then; the new id.

    It is of `worker`, or queued where none is named. Where nothing was saved it begins anew, with the same seed.
    **Guarantees:** on the same device, with as many threads, the same torch and this version of the program, its
    batches, noise and weights are those that the run would have had, so that both together cost what one of them
    costs. Elsewhere a checkpoint is refused. A run that begins anew is not stopped from doing so elsewhere: there its
    weights differ from those of the run before, and no epsilon covers releasing both.
    Errors: ValueError for a run that may still go on or has finished, a job of another kind, or a checkpoint that
    cannot be read.
    """
    with rest_of(store, run) as rest:
        rest.submit(store, worker)
    return rest.id


@contextmanager
def rest_of(store: Store, run: str) -> Iterator[Rest]:
    """What is left of a run, to be submitted inside; where that fails, nothing is left behind. Errors: as `resume`."""
    before, new = store.run(run), store.new_id()
    if before.kind != TRAINING.name:
        raise ValueError(f"Expected run={run!r} to be a training run, but it is of the kind {before.kind}.")
    if not ended_early(before):
        raise ValueError(f"Expected run={run!r} to have ended early, but it is {before.status}.")
    old, file = checkpoint_path(store.home, run), checkpoint_path(store.home, new)
    try:
        yield Rest(new, before, _taken(old, file, [event for _, event in store.tail(run)]))
    except BaseException as error:
        file.unlink(missing_ok=True)
        if isinstance(error, ValueError):  # what it says of the copy is true of the original, which is still there
            raise ValueError(str(error).replace(str(file), str(old))) from error
        raise


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
    # without a label it cannot be resumed either: who reads the rest of it says so
    said = _until(label.step, events) if label else _until_saved(events)
    if not said:
        copy.unlink()
    return said


def _until(step: int, events: Sequence[Event]) -> Sequence[Event]:
    """The events up to a checkpoint after the step; none where some of them are missing.

    The process may have ended between writing the file and recording that it did: then what is recorded ends with the
    report of the steps up to there, and the last event is made up for.
    """
    said = [event for event in events if isinstance(event, Started) or event.step <= step]
    steps = [event.step for event in said if isinstance(event, Stepped)]
    if not said or not isinstance(said[0], Started) or steps[-1:] != [step]:
        return []
    return said if Checkpointed(step) in said else [*said, Checkpointed(step)]


def _until_saved(events: Sequence[Event]) -> Sequence[Event]:
    last = max((number for number, event in enumerate(events, 1) if isinstance(event, Checkpointed)), default=0)
    return events[:last]
