"""A pool keeps workers warm and ends those that fall silent: its rounds are led by hand, on a
clock.

Real processes are in test_processes.py.
"""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from dpcore.runs import pool as pool_module
from dpcore.runs.lifecycle import MAX_ATTEMPTS
from dpcore.runs.limits import FILE, Limits, write
from dpcore.runs.pool import MAX_WAIT_SECONDS, SPARE
from dpcore.runs.record import (
    Status,
    StoreError,
    device_here,
    device_path,
    note_device,
    worker_name,
)
from dpcore.runs.store import Store
from dpcore.runs.supervision import STALE, Heartbeats, locked
from dpcore.runs.worker_process import Slots
from dpcore.training.config import RunConfig
from tests.runs.by_hand import Clock, PoolByHand, by_hand

TERM, KILL = signal.SIGTERM, signal.SIGKILL


@pytest.fixture
def pool(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[PoolByHand]:
    pool = by_hand(store, monkeypatch)
    yield pool
    pool.close()


def test_one_worker_waits_and_the_next_is_warmed_up_once_a_run_has_had_the_machine_to_itself(
    pool: PoolByHand,
) -> None:
    pool.after(60.0)
    assert pool.waiting == [Slots()]
    pool.store.submit(RunConfig())
    pool.claims()
    assert pool.waiting == []
    pool.after(SPARE - 0.01)
    assert pool.waiting == []
    pool.after(0.02)
    assert pool.waiting == [Slots()]
    assert len(pool.hired) == 2
    assert pool.trouble is None


def test_the_worker_of_a_cancelled_run_ends_and_the_next_is_warmed_up_at_once(
    pool: PoolByHand,
) -> None:
    run = pool.store.submit(RunConfig())
    worker, _ = pool.claims(run)
    pool.store.end(run, Status.CANCELLED, None, worker.name)
    worker.ends(0)
    pool.round()
    assert (pool.waiting, pool.trouble) == ([Slots()], None)


@pytest.mark.parametrize(
    ("number", "how"),
    [(KILL, " (status -9, perhaps because the system ran out of memory)"), (TERM, " (status -15)")],
)
def test_the_run_of_a_dead_worker_is_queued_again_and_lost_after_some_attempts_and_says_how_it_died(
    pool: PoolByHand, number: int, how: str
) -> None:
    run = pool.store.submit(RunConfig())
    for attempt in range(MAX_ATTEMPTS + 1):
        worker, _ = pool.claims(run)
        worker.ends(-number)
        pool.round()
        assert pool.store.run(run).status is (
            Status.QUEUED if attempt < MAX_ATTEMPTS else Status.LOST
        )
    assert f"died{how}. It made no progress in 3 attempts." in (pool.store.run(run).error or "")
    assert pool.trouble is None  # it is the run that ends workers


def test_a_silent_worker_is_killed_and_its_run_queued_again_but_not_one_that_beats(
    pool: PoolByHand,
) -> None:
    run = pool.store.submit(RunConfig())
    worker, _ = pool.claims(run)
    for _ in range(100):
        pool.after(STALE + 0.1)
    assert worker.signals == []
    pool.after(STALE, silent=True)
    assert worker.signals == []
    pool.after(0.1, silent=True)
    assert worker.signals == [KILL]
    assert pool.store.run(run).status is Status.QUEUED


def test_workers_that_end_before_they_take_a_run_are_told_of_and_not_started_in_a_rush(
    pool: PoolByHand,
) -> None:
    for place, wait in enumerate(
        (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, MAX_WAIT_SECONDS, MAX_WAIT_SECONDS)
    ):
        pool.workers[-1].ends(1)  # type: ignore[attr-defined]
        pool.round()
        if wait:
            assert len(pool.hired) == 1 + place
            pool.after(wait - 0.1)
            assert len(pool.hired) == 1 + place
            pool.after(0.1)
        assert len(pool.hired) == 2 + place
    assert "Training workers ended 9 times in a row without taking a run" in (pool.trouble or "")
    assert str(pool.log) in (pool.trouble or "")
    pool.store.submit(RunConfig())
    pool.claims()
    assert pool.trouble is None


def test_with_a_gpu_a_worker_waits_for_it_and_another_for_the_processor(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    device_path(store.home).write_text("cuda:0")
    write(store.home, Limits(cpu_slots=2, cuda_slots=2))
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    pool = by_hand(store, monkeypatch)
    assert [(slots.count, slots.devices) for slots in pool.waiting] == [
        (2, ("auto", "cuda")),
        (2, ("cpu", "mps")),
    ]
    runs = [
        store.submit(RunConfig(device=device))
        for device in ("auto", "cuda", "cuda", "cpu", "cpu", "cpu")
    ]
    for _ in range(4):
        pool.claims()
    assert [store.run(run).status for run in runs] == [*[Status.RUNNING] * 2, Status.QUEUED] * 2
    store.end(runs[1], Status.FINISHED)
    pool.claims(runs[2])
    pool.close()


def test_other_limits_are_in_force_without_a_restart_and_what_trains_goes_on(
    pool: PoolByHand,
) -> None:
    first, second, third = (pool.store.submit(RunConfig()) for _ in range(3))
    busy, _ = pool.claims(first)
    pool.after(60.0)
    write(pool.store.home, Limits(cpu_slots=2))
    pool.round()
    assert pool.hired[1].signals == [TERM]
    assert [slots.count for slots in pool.waiting] == [2]
    pool.claims(second)
    assert pool.store.run(third).status is Status.QUEUED
    (pool.store.home / FILE).write_text("cpu_slots = 0")
    pool.after(60.0)
    assert "cpu_slots=0" in (pool.trouble or "")
    assert [slots.count for slots in pool.waiting] == [2]  # those that it knew last
    (pool.store.home / FILE).unlink()
    pool.round()
    assert (pool.waiting, pool.trouble, busy.signals) == ([Slots()], None, [])


def test_the_pool_of_a_home_starts_workers_and_another_takes_over_once_it_is_gone(
    pool: PoolByHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(pool.store.home) as store:
        second = by_hand(store, monkeypatch)
        second.after(60.0)
        assert (len(pool.hired), second.hired) == (1, [])
        pool._lock_file.close()  # type: ignore[union-attr]  # as where its process is gone
        second.round()
        assert len(second.hired) == 1
        second.close()


def test_only_its_owner_can_read_what_a_pool_writes_into_the_home(pool: PoolByHand) -> None:
    pool.round()
    note_device(pool.store.home, "cpu (of this machine)")
    assert device_here(pool.store.home) == "cpu (of this machine)"
    with locked(pool.store.home / "another.lock"):
        modes = {each.name: each.stat().st_mode & 0o777 for each in pool.store.home.iterdir()}
    assert {"workers.log", "device", "another.lock"} <= set(modes)
    assert {name for name, mode in modes.items() if mode & 0o077} == set()


def test_a_long_log_is_put_aside_when_a_worker_starts(pool: PoolByHand) -> None:
    pool.store.submit(RunConfig())
    pool.claims()
    pool.log.write_bytes(b"x" * (pool_module.LOG + 1))
    pool.after(60.0)
    assert (len(pool.hired), pool.log.stat().st_size) == (2, 0)
    assert pool.log.with_name("workers.old.log").stat().st_size == pool_module.LOG + 1


def silent_after(
    store: Store, seconds: float, worker: str = "elsewhere:1"
) -> tuple[Heartbeats, Clock, str]:
    """Heartbeats that know of a run of another machine, which has been silent for so long."""
    clock, run = Clock(), store.submit(RunConfig())
    assert store.claim(worker)
    heartbeats = Heartbeats(store, STALE, clock)
    assert not heartbeats.recover_silent(store.run(run))
    clock.go_on(seconds)
    return heartbeats, clock, run


def test_a_run_of_a_silent_machine_is_queued_again_and_a_sign_of_life_gives_it_its_time_again(
    store: Store,
) -> None:
    heartbeats, clock, run = silent_after(store, STALE)
    assert not heartbeats.recover_silent(store.run(run))
    store.beat(run)
    clock.go_on(0.1)
    assert not heartbeats.recover_silent(store.run(run))
    clock.go_on(STALE + 0.1)
    assert heartbeats.recover_silent(store.run(run))
    for _ in range(MAX_ATTEMPTS):
        assert store.run(run).status is Status.QUEUED
        assert store.claim("elsewhere:1")
        assert not heartbeats.recover_silent(store.run(run))
        clock.go_on(STALE + 0.1)
        assert heartbeats.recover_silent(store.run(run))
    assert (store.run(run).error or "").startswith(
        "Its worker elsewhere:1 gave no sign of life for 15 s."
    )


def test_neither_a_heartbeat_of_the_future_nor_another_process_of_its_number_keeps_a_run_alive(
    store: Store,
) -> None:
    # Which has never heard of it.
    heartbeats, _, run = silent_after(store, 0.0, worker_name(os.getpid()))
    with store.writing() as db:
        db.execute("UPDATE runs SET heartbeat = 9e9, started = 9e9")
    assert not heartbeats.recover_silent(store.run(run))
    heartbeats._clock.go_on(STALE + 0.1)  # type: ignore[attr-defined]
    assert heartbeats.recover_silent(store.run(run))


@pytest.mark.parametrize("error", [None, StoreError("the disk is full")], ids=["held", "full"])
def test_a_worker_that_a_held_or_full_store_keeps_silent_keeps_its_run_and_its_time(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: StoreError | None
) -> None:
    heartbeats, clock, run = silent_after(store, 0.6 * STALE)
    writing = store.writing

    @contextmanager
    def in_trouble() -> Iterator[sqlite3.Connection]:
        clock.go_on(STALE)  # for so long another process has it
        if error:
            raise error
        with writing() as db:
            yield db

    with monkeypatch.context() as patch:
        patch.setattr(store, "writing", in_trouble)
        with suppress(StoreError):
            assert not heartbeats.recover_silent(store.run(run))
            assert error is None
    if error:  # all of it
        assert not heartbeats.recover_silent(store.run(run))
        clock.go_on(0.6 * STALE)
    clock.go_on(0.4 * STALE - 0.1)
    assert not heartbeats.recover_silent(store.run(run))
    assert store.run(run).status is Status.RUNNING
    clock.go_on(0.2)
    assert heartbeats.recover_silent(store.run(run))
