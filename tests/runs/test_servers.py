"""Servers come and go, several share one home: runs and workers behave."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpcore.runs import pool as pool_module
from dpcore.runs.pool import ensure_pool
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.live_workers import processes

Eventually = Callable[..., None]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_pause_before_the_next_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "SPARE", 0.1)


SERVER = """
import sys, time
from dpcore.runs.pool import Pool
from dpcore.runs.store import Store
with Store(sys.argv[1]) as store, Pool(store, train="train_doubles:" + sys.argv[2]):
    print("serving", flush=True)
    time.sleep(60)
"""


@contextmanager
def _server(home: Path, train: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that serves the home, as a server of pages does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}
    command = [sys.executable, "-c", SERVER, str(home), train]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"serving\n"
            yield process
        finally:
            process.kill()


@pytest.mark.long
def test_a_standby_ends_with_its_server(store: Store, eventually: Eventually) -> None:
    with _server(store.home, "quick") as server:
        eventually(lambda: processes(store.home))
        server.kill()
        eventually(lambda: not processes(store.home))


@pytest.mark.long
def test_a_run_outlives_its_server_and_then_its_worker_ends(store: Store, eventually: Eventually) -> None:
    with _server(store.home, "one_second") as server:
        run = store.submit(RunConfig())
        eventually(lambda: len(store.tail(run)) > 2)
        server.kill()
        server.wait()
        assert store.run(run).status is Status.RUNNING
        eventually(lambda: not store.run(run).active)
    assert store.run(run).status is Status.FINISHED
    assert store.run(run).sequence == 22
    eventually(lambda: not processes(store.home))


@pytest.mark.long
def test_two_servers_of_one_home_keep_one_standby_and_the_second_takes_over(
    store: Store, eventually: Eventually
) -> None:
    with _server(store.home, "quick") as first:
        eventually(lambda: processes(store.home))
        with _server(store.home, "quick"):
            time.sleep(0.6)
            standby = processes(store.home)
            assert len(standby) == 1
            first.kill()
            eventually(lambda: processes(store.home) not in ([], standby))
            run = store.submit(RunConfig())
            eventually(lambda: store.run(run).status is Status.FINISHED)


def test_ensure_pool_gives_one_pool_to_all_and_a_new_one_after_closing(home: Path) -> None:
    pool = ensure_pool(home)
    try:
        assert ensure_pool(home) is pool
        start = time.perf_counter()
        for _ in range(100):
            ensure_pool(home)
        assert (time.perf_counter() - start) / 100 < 0.001
    finally:
        pool.close()
    other = ensure_pool(home)
    try:
        assert other is not pool
    finally:
        other.close()
        for each in (pool, other):
            each.store.close()


def test_the_process_that_asks_never_imports_torch(home: Path) -> None:
    code = """
import sys
from dpcore.runs.pool import ensure_pool
from dpcore.training.config import RunConfig
pool = ensure_pool()
run = pool.store.submit(RunConfig())
pool.store.cancel(run)
assert pool.store.tail(run) == [] and pool.store.runs()
pool.close()
print("torch" in sys.modules, "streamlit" in sys.modules)
"""
    environment = {**os.environ, "DPCORE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]
