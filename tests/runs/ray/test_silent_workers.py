"""A worker that says nothing is lost, but not where it is the store that somebody had to wait for."""

import time
from typing import Any

import pytest

from dpcore.runs.ray_pool import crew as crew_module
from dpcore.runs.ray_pool.job import record
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.holding import held
from tests.runs.ray.fake_cluster import FakeCluster, OneByOne
from tests.runs.ray.leading import crew_of, lead, over, steps_of

pytestmark = pytest.mark.usefixtures("short_waits")


def test_a_worker_that_no_longer_answers_is_ended_and_its_run_queued_again(store: Store) -> None:
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "steps", stale=0.2), store.submit(RunConfig())
    lead(crew, lambda: store.run(run).sequence > 3)
    silent = cluster.living[store.run(run).worker or ""]
    cluster.cut.add(silent)
    lead(crew, lambda: over(store))
    assert silent not in cluster.living.values()
    assert store.run(run).attempts == 1
    assert steps_of(store, run) == [*range(1, 21), 20]


@pytest.mark.long
def test_a_worker_that_has_answered_a_head_that_had_to_wait_for_its_store_is_not_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(*values: Any) -> int:
        time.sleep(1.7)
        return record(*values)

    monkeypatch.setattr(crew_module, "record", slowly)
    runs = [store.submit(RunConfig()) for _ in range(2)]
    lead(crew_of(store, OneByOne(2), "steps", stale=1.5), lambda: over(store), 60)
    assert [(store.run(run).status, store.run(run).attempts) for run in runs] == [(Status.FINISHED, 0)] * 2


def test_what_a_machine_that_is_silent_began_is_queued_again(store: Store) -> None:
    run = store.submit(RunConfig())
    store.claim("another name of this machine:17")
    crew = crew_of(store, FakeCluster(), "steps", stale=1.0)
    crew.round()
    crew.round()
    assert store.run(run).status is Status.RUNNING
    lead(crew, lambda: over(store))
    assert store.run(run).status is Status.FINISHED


def test_a_machine_that_cannot_speak_because_another_process_holds_the_store_keeps_its_run(store: Store) -> None:
    run = store.submit(RunConfig())
    store.claim("another name of this machine:17")
    crew = crew_of(store, FakeCluster(), "steps", stale=0.2)
    crew.round()
    time.sleep(0.3)
    with held(store.path, 1.5):
        crew.round()
    assert store.run(run).status is Status.RUNNING
