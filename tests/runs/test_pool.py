"""Worker processes train what is queued, and whatever happens to them ends up in the store."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs import pool as pool_module
from dpcore.runs.pool import Pool
from dpcore.runs.record import Status
from dpcore.runs.store import MOST_ATTEMPTS, Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from tests.runs.live_workers import pid_of, pool_of, processes

Eventually = Callable[..., None]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_pause_before_the_next_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "SPARE", 0.1)


def _standbys(pool: Pool) -> list[int]:
    return [worker.process.pid for worker in pool.workers if worker.busy_since is None]


def test_a_run_is_trained_to_its_end(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "quick") as pool:
        run = store.submit(RunConfig(seed=2))
        eventually(lambda: not store.run(run).active)
        kinds = [type(event) for _, event in store.tail(run)]
        done = store.run(run)
        assert pool.trouble is None
    assert kinds == [Started, Stepped, Evaluated, Finished]
    assert done.status is Status.FINISHED
    assert done.created <= (done.started or 0) <= (done.ended or 0)


def test_a_failure_keeps_its_traceback_and_what_came_before(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "by_seed"):
        bad, good = store.submit(RunConfig(seed=1)), store.submit(RunConfig(seed=2))
        eventually(lambda: not store.run(good).active)
    failed = store.run(bad)
    assert failed.status is Status.FAILED
    assert failed.error is not None
    assert "Traceback (most recent call last)" in failed.error
    assert "in failing" in failed.error
    assert failed.error.rstrip().endswith("ArithmeticError: the loss of seed 1 is gone")
    assert failed.sequence == 2
    assert store.run(good).status is Status.FINISHED


def test_cancelling_acts_within_one_event(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "endless"):
        run = store.submit(RunConfig())
        eventually(lambda: len(store.tail(run)) > 3)
        seen = len(store.tail(run))
        store.cancel(run)
        eventually(lambda: not store.run(run).active, within=1)
        ended = store.run(run)
        assert ended.status is Status.CANCELLED
        assert seen <= ended.sequence <= seen + 2  # one may have come between looking and cancelling
        time.sleep(0.2)
        assert store.run(run).sequence == ended.sequence


@pytest.mark.long
def test_cancelling_acts_between_two_events_too(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "long_step"):
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        store.cancel(run)
        eventually(lambda: not store.run(run).active, within=1)
        assert store.run(run).status is Status.CANCELLED


@pytest.mark.long
def test_a_worker_that_heeds_no_cancellation_is_killed(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "stubborn", grace=0.3) as pool:
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        pid = pid_of(store.run(run))
        store.cancel(run)
        eventually(lambda: not store.run(run).active, within=5)
        assert store.run(run).status is Status.CANCELLED
        assert [type(event) for _, event in store.tail(run)] == [Started]
        eventually(lambda: pid not in processes(store.home))
        eventually(lambda: _standbys(pool))


def test_a_run_whose_worker_is_killed_goes_on_with_another(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "one_second") as pool:
        first, second = store.submit(RunConfig()), store.submit(RunConfig())
        eventually(lambda: len(store.tail(first)) > 3)
        os.kill(pid_of(store.run(first)), signal.SIGKILL)
        eventually(lambda: not store.run(first).active)
        assert store.run(first).status is Status.FINISHED
        steps = [event.step for _, event in store.tail(first) if isinstance(event, Stepped)]
        assert steps == list(range(1, 21))  # none is missing, none is said twice
        assert [sequence for sequence, _ in store.tail(first)] == list(range(1, 23))
        eventually(lambda: not store.run(second).active)
        assert store.run(second).status is Status.FINISHED
        eventually(lambda: _standbys(pool))


@pytest.mark.long
def test_a_run_that_kills_its_workers_is_lost_at_last(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "deadly"):
        run = store.submit(RunConfig())
        eventually(lambda: not store.run(run).active, within=60)
    lost = store.run(run)
    assert (lost.status, lost.attempts, lost.sequence) == (Status.LOST, MOST_ATTEMPTS, 1)
    assert "died (status -9, perhaps because the system ran out of memory). It has got no further in 3 attempts." in (
        lost.error or ""
    )


@pytest.mark.long
def test_a_run_that_cannot_go_on_here_is_lost_and_says_why(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "not_here"):
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        os.kill(pid_of(store.run(run)), signal.SIGKILL)
        eventually(lambda: not store.run(run).active)
    assert (store.run(run).status, store.run(run).error) == (Status.LOST, "Expected threads=2 to be 1.")


def test_a_killed_standby_is_replaced(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "quick") as pool:
        eventually(lambda: _standbys(pool))
        old = _standbys(pool)[0]
        os.kill(old, signal.SIGKILL)
        eventually(lambda: _standbys(pool) and _standbys(pool) != [old])
        assert pool.trouble is None


@pytest.mark.long
def test_a_silent_worker_is_killed_and_its_run_goes_on(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "endless", stale=2):
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        pid = pid_of(store.run(run))
        os.kill(pid, signal.SIGSTOP)
        eventually(lambda: store.run(run).attempts == 1)
        eventually(lambda: pid not in processes(store.home))
        said = store.run(run).sequence
        eventually(lambda: store.run(run).sequence > said)
        assert pid_of(store.run(run)) != pid


@pytest.mark.long
def test_a_long_step_is_not_taken_for_death(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "long_step", stale=2):
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        time.sleep(3)
        assert store.run(run).status is Status.RUNNING
        store.cancel(run)
        eventually(lambda: not store.run(run).active, within=1)


@pytest.mark.long
def test_a_worker_that_is_told_to_end_leaves_its_run_to_the_next(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "long_step"):
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        first = store.run(run).worker
        os.kill(pid_of(store.run(run)), signal.SIGTERM)
        eventually(lambda: store.run(run).worker not in (first, None))
        assert store.run(run).attempts == 1


@pytest.mark.long
def test_closing_loses_no_run_that_was_claimed_a_moment_ago(
    store: Store, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pool_of(store, "endless") as pool:
        eventually(lambda: pool.workers)
        monkeypatch.setattr(pool, "_note_busy", lambda running: None)  # as where the last look was before the claim
        run = store.submit(RunConfig())
        eventually(lambda: store.tail(run))
        monkeypatch.undo()
        pool.close()
        assert store.run(run).status is Status.RUNNING


@pytest.mark.long
def test_a_worker_that_is_told_to_end_before_its_run_says_anything_gives_it_back(
    store: Store, eventually: Eventually
) -> None:
    with pool_of(store, "silent"):
        run = store.submit(RunConfig())
        eventually(lambda: store.run(run).status is Status.RUNNING)
        first = store.run(run).worker
        os.kill(pid_of(store.run(run)), signal.SIGTERM)
        eventually(lambda: store.run(run).status is Status.RUNNING and store.run(run).worker != first)


@pytest.mark.long
def test_only_so_many_runs_train_at_once(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "endless", slots=2):
        runs = [store.submit(RunConfig()) for _ in range(3)]
        eventually(lambda: store.tail(runs[0]) and store.tail(runs[1]))
        time.sleep(0.5)
        assert store.run(runs[2]).position == 1
        store.cancel(runs[0])
        eventually(lambda: store.tail(runs[2]))
        assert store.run(runs[1]).status is Status.RUNNING


def test_events_are_visible_soon_after_they_happen(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "one_second"):
        eventually(lambda: processes(store.home))
        run = store.submit(RunConfig())
        after, lags = 0, []
        while store.run(run).active:
            for sequence, event in store.tail(run, after):
                after = sequence
                if isinstance(event, Stepped):
                    lags.append(time.time() - event.loss)
            time.sleep(0.005)
        assert len(lags) >= 10
        assert sorted(lags)[len(lags) // 2] < 0.2


@pytest.mark.long
def test_workers_that_cannot_start_are_reported_and_not_started_in_a_rush(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "no_such_function") as pool:
        eventually(lambda: pool.trouble)
        assert pool.trouble is not None
        assert str(pool.log) in pool.trouble
        assert "no_such_function" in pool.log.read_text()
        time.sleep(1.5)
        assert pool.log.read_text().count("Traceback") <= 4


def test_a_store_that_vanishes_is_reported(store: Store, eventually: Eventually) -> None:
    with pool_of(store, "quick") as pool:
        eventually(lambda: _standbys(pool))
        store.path.unlink()
        eventually(lambda: pool.trouble)
        assert str(store.path) in (pool.trouble or "")


def test_the_workers_log_is_cut_to_its_last_half_while_another_appends_to_it(tmp_path: Path):
    log = tmp_path / "workers.log"
    pool_module.trim(log, 100)  # none yet
    with open(log, "ab", buffering=0) as other:
        other.write(b"old\n" * 25)
        pool_module.trim(log, 100)
        assert log.stat().st_size == 100
        other.write(b"new\n")
        pool_module.trim(log, 100)
        other.write(b"newest\n")
    assert log.read_bytes() == b"old\n" * 11 + b"new\nnewest\n"
