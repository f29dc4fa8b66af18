"""Clocks are moved: heartbeats of another decade, and times that run backwards, neither lose a run nor keep one."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.runs.record import worker_name
from dpcore.runs.store import Store
from tests.runs.faults.afterwards import wrongs
from tests.runs.faults.killing import serving
from tests.runs.live_workers import pid_of

Eventually = Callable[..., None]
Wait = Callable[[], None]


@pytest.mark.long
@pytest.mark.parametrize("train", ["ahead", "behind"])
def test_a_run_whose_clock_jumps_by_ten_years_is_neither_lost_nor_done_twice(
    store: Store, home: Path, runs: list[str], under_way: Wait, all_ended: Wait, train: str
) -> None:
    with serving(home, train, stale=3):
        under_way()
        os.kill(pid_of(store.run(runs[0])), signal.SIGKILL)
        all_ended()
    assert wrongs(store, runs) == []
    assert store.run(runs[0]).heartbeat != pytest.approx(time.time(), abs=1e8)


@pytest.mark.long
def test_a_worker_whose_number_another_process_has_by_now_is_found_out(
    store: Store, home: Path, runs: list[str], all_ended: Wait, eventually: Eventually
) -> None:
    here = worker_name(os.getpid())  # as after a power cut: this process has never heard of the run
    assert store.claim(here) is not None
    with serving(home, "brisk", stale=1):
        all_ended()
    assert wrongs(store, runs) == []


@pytest.mark.long
def test_heartbeats_of_the_future_keep_no_run_alive(store: Store, home: Path, runs: list[str], all_ended: Wait) -> None:
    claimed = store.claim("elsewhere:1")
    assert claimed is not None
    with store.writing() as db:
        db.execute("UPDATE runs SET heartbeat = ?, started = ? WHERE id = ?", (9e9, 9e9, claimed.id))
    with serving(home, "brisk", stale=1):
        all_ended()
    assert wrongs(store, runs) == []
