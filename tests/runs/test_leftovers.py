"""No checkpoint is kept that nobody can resume from, and none is lost that somebody can."""

import os
import time
from pathlib import Path

from dpcore.runs.leftovers import UNKNOWN_FOR, remove_needless
from dpcore.runs.pool import Pool
from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig


def left(store: Store, run: str, suffix: str = ".pt", age: float = 0.0) -> Path:
    file = checkpoint_path(store.home, run).with_suffix(suffix)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"state")
    moment = time.time() - age
    os.utime(file, (moment, moment))
    return file


def run_that(store: Store, status: Status | None) -> str:
    run = store.submit(RunConfig(), worker="elsewhere:1")
    if status:
        store.end(run, status)
    return run


def test_the_checkpoint_of_a_finished_run_goes_and_those_that_can_be_resumed_stay(store: Store):
    gone = left(store, run_that(store, Status.FINISHED))
    kept = [left(store, run_that(store, each)) for each in (None, Status.LOST, Status.CANCELLED, Status.FAILED)]
    assert remove_needless(store) == [gone]
    assert all(file.exists() for file in kept)
    assert remove_needless(store) == []


def test_half_a_checkpoint_goes_once_its_run_has_ended(store: Store):
    writing = left(store, run_that(store, None), ".part")
    half = left(store, run_that(store, Status.LOST), ".part")
    assert remove_needless(store) == [half]
    assert writing.exists()


def test_a_checkpoint_of_no_known_run_goes_when_it_is_old_not_while_a_rest_is_being_submitted(store: Store):
    fresh, old = left(store, "beingmade1"), left(store, "removedrun", age=UNKNOWN_FOR + 60)
    other = left(store, "notes", ".txt", age=1e6)
    assert remove_needless(store) == [old]
    assert fresh.exists()
    assert other.exists()


def test_a_pool_sweeps_as_soon_as_it_serves_its_home(store: Store, eventually):
    gone = left(store, run_that(store, Status.FINISHED))
    with Pool(store, train="train_doubles:quick"):
        eventually(lambda: not gone.exists())
