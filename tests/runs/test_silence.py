"""A worker that says nothing is taken for dead, but not where it is the store that keeps it from speaking."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dpcore.runs.record import Run, Status, StoreError
from dpcore.runs.silence import Heartbeats
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.runs.holding import held

STALE = 0.2


@pytest.fixture
def run(store: Store) -> Run:
    """A run of a worker on another machine."""
    store.submit(RunConfig())
    claimed = store.claim("elsewhere:1")
    assert claimed
    return claimed


@pytest.fixture
def silence(store: Store, run: Run) -> Heartbeats:
    """What knows of a run that has been silent for too long."""
    heartbeats = Heartbeats(store, STALE)
    assert not heartbeats.recover_silent(run)
    time.sleep(1.5 * STALE)
    return heartbeats


def test_a_run_whose_worker_is_silent_is_queued_again_and_says_why(store: Store, run: Run, silence: Heartbeats) -> None:
    for attempt in (1, 2, 3):
        assert silence.recover_silent(store.run(run.id))
        assert store.run(run.id).attempts == attempt
        store.claim("elsewhere:1")
        assert not silence.recover_silent(store.run(run.id))
        time.sleep(1.5 * STALE)
    assert silence.recover_silent(store.run(run.id))
    reason = "Its worker elsewhere:1 gave no sign of life for 0.2 s."
    assert (store.run(run.id).error or "").startswith(reason)


def test_a_sign_of_life_gives_it_its_time_again(store: Store, run: Run, silence: Heartbeats) -> None:
    store.beat(run.id, run.worker)
    assert not silence.recover_silent(store.run(run.id))
    assert store.run(run.id).status is Status.RUNNING


def test_a_worker_that_waits_for_a_store_that_another_process_holds_keeps_its_run(
    store: Store, run: Run, silence: Heartbeats
) -> None:
    with held(store.path, 1.5):
        assert not silence.recover_silent(run)
    assert not silence.recover_silent(run)  # it has its time again
    assert store.run(run.id).status is Status.RUNNING
    time.sleep(1.5 * STALE)
    assert silence.recover_silent(run)


def test_a_worker_of_a_store_that_nobody_can_write_to_keeps_its_run(
    store: Store, run: Run, silence: Heartbeats, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def full() -> Iterator[sqlite3.Connection]:
        raise StoreError("the disk is full")
        yield

    with monkeypatch.context() as patch:
        patch.setattr(store, "writing", full)
        with pytest.raises(StoreError, match="the disk is full"):
            silence.recover_silent(run)
    assert not silence.recover_silent(run)
    assert store.run(run.id).status is Status.RUNNING
