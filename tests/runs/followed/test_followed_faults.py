"""A store that fails ends no followed training, and loses no step."""

import sqlite3
import time
from typing import Any

import pytest

import dpcore
from dpcore.runs.followed import writer as writer_module
from dpcore.runs.followed.events import Logged
from dpcore.runs.record import Status, StoreError
from tests.runs.followed.telling import TOLD, stored, taken, until


def test_a_run_that_was_taken_for_dead_is_there_again(store, follow):
    run = taken(follow(), 10)
    store.recover(stored(store, run), "It was silent.")
    assert stored(store, run).status is Status.LOST
    taken(run, 100)
    until(lambda: stored(store, run).active)
    run.finish()
    assert (stored(store, run).done, stored(store, run).error) == (110, None)


def test_a_run_that_was_deleted_meanwhile_is_kept_again(store, follow):
    run = taken(follow(), 10)
    store.recover(stored(store, run), "It was silent.")
    with store.writing() as db:
        db.execute("DELETE FROM events WHERE run = ?", (run.id,))
        db.execute("DELETE FROM runs WHERE id = ?", (run.id,))
    taken(run, 100).finish()
    assert stored(store, run).done == 110


def test_a_store_that_fails_is_said_once_and_catches_up(store, follow, warned, monkeypatch):
    monkeypatch.setattr(writer_module, "RETRY_SECONDS", 0.05)
    run = taken(follow(), 5)
    write = run._kept.write

    def fail(written: Any) -> None:
        raise StoreError("Expected the run store to be on a disk with room left.")

    monkeypatch.setattr(run._kept, "write", fail)
    began = time.monotonic()
    for _ in range(500):
        run.step()
        run.log({"loss": 1.0})
    assert time.monotonic() - began < 2
    until(lambda: bool(warned()))
    (words,) = warned()
    assert "run.step: the run is counted in memory" in words
    assert "on a disk with room left" in words
    assert "resume with done= the steps" in words
    monkeypatch.setattr(run._kept, "write", write)
    until(lambda: stored(store, run).plan.steps > 505)
    run.finish()
    assert stored(store, run).done == 505
    assert sum(isinstance(each, Logged) for each in store.events(run.id)) == 500


def test_a_locked_store_stops_no_step(store, follow, warned):
    run = follow()
    holder = sqlite3.connect(store.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    taken(run, 1000)
    assert time.monotonic() - began < 4
    holder.rollback()
    holder.close()
    run.finish()
    assert stored(store, run).done == 1000
    assert len(warned()) == 1


def test_without_a_store_it_counts_in_memory(tmp_path, follow, warned):
    file = tmp_path / "file"
    file.write_text("no folder")
    run = taken(dpcore.follow("mine", home=file / "home", **TOLD, target_epsilon=3.0), 7)
    run.log({"loss": 1.0})
    assert (run.steps, run.would_exceed(), run.id) == (7, False, "")
    run.finish()
    (words,) = warned()
    assert "counted in memory" in words


def test_a_count_that_must_go_on_is_not_begun_without_its_store(tmp_path, warned):
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(StoreError, match="Or pass done= the steps that it took"):
        dpcore.follow("mine", home=file / "home", id="mine1", **TOLD)
    assert dpcore.follow("mine", home=file / "home", id="mine1", done=9, **TOLD).steps == 9


def test_a_store_of_a_newer_version_is_left_as_it_is(store, follow, warned):
    with store.writing() as db:
        db.execute("PRAGMA user_version = 999")
    run = taken(follow(), 3)
    assert run.steps == 3
    (words,) = warned()
    assert "it has 999" in words
    assert "name another place in DPCORE_HOME" in words
    with pytest.raises(StoreError, match="999"):
        follow(id="mine1")
