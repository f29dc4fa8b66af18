"""Real worker and server processes: they come, go and are killed, and what they did ends up in the
store once.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from tests.runs.faults.afterwards import note_endings, wrongs
from tests.runs.faults.killing import kill_workers, serving
from tests.runs.live_workers import processes

Eventually = Callable[..., None]
ROOT = Path(__file__).parents[2]
DOUBLES = "tests.runs.train_doubles"


def test_runs_are_done_to_their_end_and_a_failure_keeps_its_traceback_and_what_came_before(
    store: Store, eventually: Eventually
) -> None:
    with serving(store.home, f"{DOUBLES}:by_seed") as server:
        bad, good = store.submit(RunConfig(seed=1)), store.submit(RunConfig(seed=2))
        eventually(lambda: not store.run(good).active)
        assert server.trouble == ""
    failed, done = store.run(bad), store.run(good)
    assert (failed.status, failed.sequence) == (Status.FAILED, 2)
    assert (failed.error or "").startswith("Traceback (most recent call last)")
    assert (failed.error or "").rstrip().endswith("ArithmeticError: the loss of seed 1 is gone")
    assert [type(event) for event in store.events(good)] == [Started, Stepped, Evaluated, Finished]
    assert done.status is Status.FINISHED
    assert done.created <= (done.started or 0) <= (done.ended or 0)


def test_a_run_whose_worker_is_killed_ends_bit_for_bit_as_an_undisturbed_one(
    store: Store, eventually: Eventually
) -> None:
    note_endings(store)
    run = store.submit(RunConfig())
    with serving(store.home, "held"):
        eventually(lambda: store.run(run).sequence > 3)
        kill_workers(store.home)
        (store.home / "go").touch()
        eventually(lambda: not store.run(run).active)
    assert wrongs(store, [run]) == []


def test_cancelling_wakes_a_worker_from_a_long_step(store: Store, eventually: Eventually) -> None:
    with serving(store.home, f"{DOUBLES}:long_step"):
        run = store.submit(RunConfig())
        eventually(lambda: store.events(run))
        store.cancel(run)
        eventually(lambda: not store.run(run).active)
    assert (store.run(run).status, store.run(run).sequence) == (Status.CANCELLED, 1)


def test_two_servers_of_one_home_keep_one_standby_and_the_second_takes_over(
    store: Store, eventually: Eventually
) -> None:
    with serving(store.home, f"{DOUBLES}:quick") as first:
        eventually(lambda: processes(store.home))
        with serving(store.home, f"{DOUBLES}:quick"):
            eventually(lambda: (store.home.parent / "server.log").read_text().count("serving") == 2)
            standby = processes(store.home)
            assert len(standby) == 1
            first.kill()
            # A standby ends with its server.
            eventually(lambda: processes(store.home) not in ([], standby))
            run = store.submit(RunConfig())
            eventually(lambda: store.run(run).status is Status.FINISHED)


@pytest.mark.long
def test_a_run_outlives_its_server_and_then_its_worker_ends(
    store: Store, eventually: Eventually
) -> None:
    note_endings(store)
    with serving(store.home, "held") as server:
        run = store.submit(RunConfig())
        eventually(lambda: len(store.events(run)) > 2)
        server.kill()
        worker = store.run(run).worker
        (store.home / "go").touch()
        eventually(lambda: not store.run(run).active)
    assert store.run(run).worker == worker
    assert wrongs(store, [run]) == []
    eventually(lambda: not processes(store.home))


@pytest.mark.parametrize(("name", "kind"), [("local", "Pool"), ("ray", "RayPool")])
def test_the_process_that_asks_imports_neither_torch_nor_ray(
    home: Path, name: str, kind: str
) -> None:
    code = """
import sys
from dpcore.runs.pool import ensure_pool
from dpcore.training.config import RunConfig
pool = ensure_pool()
run = pool.store.submit(RunConfig())
pool.store.cancel(run)
assert pool.store.events(run) == [] and pool.store.runs()
pool.close()
loaded = [module for module in ("torch", "streamlit", "ray") if module in sys.modules]
print(type(pool).__name__, loaded)
"""
    environment = {**os.environ, "DPCORE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    environment |= {"DPCORE_POOL": name, "DPCORE_RAY_ADDRESS": "127.0.0.1:1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=120, check=True
    )
    assert done.stdout.strip() == f"{kind} []"
