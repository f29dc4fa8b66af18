"""Where no Ray cluster answers, the pool says so soon, and nothing is done on this machine instead."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs import ray_pool
from dpcore.runs.pool import ensure_pool
from dpcore.runs.ray_pool import RayPool, pool_here
from dpcore.runs.ray_pool.ray_cluster import Unreachable, probe
from dpcore.runs.record import Status, StoreError
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.live_workers import processes
from tests.runs.ray.nodes import free_ports, heads

Eventually = Callable[..., None]
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _no_head_is_left(home: Path) -> object:
    yield
    assert heads(home) == []


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
        assert f"Expected a Ray cluster to answer at {address}, but: [Errno 111] Connection refused." in pool.trouble
        assert pool.store.run(run).status is Status.QUEUED
        assert processes(home) == []
    finally:
        pool.close()
        pool.store.close()


@pytest.mark.long
def test_an_address_that_never_answers_is_told_of(
    store: Store, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_pool, "CONNECT", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with RayPool(store, address) as pool:
            eventually(lambda: pool.trouble)
            assert f"Expected the Ray cluster at {address} to answer within 3 s." in (pool.trouble or "")


def test_an_address_or_a_name_that_no_machine_can_have_is_told_of() -> None:
    for address in ("nonsense", "ray://elsewhere:10001", "host:port", "http://host:1", ":6379"):
        with pytest.raises(Unreachable, match=r"Expected the Ray address .* to be host:port"):
            probe(address)
    for host in ("x" * 64, "two..dots", "a\0b"):
        with pytest.raises(Unreachable, match=r"Expected a Ray cluster to answer at .*Runs stay queued until it does"):
            probe(f"{host}:6379")


def test_a_pool_of_no_known_kind_and_shares_that_are_none_are_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("DPCORE_RAY_CPUS", "0"), ("DPCORE_RAY_CPUS", "two"), ("DPCORE_RAY_GPUS", "-1")):
        with monkeypatch.context() as patch:
            patch.setenv(name, text)
            with pytest.raises(StoreError, match=f"Expected {name}='{text}' to be"):
                pool_here(store)
    monkeypatch.setenv("DPCORE_POOL", "cluster")
    with pytest.raises(StoreError, match=r"Expected DPCORE_POOL='cluster' to be local or ray\."):
        ensure_pool(store.home)


def test_the_address_is_that_of_ray_where_none_is_named_here(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPCORE_RAY_ADDRESS", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert pool_here(store).address == "auto"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert pool_here(store).address == "10.0.0.1:6379"
    monkeypatch.setenv("DPCORE_RAY_ADDRESS", "10.0.0.2:6379")
    assert pool_here(store).address == "10.0.0.2:6379"
