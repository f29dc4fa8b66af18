"""Runs on a Ray cluster of two nodes on this machine."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from dpcore.runs.ray_pool import RayPool
from dpcore.runs.ray_pool.node import PREFIX
from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from dpcore.training.loop import train
from dpcore.training.perturbation.request import Request
from tests.runs.ray.nodes import Nodes, heads

Eventually = Callable[..., None]
pytestmark = pytest.mark.long
REAL = "dpcore.training.loop:train"


@contextmanager
def pool_on(nodes: Nodes, store: Store, train: str) -> Iterator[RayPool]:
    """A pool; when it closes, no head is left."""
    with RayPool(store, nodes.address, train=train) as pool:
        yield pool
    assert heads(store.home) == []


def over(store: Store) -> bool:
    return not any(run.active for run in store.runs(kind=None))


def check_whole(store: Store, run: str) -> Run:
    """The run, which must have said each of its steps once."""
    steps = [event.step for _, event in store.tail(run) if isinstance(event, Stepped)]
    kinds = [type(event) for _, event in store.tail(run)]
    assert steps == list(range(1, 21))
    assert kinds == [Started, *[Stepped] * 20, Finished]
    assert [number for number, _ in store.tail(run)] == list(range(1, 23))
    ended = store.run(run)
    assert ended.status is Status.FINISHED
    return ended


def test_a_run_is_trained_on_a_node_as_it_would_be_here(nodes: Nodes, store: Store, eventually: Eventually) -> None:
    config = RunConfig(seed=3, epochs=0.5)
    with pool_on(nodes, store, REAL) as pool:
        run, comparison = store.submit(config), store.submit(Request(epsilons=(1.0,), seeds=2, seed=5))
        eventually(lambda: over(store), within=120)
        assert pool.trouble is None
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as a run has on the cluster
    try:
        here = [event for event in train(config) if isinstance(event, Evaluated)]
    finally:
        torch.set_num_threads(before)
    there = [event for _, event in store.tail(run) if isinstance(event, Evaluated)]
    assert there[-1] == here[-1]
    origin = store.run(run).origin
    assert origin is not None
    assert origin["threads"] == "1"
    assert origin["torch"] == torch.__version__
    assert store.run(comparison).status is Status.FINISHED
    assert type(store.run(comparison).last).__name__ == "Finished"


def test_a_run_is_streamed_and_stops_when_it_is_cancelled(nodes: Nodes, store: Store, eventually: Eventually) -> None:
    with pool_on(nodes, store, "train_doubles:endless"):
        run = store.submit(RunConfig())
        eventually(lambda: store.run(run).sequence > 10)
        lags = []
        for _ in range(10):
            seen = store.run(run).sequence
            eventually(lambda seen=seen: store.run(run).sequence > seen)
            last = store.run(run).last
            assert isinstance(last, Stepped)
            lags.append(time.time() - last.loss)
        assert sorted(lags)[5] < 0.5
        store.cancel(run)
        eventually(lambda: over(store), within=20)
    assert store.run(run).status is Status.CANCELLED


def test_a_worker_that_heeds_no_cancellation_is_ended(nodes: Nodes, store: Store, eventually: Eventually) -> None:
    with pool_on(nodes, store, "train_doubles:silent"):
        run = store.submit(RunConfig())
        eventually(lambda: store.run(run).status is Status.RUNNING)
        store.cancel(run)
        eventually(lambda: over(store), within=20)
        assert store.run(run).status is Status.CANCELLED
        eventually(lambda: not nodes.busy())


def test_the_runs_of_a_node_that_dies_are_finished_elsewhere(
    nodes: Nodes, store: Store, eventually: Eventually
) -> None:
    with pool_on(nodes, store, "node_doubles:long_steps"):
        runs = [store.submit(RunConfig()) for _ in range(4)]
        eventually(lambda: sum(run.sequence > 3 for run in store.runs(Status.RUNNING)) == 2, within=60)
        nodes.kill(nodes.busy()[-1])
        eventually(lambda: over(store), within=60)
        nodes.add()
    ended = [check_whole(store, run) for run in runs]
    assert sum(run.attempts for run in ended) == 1


def test_a_head_that_is_killed_and_a_pool_that_is_closed_lose_and_double_nothing(
    nodes: Nodes, store: Store, eventually: Eventually
) -> None:
    with pool_on(nodes, store, "node_doubles:long_steps"):
        runs = [store.submit(RunConfig()) for _ in range(3)]
        eventually(lambda: store.run(runs[0]).sequence > 3, within=60)
        first = store.run(runs[0])
        for head in heads(store.home):
            os.kill(head, signal.SIGKILL)
        eventually(lambda: store.run(runs[0]).sequence > first.sequence + 5)
    with pool_on(nodes, store, "node_doubles:long_steps"):
        eventually(lambda: over(store), within=60)
    ended = [check_whole(store, run) for run in runs]
    assert ended[0].worker == first.worker
    assert [run.attempts for run in ended] == [0, 0, 0]


def test_two_hundred_runs_are_each_finished_once_on_both_nodes_and_leave_nothing_there(
    nodes: Nodes, store: Store, eventually: Eventually
) -> None:
    kinds = [Started, Stepped, Evaluated, Finished]
    with pool_on(nodes, store, "train_doubles:quick"):
        runs = [store.submit(replace(RunConfig(), seed=seed)) for seed in range(200)]
        eventually(lambda: over(store), within=120)
        left = f"{PREFIX}*/*/runs.sqlite3"  # of what a run has said, and its secret seed
        eventually(lambda: not list(nodes.folder.glob(left)))
    ended = store.runs()
    assert {run.id for run in ended} == set(runs)
    assert {run.status for run in ended} == {Status.FINISHED}
    assert all([type(event) for _, event in store.tail(run)] == kinds for run in runs)
    workers = [run.worker for run in ended]
    assert len(set(workers)) == 2
    assert min(map(workers.count, workers)) > 20
