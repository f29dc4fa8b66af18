"""Runs on a real Ray cluster on this machine: one node in the short suite, three in the long one."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
from tests.runs.ray.leading import over
from tests.runs.ray.node_doubles import MIDDLE, STEPS
from tests.runs.ray.nodes import Nodes, heads

Eventually = Callable[..., None]
REAL = "dpcore.training.loop:train"


@contextmanager
def pool_on(nodes: Nodes, store: Store, train: str) -> Iterator[RayPool]:
    """A pool; when it closes, no head is left."""
    with RayPool(store, nodes.address, train=train) as pool:
        yield pool
    assert heads(store.home) == []


def check_whole(store: Store, run: str) -> Run:
    """The run, which must have said each of its steps once."""
    steps = [event.step for _, event in store.tail(run) if isinstance(event, Stepped)]
    assert steps == list(range(1, STEPS + 1))
    assert [type(event) for _, event in store.tail(run)] == [Started, *[Stepped] * STEPS, Finished]
    assert [number for number, _ in store.tail(run)] == list(range(1, STEPS + 3))
    assert store.run(run).status is Status.FINISHED
    return store.run(run)


def test_a_run_is_done_on_a_cluster_and_leaves_nothing_there(store: Store, eventually: Eventually) -> None:
    nodes = Nodes(cpus=1)
    try:
        with pool_on(nodes, store, "node_doubles:steps") as pool:
            run = store.submit(RunConfig())
            eventually(lambda: over(store))
            assert pool.trouble is None
            left = f"{PREFIX}*/*/runs.sqlite3"  # of what a run has said, and its secret seed
            eventually(lambda: not list(nodes.folder.glob(left)))
    finally:
        nodes.close()
    check_whole(store, run)


@pytest.mark.long
def test_a_run_is_trained_on_a_node_as_it_would_be_here(nodes: Nodes, store: Store, eventually: Eventually) -> None:
    config = RunConfig(seed=3, epochs=0.5)
    with pool_on(nodes, store, REAL) as pool:
        run, comparison = store.submit(config), store.submit(Request(epsilons=(1.0,), seeds=2, seed=5))
        eventually(lambda: over(store), within=200)
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


@pytest.mark.long
def test_a_run_stops_where_it_is_cancelled_also_if_its_worker_does_not_heed_it(
    nodes: Nodes, store: Store, eventually: Eventually
) -> None:
    for double in ("train_doubles:endless", "train_doubles:silent"):
        with pool_on(nodes, store, double):
            run = store.submit(RunConfig())
            eventually(lambda run=run: store.run(run).status is Status.RUNNING)
            store.cancel(run)
            eventually(lambda: over(store))
            assert store.run(run).status is Status.CANCELLED
    eventually(lambda: not nodes.busy())  # the one that heeds nothing was ended


@pytest.mark.long
def test_the_runs_of_a_node_that_dies_are_finished_elsewhere(
    nodes: Nodes, store: Store, eventually: Eventually
) -> None:
    with pool_on(nodes, store, "node_doubles:held"):
        runs = [store.submit(RunConfig()) for _ in range(4)]
        eventually(lambda: sum(run.sequence == MIDDLE + 1 for run in store.runs(Status.RUNNING)) == 2)
        nodes.kill(nodes.busy()[-1])
        nodes.gate.touch()
        eventually(lambda: over(store))
        nodes.add()
    assert sum(check_whole(store, run).attempts for run in runs) == 1


@pytest.mark.long
def test_a_head_that_is_killed_and_a_pool_that_is_closed_lose_and_double_nothing(
    nodes: Nodes, store: Store, eventually: Eventually
) -> None:
    with pool_on(nodes, store, "node_doubles:held"):
        runs = [store.submit(RunConfig()) for _ in range(3)]
        eventually(lambda: store.run(runs[0]).sequence == MIDDLE + 1)
        worker = store.run(runs[0]).worker
        for head in heads(store.home):
            os.kill(head, signal.SIGKILL)
        nodes.gate.touch()
    with pool_on(nodes, store, "node_doubles:held"):
        eventually(lambda: over(store))
    ended = [check_whole(store, run) for run in runs]
    assert ended[0].worker == worker
    assert [run.attempts for run in ended] == [0, 0, 0]
