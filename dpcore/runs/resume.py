"""Going on with a run that ended early."""

import shutil

from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.events import Checkpointed


def resume(store: Store, run: str, worker: str) -> str:
    """A new run of `worker` that goes on where the run was last saved, with its events until then; the new id.

    Where nothing was saved it begins anew, with the same seed. Its batches and noise are those that the run would have
    had, so that both together cost what one of them costs.
    Errors: ValueError for a run that may still go on or has finished.
    """
    before, new = store.run(run), store.new_id()
    if before.active or before.status is Status.FINISHED:
        raise ValueError(f"Expected run={run!r} to have ended early, but it is {before.status}.")
    events, saved = store.tail(run), 0
    if checkpoint_path(store.home, run).exists():
        shutil.copyfile(checkpoint_path(store.home, run), checkpoint_path(store.home, new))
        saved = max((sequence for sequence, event in events if isinstance(event, Checkpointed)), default=0)
    store.submit_as(new, before.config, before.name, worker)
    for _, event in events[:saved]:
        store.append(new, event)
    return new
