"""What the head does for the runs of a store, with workers in this process."""

import time
from pathlib import Path

import pytest

import dpcore
from dpcore.runs.editing import delete
from dpcore.runs.out_of_memory import shortage
from dpcore.runs.ray_pool import crew as crew_module
from dpcore.runs.ray_pool.cluster import Shape
from dpcore.runs.ray_pool.crew import Crew
from dpcore.runs.record import Status, checkpoint_path, device_here, worker_name
from dpcore.runs.store import PAUSED, Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Unsaved
from tests.runs.ray.fake_cluster import FakeCluster, Unreliable
from tests.runs.ray.leading import crew_of, lead, over, steps_of

FINISHED = [Status.FINISHED]


pytestmark = pytest.mark.usefixtures("short_waits")


def test_every_run_is_finished_once_with_all_that_it_said(store: Store) -> None:
    crew = crew_of(store, FakeCluster(3), "steps")
    runs = [store.submit(RunConfig()) for _ in range(5)]
    lead(crew, lambda: over(store))
    assert [store.run(run).status for run in runs] == FINISHED * 5
    assert all(steps_of(store, run) == [*range(1, 21), 20] for run in runs)
    assert crew.trouble is None


def test_a_run_stays_in_the_queue_until_the_cluster_has_a_place_for_it(store: Store) -> None:
    crew = crew_of(store, FakeCluster(2), "steps")
    for _ in range(4):
        store.submit(RunConfig())
    lead(crew, lambda: store.runs(Status.RUNNING))
    assert sorted(run.position or 0 for run in store.runs(Status.QUEUED))[-2:] == [1, 2]
    assert len(store.runs(Status.RUNNING)) == 2


def test_a_run_whose_worker_is_gone_is_done_again_by_another_and_says_nothing_twice(store: Store) -> None:
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "steps"), store.submit(RunConfig())
    lead(crew, lambda: store.run(run).sequence > 5)
    first = store.run(run).worker
    cluster.end(cluster.living[first or ""])
    lead(crew, lambda: over(store))
    ended = store.run(run)
    assert (ended.status, ended.attempts) == (Status.FINISHED, 1)
    assert ended.worker != first
    assert steps_of(store, run) == [*range(1, 21), 20]


def test_a_checkpoint_reaches_the_head_and_the_next_worker(store: Store) -> None:
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "saving"), store.submit(RunConfig())
    file = checkpoint_path(store.home, run)
    lead(crew, file.exists)
    assert file.stat().st_mode & 0o077 == 0
    cluster.end(cluster.living[store.run(run).worker or ""])
    lead(crew, lambda: over(store))
    last = store.run(run).last
    assert isinstance(last, Finished)
    assert last.accuracy == 1.0  # it began at the checkpoint
    assert steps_of(store, run) == [1, 2, 3, 3, 4, 5, 6, 6]
    assert not file.exists()


def test_a_checkpoint_that_is_too_large_to_travel_is_not_said_to_be_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore.runs.ray_pool.job.MOST", 10)
    run = store.submit(RunConfig())
    lead(crew_of(store, FakeCluster(), "saving"), lambda: over(store))
    assert [event.step for _, event in store.tail(run) if isinstance(event, Unsaved)] == [3]


@pytest.mark.long
def test_answers_that_are_lost_on_their_way_lose_and_double_nothing(store: Store) -> None:
    runs = [store.submit(RunConfig()) for _ in range(3)]
    lead(crew_of(store, Unreliable(3), "steps"), lambda: over(store), within=60)
    assert all(steps_of(store, run) == [*range(1, 21), 20] for run in runs)


def test_the_next_head_finds_what_the_one_before_has_begun(store: Store) -> None:
    cluster = FakeCluster(2)
    runs = [store.submit(RunConfig()) for _ in range(3)]
    lead(crew_of(store, cluster, "steps"), lambda: store.run(runs[1]).sequence > 5)
    workers = [store.run(run).worker for run in runs[:2]]
    time.sleep(0.5)  # nobody asks them meanwhile
    lead(crew_of(store, cluster, "steps"), lambda: over(store))
    assert [store.run(run).worker for run in runs[:2]] == workers
    assert [store.run(run).status for run in runs] == FINISHED * 3
    assert all(steps_of(store, run) == [*range(1, 21), 20] for run in runs)
    assert sum(method == "work" for method, _ in cluster.asked) == 3


def test_a_run_that_was_claimed_but_never_handed_over_is_handed_over_by_the_next_head(store: Store) -> None:
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "steps"), store.submit(RunConfig())
    cluster.start("ray/worker", Shape(1, 0.0, ()), "node_doubles:steps")
    claimed = store.claim("ray/worker")
    assert claimed is not None
    lead(crew, lambda: over(store))
    assert steps_of(store, run) == [*range(1, 21), 20]
    assert store.run(run).worker == "ray/worker"


def test_what_an_earlier_head_began_on_a_node_that_is_gone_is_queued_again(store: Store) -> None:
    run = store.submit(RunConfig())
    store.claim("ray/worker")
    lead(crew_of(store, FakeCluster(), "steps"), lambda: over(store))
    assert store.run(run).status is Status.FINISHED


def test_what_a_dead_process_of_this_machine_began_is_queued_again(store: Store) -> None:
    run = store.submit(RunConfig())
    store.claim(worker_name(2**30))
    lead(crew_of(store, FakeCluster(), "steps"), lambda: over(store))
    assert store.run(run).status is Status.FINISHED


def test_a_run_that_takes_longer_than_the_limit_is_ended_and_names_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "longest_here", lambda home: 0.2)
    cluster = FakeCluster()
    run = store.submit(RunConfig())
    lead(crew_of(store, cluster, "steps"), lambda: over(store))
    ended = store.run(run)
    assert ended.status is Status.FAILED
    assert "the limit seconds=0.2 of limits.toml" in (ended.error or "")
    assert 0 < ended.sequence < 20
    assert not cluster.living


def test_a_cancelled_run_stops_at_its_next_event_and_its_worker_takes_the_next(store: Store) -> None:
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "steps"), store.submit(RunConfig())
    lead(crew, lambda: store.run(run).sequence > 2)
    worker = store.run(run).worker
    store.cancel(run)
    other = store.submit(RunConfig())
    lead(crew, lambda: over(store))
    assert store.run(run).status is Status.CANCELLED
    assert store.run(run).sequence < 20
    assert store.run(other).worker == worker


def test_a_worker_that_heeds_no_cancellation_is_ended(store: Store) -> None:
    cluster = FakeCluster()
    crew = Crew(store, cluster, "train_doubles:silent", 1, 1.0)
    run = store.submit(RunConfig())
    lead(crew, lambda: store.runs(Status.RUNNING))
    store.cancel(run)
    lead(crew, lambda: over(store), within=30)
    assert store.run(run).status is Status.CANCELLED
    assert not cluster.living


def test_a_deleted_run_is_ended_on_its_node(store: Store) -> None:
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "steps"), store.submit(RunConfig())
    lead(crew, lambda: store.run(run).sequence > 2)
    store.end(run, Status.LOST)
    delete(store, run)
    lead(crew, lambda: not crew.workers)
    assert not cluster.living


def test_a_failure_comes_with_its_traceback(store: Store) -> None:
    crew = Crew(store, FakeCluster(), "train_doubles:failing", 1, 1.0)
    run = store.submit(RunConfig(seed=3))
    lead(crew, lambda: over(store))
    assert store.run(run).status is Status.FAILED
    assert (store.run(run).error or "").rstrip().endswith("ArithmeticError: the loss of seed 3 is gone")


def test_a_run_that_memory_does_not_hold_says_so_below_its_traceback(store: Store) -> None:
    run = store.submit(RunConfig())
    lead(crew_of(store, FakeCluster(), "too_large"), lambda: over(store))
    assert store.run(run).status is Status.FAILED
    lines = (store.run(run).error or "").splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == shortage(MemoryError())


def test_nothing_is_begun_while_the_queue_is_paused(store: Store) -> None:
    crew = crew_of(store, FakeCluster(), "steps")
    store.post(PAUSED, "yes")
    run = store.submit(RunConfig())
    lead(crew, lambda: any(worker.ready for worker in crew.workers))
    for _ in range(10):
        crew.round()
    assert store.run(run).status is Status.QUEUED
    store.post(PAUSED, None)
    lead(crew, lambda: over(store))


def test_a_share_of_a_gpu_goes_to_what_asks_for_one_and_no_process_with_one_does_two_runs(store: Store) -> None:
    cluster = FakeCluster(2, gpus=1)
    crew = crew_of(store, cluster, "steps")
    runs = [store.submit(RunConfig(device=device)) for device in ("cuda", "cpu", "auto")]
    lead(crew, lambda: over(store))
    workers = [store.run(run).worker for run in runs]
    assert len(set(workers)) == 3
    assert sorted(shape.gpus for shape in cluster.shapes) == [0.0, 1.0, 1.0]


def test_a_cluster_without_a_node_that_is_large_enough_is_told_of(store: Store) -> None:
    crew = Crew(store, FakeCluster(0), "node_doubles:steps", 64, 1.0)
    store.submit(RunConfig())
    lead(crew, lambda: crew.trouble)
    assert crew.trouble == "No node of the Ray cluster has 64 CPU, which a run takes. Runs stay queued."


def test_a_node_with_another_version_gets_no_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpcore, "__version__", "1.0")
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "steps"), store.submit(RunConfig())
    monkeypatch.setattr(cluster, "answer", lambda question: {**question.answer, "version": "0.0.9"})
    lead(crew, lambda: crew.trouble)
    assert "Expected dpcore 1.0 on every node, but" in (crew.trouble or "")
    assert not cluster.living
    assert store.run(run).status is Status.QUEUED


def test_the_secret_seed_of_a_run_reaches_its_worker_and_that_of_no_other(store: Store) -> None:
    cluster = FakeCluster()
    before = store.submit(RunConfig())
    store.cancel(before)
    run = store.new_id()
    store.submit_as(run, RunConfig(), parent=store.run(before))
    lead(crew_of(store, cluster, "steps"), lambda: over(store))
    job = next(values[0] for method, values in cluster.asked if method == "work")
    assert (job.row["id"], int(job.row["secret"], 16)) == (run, store.secret(run))
    assert f"{store.secret(before):032x}" not in repr(job)


def test_a_worker_leaves_nothing_on_its_node(store: Store, tmp_path: Path) -> None:
    cluster = FakeCluster()
    crew = crew_of(store, cluster, "steps")
    store.submit(RunConfig())
    lead(crew, lambda: over(store))
    lead(crew, lambda: all(worker.question is None for worker in crew.workers))
    assert list(tmp_path.glob("dpcore-node-*/*/*")) == []
    assert device_here(store.home) == ""
