"""What the head does for the runs of a store, with tasks in this process, on a clock that the tests
hold.
"""

from pathlib import Path

import pytest

import dpcore
from dpcore.runs.ray_pool import streams as streams_module
from dpcore.runs.ray_pool.node import put
from dpcore.runs.ray_pool.streams import PLACE_SECONDS, Streams
from dpcore.runs.record import Run, Status, StoreError, checkpoint_path, device_here
from dpcore.runs.store import Store
from dpcore.runs.worker import shortage
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished
from tests.runs.ray.fake_cluster import FakeCluster
from tests.runs.ray.leading import eager, lead, over, rounds, steps_of, streams_of  # noqa: F401
from tests.runs.ray.node_doubles import MIDDLE

ALL = [*range(1, 21), 20]  # steps that a whole run says
pytestmark = pytest.mark.usefixtures("gate", "eager")


def held(store: Store, cluster: FakeCluster, count: int = 1) -> tuple[Streams, list[str]]:
    """Runs that are led into their middle, as many as there are places."""
    cluster.held = MIDDLE + 2  # the greeting and the start come before the steps
    streams, runs = (
        streams_of(store, cluster, "steps"),
        [store.submit(RunConfig()) for _ in range(count)],
    )
    lead(
        streams,
        lambda: (
            [store.run(run).sequence for run in runs[: cluster.places]]
            == [MIDDLE + 1] * cluster.places
        ),
    )
    return streams, runs


def check_whole(store: Store, *runs: str) -> list[Run]:
    """The runs, each of which has finished and said all of its steps once."""
    for run in runs:
        assert (store.run(run).status, store.run(run).error) == (Status.FINISHED, None)
        assert steps_of(store, run) == ALL
    return [store.run(run) for run in runs]


def test_runs_wait_for_a_place_and_each_is_finished_once_with_all_that_it_said(
    store: Store,
) -> None:
    cluster = FakeCluster(2)
    streams, runs = held(store, cluster, 4)
    rounds(streams, 3)
    assert [store.run(run).position for run in runs] == [None, None, 1, 2]
    cluster.held = None
    lead(streams, lambda: over(store))
    check_whole(store, *runs)
    assert streams.trouble is None
    assert len(cluster.streams) == 4


def test_a_run_whose_node_is_gone_is_done_again_by_another_and_says_nothing_twice(
    store: Store,
) -> None:
    cluster = FakeCluster()
    streams, (run,) = held(store, cluster)
    first = store.run(run).worker
    cluster.end(cluster.streams[0])
    cluster.held = None
    lead(streams, lambda: over(store))
    (ended,) = check_whole(store, run)
    assert ended.worker != first


def test_a_checkpoint_reaches_the_head_and_the_next_node(store: Store, gate: Path) -> None:
    cluster = FakeCluster(held=6)
    gate.touch()
    streams, run = streams_of(store, cluster, "saving"), store.submit(RunConfig())
    file = checkpoint_path(store.home, run)
    lead(streams, lambda: store.run(run).sequence == 5)
    assert file.stat().st_mode & 0o077 == 0
    cluster.end(cluster.streams[0])
    cluster.held = None
    lead(streams, lambda: over(store))
    last = store.run(run).last
    assert isinstance(last, Finished)
    assert last.accuracy == 1.0  # it began at the checkpoint
    assert steps_of(store, run) == [1, 2, 3, 3, 4, 5, 6, 6]
    assert not file.exists()


def test_a_task_that_finishes_after_another_worker_got_its_run_leaves_that_workers_checkpoint(
    store: Store,
) -> None:
    # The greeting and the start come before the steps, and then the end.
    cluster = FakeCluster(held=len(ALL) + 2)
    streams, run = streams_of(store, cluster, "steps"), store.submit(RunConfig())
    lead(streams, lambda: store.run(run).sequence == len(ALL) + 1)
    store.recover(store.run(run), "Its head was silent for long.")
    assert store.claim("elsewhere:1")
    put(b"weights", file := checkpoint_path(store.home, run))
    cluster.held = None
    rounds(streams)
    assert not cluster.living
    assert (store.run(run).status, file.read_bytes()) == (Status.RUNNING, b"weights")


def test_the_next_head_goes_on_with_what_the_one_before_has_begun(store: Store) -> None:
    cluster = FakeCluster(2)
    streams, runs = held(store, cluster, 3)
    streams.close()
    assert not cluster.living
    cluster.held = MIDDLE
    killed = streams_of(store, cluster, "steps")
    lead(killed, lambda: len(cluster.living) == 2)  # it ends without a word
    cluster.places, cluster.held = 4, None
    lead(streams_of(store, cluster, "steps"), lambda: over(store))
    check_whole(store, *runs)


def test_an_event_that_the_store_could_not_take_is_neither_lost_nor_doubled(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, asked = store.append, []

    def full_at_times(*values: object) -> bool:
        asked.append(values)
        if len(asked) % 2:
            raise StoreError("the disk is full")
        return append(*values)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "append", full_at_times)
    streams, run = streams_of(store, FakeCluster(), "steps"), store.submit(RunConfig())
    while not over(store):
        try:
            rounds(streams)
        except StoreError:  # the head waits, and goes on
            continue
    check_whole(store, run)


def test_a_run_that_takes_longer_than_the_limit_is_ended_and_names_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams_module, "longest_here", lambda home: 20)
    cluster = FakeCluster()
    streams, (run,) = held(store, cluster)
    cluster.clock.go_on(20.0)
    lead(streams, lambda: over(store))
    ended = store.run(run)
    assert (ended.status, ended.sequence) == (Status.FAILED, MIDDLE + 1)
    assert "20 s, the limit in limits.toml" in (ended.error or "")
    assert not cluster.living


def test_a_cancelled_run_is_ended_and_the_next_has_its_place(store: Store) -> None:
    cluster = FakeCluster()
    streams, (run,) = held(store, cluster)
    other = store.submit(RunConfig())
    store.cancel(run)
    cluster.held = None
    lead(streams, lambda: over(store))
    assert store.run(run).status is Status.CANCELLED
    assert store.run(run).sequence <= MIDDLE + 2
    check_whole(store, other)


def test_a_failure_comes_with_its_traceback_and_a_full_memory_with_what_to_do(store: Store) -> None:
    for train, words in (
        ("train_doubles:failing", "ArithmeticError: the loss of seed 3 is gone"),
        ("too_large", shortage(MemoryError())),
    ):
        run = store.submit(RunConfig(seed=3))
        lead(streams_of(store, FakeCluster(), train), lambda: over(store))
        assert store.run(run).status is Status.FAILED
        lines = (store.run(run).error or "").splitlines()
        assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", words)


def test_a_share_of_a_gpu_goes_to_what_asks_for_one(store: Store) -> None:
    cluster = FakeCluster(2, gpus=1)
    streams = streams_of(store, cluster, "steps")
    for device in ("cuda", "cpu", "auto"):
        store.submit(RunConfig(device=device))
    lead(streams, lambda: over(store))
    given = [(stream.job.run.settings["device"], stream.shape.gpus) for stream in cluster.streams]
    assert sorted(given) == [("auto", 1.0), ("cpu", 0.0), ("cuda", 1.0)]
    assert device_here(store.home) == "cpu"  # as the run said that named none


def test_a_cluster_without_a_node_that_is_large_enough_is_told_of(store: Store) -> None:
    streams = streams_of(store, FakeCluster(0), "steps", cpus=64)
    store.submit(RunConfig())
    lead(streams, lambda: streams.trouble)
    assert (
        streams.trouble
        == "No node of the Ray cluster has 64 CPU, which a run takes. Runs stay queued."
    )


def test_a_node_with_another_version_does_no_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dpcore, "__version__", "1.0")
    cluster = FakeCluster()
    cluster.version = "0.0.9"
    streams, run = streams_of(store, cluster, "steps"), store.submit(RunConfig())
    lead(streams, lambda: streams.trouble)
    assert "Expected dpcore 1.0 on every node, but" in (streams.trouble or "")
    assert not cluster.living
    assert (store.run(run).status, store.run(run).started) == (Status.QUEUED, None)


def test_a_claimed_run_that_finds_no_place_is_queued_again(store: Store) -> None:
    cluster = FakeCluster(held=0)
    streams, run = streams_of(store, cluster, "steps"), store.submit(RunConfig())
    lead(streams, lambda: cluster.living)
    cluster.clock.go_on(PLACE_SECONDS)
    cluster.places = 0
    lead(streams, lambda: not cluster.living)
    assert store.run(run).status is Status.QUEUED


def test_the_secret_seed_of_a_run_reaches_its_node_and_that_of_no_other_and_nothing_stays_there(
    store: Store, tmp_path: Path
) -> None:
    cluster = FakeCluster()
    before = store.submit(RunConfig())
    store.cancel(before)
    run = store.submit(RunConfig())
    lead(streams_of(store, cluster, "steps"), lambda: over(store))
    (stream,) = cluster.streams
    assert (stream.job.run.id, stream.job.seed) == (run, store.secret(run))
    assert store.secret(before) not in (None, stream.job.seed)
    assert str(stream.job.seed) not in repr(stream.job)
    assert list(tmp_path.glob("dpcore-node-*")) == []


def test_a_run_that_ends_every_node_that_takes_it_is_lost_after_three(store: Store) -> None:
    class Fatal(FakeCluster):
        def ready(self, streams, within):  # type: ignore[no-untyped-def]
            for stream in self.living:
                if stream.count:
                    self.end(stream)
            return super().ready(streams, within)

    run = store.submit(RunConfig())
    lead(streams_of(store, Fatal(held=1), "steps"), lambda: over(store))
    ended = store.run(run)
    assert ended.status is Status.LOST
    assert (ended.error or "").endswith("It made no progress in 3 attempts.")
