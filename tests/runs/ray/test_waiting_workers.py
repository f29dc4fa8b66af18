"""Workers that wait for a run keep none from another, and those that are gone cost a run nothing."""

import time
from typing import Any

import pytest

from dpcore.runs.ray_pool import crew as crew_module
from dpcore.runs.ray_pool import node, staffing
from dpcore.runs.ray_pool.crew import Crew
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.ray.fake_cluster import FakeCluster
from tests.runs.ray.leading import crew_of, lead, over

pytestmark = pytest.mark.usefixtures("short_waits")
TRIES = 20


def with_idle_workers(store: Store, cluster: FakeCluster) -> Crew:
    """A crew whose every place has a worker without a GPU that waits, after runs of its own.

    On a busy machine a worker may be done with its run before the next one has started, and takes that one's: then all
    is asked for again.
    """
    crew = crew_of(store, cluster, "steps")
    for _ in range(TRIES):
        for _ in range(cluster.places):
            store.submit(RunConfig(device="cpu"))
        lead(crew, lambda: over(store) and all(worker.question is None for worker in crew.workers))
        if len(crew.workers) == cluster.places:
            return crew
    raise AssertionError(f"{len(crew.workers)} of {cluster.places} workers came.")


def test_workers_that_wait_for_other_runs_keep_none_from_the_worker_behind_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staffing, "AT_ONCE", 1)
    cluster = FakeCluster(2, gpus=1)
    crew = with_idle_workers(store, cluster)
    cluster.places += 1
    run = store.submit(RunConfig(device="cuda"))
    lead(crew, lambda: over(store), within=30)
    assert store.run(run).status is Status.FINISHED


def test_a_worker_that_nothing_waits_for_makes_room_for_what_waits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    crew = with_idle_workers(store, FakeCluster(1, gpus=1))
    run = store.submit(RunConfig(device="cuda"))
    monkeypatch.setattr(staffing, "IDLE", 0.2)
    lead(crew, lambda: over(store), within=30)
    assert store.run(run).status is Status.FINISHED


@pytest.mark.long
def test_a_worker_that_waits_is_called_so_that_it_lives_as_long_as_it_may_wait(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "LOOK", 0.05)
    monkeypatch.setattr(node, "ABANDONED", 2.0)
    monkeypatch.setattr(crew_module, "CALL", 0.05, raising=False)
    cluster = FakeCluster()
    crew = with_idle_workers(store, cluster)
    begun = time.monotonic()
    lead(crew, lambda: time.monotonic() - begun > 3.0)
    assert list(cluster.living) == [worker.name for worker in crew.workers]
    monkeypatch.setattr(staffing, "IDLE", 0.5)
    lead(crew, lambda: not crew.workers, within=30)


def test_a_worker_that_has_ended_while_it_waited_is_noticed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew_module, "CALL", 0.05, raising=False)
    cluster = FakeCluster()
    crew = with_idle_workers(store, cluster)
    cluster.living.clear()
    lead(crew, lambda: not crew.workers, within=30)
    assert crew.trouble is None


def test_a_run_that_only_dead_workers_were_given_is_given_to_a_living_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "FRESH", 0.0, raising=False)
    cluster = FakeCluster(4)
    crew = with_idle_workers(store, cluster)
    dead = [worker.name for worker in crew.workers]
    cluster.living.clear()
    run = store.submit(RunConfig())
    lead(crew, lambda: over(store))
    ended = store.run(run)
    assert (ended.status, ended.attempts) == (Status.FINISHED, 0)
    assert ended.worker not in dead


def test_a_run_that_ends_every_worker_that_takes_it_is_lost_after_three(store: Store) -> None:
    class Fatal(FakeCluster):
        def ask(self, worker: Any, method: str, *values: Any) -> Any:
            question = super().ask(worker, method, *values)
            if method == "work":
                self.end(worker)
            return question

    run = store.submit(RunConfig())
    lead(crew_of(store, Fatal(), "steps"), lambda: over(store))
    ended = store.run(run)
    assert (ended.status, ended.attempts) == (Status.LOST, 3)
    assert (ended.error or "").endswith("It has got no further in 3 attempts.")
