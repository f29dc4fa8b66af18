"""What the head does for the runs of a store, with workers in this process, on a clock that the tests hold."""

from pathlib import Path
from typing import Any

import pytest

import dpcore
from dpcore.runs.ray_pool import crew as crew_module
from dpcore.runs.ray_pool.crew import Crew
from dpcore.runs.ray_pool.node import UNHEARD, NodeWorker
from dpcore.runs.record import Run, Status, checkpoint_path, device_here
from dpcore.runs.store import Store
from dpcore.runs.supervision import STALE
from dpcore.runs.worker import shortage
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished
from tests.runs.by_hand import Clock
from tests.runs.ray.fake_cluster import FakeCluster, Unreliable
from tests.runs.ray.leading import crew_of, eager, lead, over, rounds, steps_of  # noqa: F401
from tests.runs.ray.node_doubles import MIDDLE

ALL = [*range(1, 21), 20]  # steps that a whole run says
pytestmark = pytest.mark.usefixtures("gate", "eager")


def held(store: Store, cluster: FakeCluster, count: int = 1, stale: float | None = None) -> tuple[Crew, list[str]]:
    """A crew, and runs that it has led into their middle, as many as there are places."""
    crew = crew_of(store, cluster, "held") if stale is None else crew_of(store, cluster, "held", stale)
    runs = [store.submit(RunConfig()) for _ in range(count)]
    lead(crew, lambda: [store.run(run).sequence for run in runs[: cluster.places]] == [MIDDLE + 1] * cluster.places)
    return crew, runs


def check_whole(store: Store, *runs: str) -> list[Run]:
    """The runs, each of which has finished and said all of its steps once."""
    for run in runs:
        assert (store.run(run).status, store.run(run).error) == (Status.FINISHED, None)
        assert steps_of(store, run) == ALL
    return [store.run(run) for run in runs]


def test_runs_wait_for_a_place_and_each_is_finished_once_with_all_that_it_said(store: Store, gate: Path) -> None:
    crew, runs = held(store, FakeCluster(2), 4)
    assert [store.run(run).position for run in runs] == [None, None, 1, 2]
    gate.touch()
    lead(crew, lambda: over(store))
    check_whole(store, *runs)
    assert crew.trouble is None


def test_a_run_whose_worker_is_gone_is_done_again_by_another_and_says_nothing_twice(store: Store, gate: Path) -> None:
    cluster = FakeCluster()
    crew, (run,) = held(store, cluster)
    first = store.run(run).worker
    cluster.end(cluster.living[first or ""])
    gate.touch()
    lead(crew, lambda: over(store))
    (ended,) = check_whole(store, run)
    assert ended.worker != first


def test_a_checkpoint_reaches_the_head_and_the_next_worker(store: Store, gate: Path) -> None:
    cluster = FakeCluster()
    crew, run = crew_of(store, cluster, "saving"), store.submit(RunConfig())
    file = checkpoint_path(store.home, run)
    lead(crew, lambda: store.run(run).sequence == 5)
    assert file.stat().st_mode & 0o077 == 0
    cluster.end(cluster.living[store.run(run).worker or ""])
    gate.touch()
    lead(crew, lambda: over(store))
    last = store.run(run).last
    assert isinstance(last, Finished)
    assert last.accuracy == 1.0  # it began at the checkpoint
    assert steps_of(store, run) == [1, 2, 3, 3, 4, 5, 6, 6]
    assert not file.exists()


def test_answers_that_are_lost_on_their_way_lose_and_double_nothing(store: Store) -> None:
    cluster = Unreliable(3)
    runs = [store.submit(RunConfig()) for _ in range(3)]
    crew = crew_of(store, cluster, "steps")
    lead(crew, lambda: cluster.clock.go_on(1.0) or over(store))  # a second after a lost answer it is asked again
    check_whole(store, *runs)


def test_the_next_head_finds_what_the_one_before_has_begun(store: Store, gate: Path) -> None:
    cluster = FakeCluster(2)
    _, runs = held(store, cluster, 3)
    workers = [store.run(run).worker for run in runs[:2]]
    gate.touch()
    lead(crew_of(store, cluster, "held"), lambda: over(store))
    assert [run.worker for run in check_whole(store, *runs)][:2] == workers
    assert sum(method == "work" for method, _ in cluster.asked) == 3


def test_a_run_that_takes_longer_than_the_limit_is_ended_and_names_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "longest_here", lambda home: 20)
    cluster = FakeCluster()
    crew, (run,) = held(store, cluster)
    cluster.clock.go_on(20.0)
    lead(crew, lambda: over(store))
    ended = store.run(run)
    assert (ended.status, ended.sequence) == (Status.FAILED, MIDDLE + 1)
    assert "the limit seconds=20 of limits.toml" in (ended.error or "")
    assert not cluster.living


def test_a_cancelled_run_stops_at_its_next_event_and_its_worker_takes_the_next(store: Store, gate: Path) -> None:
    cluster = FakeCluster()
    crew, (run,) = held(store, cluster)
    worker, other = store.run(run).worker, store.submit(RunConfig())
    store.cancel(run)
    lead(crew, lambda: ("cancel", (run,)) in cluster.asked)
    gate.touch()
    lead(crew, lambda: over(store))
    assert store.run(run).status is Status.CANCELLED
    assert store.run(run).sequence <= MIDDLE + 2
    assert store.run(other).worker == worker


def test_a_failure_comes_with_its_traceback_and_a_full_memory_with_what_to_do(store: Store) -> None:
    for train, words in (
        ("train_doubles:failing", "ArithmeticError: the loss of seed 3 is gone"),
        ("too_large", shortage(MemoryError())),
    ):
        run = store.submit(RunConfig(seed=3))
        lead(crew_of(store, FakeCluster(), train), lambda: over(store))
        assert store.run(run).status is Status.FAILED
        lines = (store.run(run).error or "").splitlines()
        assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", words)


def test_a_share_of_a_gpu_goes_to_what_asks_for_one_and_no_process_with_one_does_two_runs(store: Store) -> None:
    cluster = FakeCluster(2, gpus=1)
    crew = crew_of(store, cluster, "steps")
    runs = [store.submit(RunConfig(device=device)) for device in ("cuda", "cpu", "auto")]
    lead(crew, lambda: over(store))
    assert len({store.run(run).worker for run in runs}) == 3
    assert sorted(shape.gpus for shape in cluster.shapes) == [0.0, 1.0, 1.0]


def test_a_cluster_without_a_node_that_is_large_enough_is_told_of(store: Store) -> None:
    crew = crew_of(store, FakeCluster(0), "steps", cpus=64)
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


def test_the_secret_seed_of_a_run_reaches_its_worker_and_that_of_no_other_and_nothing_stays_there(
    store: Store, tmp_path: Path
) -> None:
    cluster = FakeCluster()
    before = store.submit(RunConfig())
    store.cancel(before)
    run = store.new_id()
    store.submit_as(run, RunConfig(), parent=store.run(before))
    crew = crew_of(store, cluster, "steps")
    lead(crew, lambda: over(store))
    job = next(values[0] for method, values in cluster.asked if method == "work")
    assert (job.row["id"], int(job.row["secret"], 16)) == (run, store.secret(run))
    assert f"{store.secret(before):032x}" not in repr(job)
    lead(crew, lambda: all(worker.question is None for worker in crew.workers))
    assert list(tmp_path.glob("dpcore-node-*/*/*")) == []
    assert device_here(store.home) == ""


def test_a_worker_that_no_longer_answers_is_ended_and_its_run_queued_again(store: Store, gate: Path) -> None:
    cluster = FakeCluster()
    crew, (run,) = held(store, cluster, stale=STALE)
    first = store.run(run).worker or ""
    silent = cluster.living[first]
    cluster.cut.add(silent)
    rounds(crew, 2)
    cluster.clock.go_on(STALE)
    rounds(crew, 2)
    assert silent not in cluster.living.values()
    assert store.run(run).worker != first
    gate.touch()
    lead(crew, lambda: over(store))
    check_whole(store, run)


def test_a_worker_whose_head_is_gone_goes_on_with_its_run_and_waits_long_to_be_fetched() -> None:
    clock = Clock()
    worker = NodeWorker("node_doubles:steps", 1, 0.0, lambda _: None, clock)
    worker._run = "a run"
    clock.go_on(UNHEARD)
    assert not worker.abandoned
    clock.go_on(1.0)
    assert worker.abandoned
    worker._end()


def test_a_run_that_ends_every_worker_that_takes_it_is_lost_after_three(store: Store) -> None:
    class Fatal(FakeCluster):
        def ask(self, worker: Any, method: str, *values: Any) -> Any:
            question = super().ask(worker, method, *values)
            if method == "work":
                self.end(worker)
            return question

    run = store.submit(RunConfig())
    lead(crew_of(store, Fatal(), "held"), lambda: over(store))
    ended = store.run(run)
    assert ended.status is Status.LOST
    assert (ended.error or "").endswith("It has got no further in 3 attempts.")
