"""Runs on a real Ray cluster on this machine, and on none: then the pool says so soon and does
nothing here instead.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs import ray_pool
from dpcore.runs.pool import ensure_pool
from dpcore.runs.ray_pool import RayPool, pool_here
from dpcore.runs.ray_pool.node import PREFIX
from dpcore.runs.ray_pool.ray_cluster import Unreachable, probe
from dpcore.runs.record import Status, StoreError
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Started, Stepped
from tests.runs.live_workers import processes
from tests.runs.ray.leading import over
from tests.runs.ray.node_doubles import MIDDLE, STEPS
from tests.runs.ray.nodes import Node, free_ports

Eventually = Callable[..., None]


def check_whole(store: Store, run: str) -> None:
    """The run must have said each of its steps once."""
    numbers = [number for number, _ in store.bodies(run)]
    events = store.events(run)
    assert store.run(run).status is Status.FINISHED, store.run(run).error
    assert [type(event) for event in events] == [Started, *[Stepped] * STEPS, Finished]
    assert [event.step for event in events[1:-1]] == list(range(1, STEPS + 1))
    assert numbers == list(range(1, STEPS + 3))


def test_a_run_whose_worker_dies_is_finished_by_the_next_on_a_real_cluster_and_leaves_nothing_there(
    store: Store, eventually: Eventually
) -> None:
    node = Node()
    try:
        with RayPool(store, node.address, train="node_doubles:held") as pool:
            run = store.submit(RunConfig())
            eventually(lambda: store.run(run).sequence == MIDDLE + 1)
            worker = store.run(run).worker
            node.kill_workers()
            node.gate.touch()
            eventually(lambda: over(store))
            assert pool.trouble is None
            assert store.run(run).worker != worker
            left = f"{PREFIX}*"  # of what a run has saved
            eventually(lambda: not list(node.folder.glob(left)))
    finally:
        node.close()
    check_whole(store, run)


@pytest.fixture(autouse=True)
def _no_head_is_left(home: Path) -> object:
    yield
    assert processes(home, "dpcore.runs.ray_pool.head") == []


def test_an_address_that_takes_no_connection_is_told_of_and_the_run_waits(
    home: Path, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    monkeypatch.setenv("DPCORE_POOL", "ray")
    monkeypatch.setenv("DPCORE_RAY_ADDRESS", address)
    pool = ensure_pool(home)
    try:
        run = pool.store.submit(RunConfig())
        eventually(lambda: pool.trouble)
        assert (
            f"No Ray cluster answers at {address}: [Errno 111] Connection refused." in pool.trouble
        )
        assert pool.store.run(run).status is Status.QUEUED
        assert processes(home) == []
    finally:
        pool.close()
        pool.store.close()


@pytest.mark.parametrize(
    ("hangs", "said"),
    [
        ("__init__", "The Ray cluster at host:1 did not answer in time"),
        ("ready", "the Ray cluster ended; "),
    ],
)
def test_a_head_that_its_cluster_keeps_waiting_ends_and_is_told_of(
    store: Store, eventually: Eventually, monkeypatch: pytest.MonkeyPatch, hangs: str, said: str
) -> None:
    monkeypatch.setattr(ray_pool, "HEAD", "hanging_head")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setenv("HANGS", hangs)
    with RayPool(store, "host:1") as pool:
        eventually(lambda: said in (pool.trouble or ""))
    assert "Timeout (0:00:00" in pool.log.read_text()  # its stack is there


def test_an_address_or_a_name_that_no_machine_can_have_is_told_of() -> None:
    for address in ("nonsense", "ray://elsewhere:10001", "host:port", "http://host:1", ":6379"):
        with pytest.raises(Unreachable, match=r"Write the Ray address as host:port"):
            probe(address)
    for host in ("x" * 64, "two..dots", "a\0b"):
        with pytest.raises(
            Unreachable, match=r"No Ray cluster answers at .*Runs stay queued until one does"
        ):
            probe(f"{host}:6379")


def test_a_pool_of_no_known_kind_and_shares_that_are_none_are_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (
        ("DPCORE_RAY_CPUS", "0"),
        ("DPCORE_RAY_CPUS", "two"),
        ("DPCORE_RAY_GPUS", "-1"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, text)
            with pytest.raises(StoreError, match=f"Set {name} to a .*, not '{text}'"):
                pool_here(store)
    monkeypatch.setenv("DPCORE_POOL", "cluster")
    with pytest.raises(StoreError, match=r"Set DPCORE_POOL to local or ray, not 'cluster'\."):
        ensure_pool(store.home)


def test_the_address_is_that_of_ray_where_none_is_named_here(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPCORE_RAY_ADDRESS", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert pool_here(store).address == "auto"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert pool_here(store).address == "10.0.0.1:6379"
    monkeypatch.setenv("DPCORE_RAY_ADDRESS", "10.0.0.2:6379")
    assert pool_here(store).address == "10.0.0.2:6379"
