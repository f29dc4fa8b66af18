"""Going on with a run that ended early."""

import shutil

from dpcore.runs.record import Run, Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.events import Checkpointed


def ended_early(run: Run) -> bool:
    """Whether the run can be resumed: it was lost, cancelled or failed."""
    return not run.active and run.status is not Status.FINISHED


def resume(store: Store, run: str, worker: str | None = None) -> str:
    """A new run that goes on where the run was last saved, with its events until then; the new id.

    It is of `worker`, or queued where none is named. Where nothing was saved it begins anew, with the same seed. Its
    batches and noise are those that the run would have had, so that both together cost what one of them costs.
    Errors: ValueError for a run that may still go on or has finished.
    """
    before, new = store.run(run), store.new_id()
    if not ended_early(before):
        raise ValueError(f"Expected run={run!r} to have ended early, but it is {before.status}.")
    events, saved = store.tail(run), 0
    if checkpoint_path(store.home, run).exists():
        shutil.copyfile(checkpoint_path(store.home, run), checkpoint_path(store.home, new))
        saved = max((sequence for sequence, event in events if isinstance(event, Checkpointed)), default=0)
    store.submit_as(new, before.config, before.name, worker, said=[event for _, event in events[:saved]])
    return new
