"""A run that was claimed and has said nothing can be queued again."""

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Started


def test_a_run_is_given_back_as_it_was_claimed_unless_it_said_something_or_is_to_stop(store: Store) -> None:
    first, second = store.submit(RunConfig()), store.submit(RunConfig())
    claimed = store.claim("here:1")
    assert claimed is not None
    assert store.give_back(claimed)
    again = store.run(first)
    assert (again.status, again.position, again.worker, again.started) == (Status.QUEUED, 1, None, None)
    assert store.run(second).position == 2
    assert not store.give_back(claimed)  # it is nobody's now
    claimed = store.claim("here:2")
    assert claimed is not None
    store.append(first, Started(1, 1, 0.5, "cpu", 1, ""))
    assert not store.give_back(claimed)
    assert store.run(first).status is Status.RUNNING
    store.end(first, Status.FINISHED)
    claimed = store.claim("here:3")
    assert claimed is not None
    store.cancel(second)
    assert not store.give_back(claimed)
