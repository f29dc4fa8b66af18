"""A store that cannot be used says so in a sentence, and nothing is lost."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dpcore.runs import store_file
from dpcore.runs.record import StoreError, row_of
from dpcore.runs.store import Store, add_run
from dpcore.runs.store_file import FILE, VERSION
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished

ROOT = Path(__file__).parents[2]


def _filled(home: Path, runs: int = 200) -> Path:
    """A closed store with some runs in it."""
    with Store(home) as store:
        for seed in range(runs):
            store.submit(RunConfig(seed=seed))
    return home / FILE


def other_version(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()


def other_program(path: Path) -> None:
    path.unlink()
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE runs (id TEXT)")
    db.commit()
    db.close()


def truncated(keep: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(path.stat().st_size * keep))


def test_what_is_no_store_of_this_version_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    for number, (change, words) in enumerate(
        (
            (lambda path: path.write_bytes(b"the quick brown fox " * 500), "to be a database"),
            (truncated(0.9), "to be an? (intact )?database"),
            (truncated(0.5), "to be an? (intact )?database"),
            (truncated(0.02), "to be an? (intact )?database"),
            (other_version, f"to have schema version {VERSION} or less, but it has {VERSION + 1}"),
            (other_program, f"to have schema version {VERSION} or less, but it has 0"),
        )
    ):
        path = _filled(tmp_path / str(number))
        change(path)
        left = path.read_bytes()
        wrong = pytest.raises(StoreError, match=rf"Expected the run store .*runs\.sqlite3 {words}")
        with wrong, Store(path.parent) as store:
            store.submit(RunConfig())
        assert path.read_bytes() == left, words
        assert [file.name for file in path.parent.iterdir()] == [FILE], words


def test_a_store_that_another_process_makes_between_two_statements_is_opened(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = []

    class Overtaken(sqlite3.Connection):
        def execute(self, *words: str) -> sqlite3.Cursor:
            if len(statements) == 1:
                monkeypatch.undo()
                Store(home).close()
            statements.append(words)
            return super().execute(*words)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Overtaken))
    with Store(home) as store:
        assert store.runs() == []
    assert len(statements) > 1


def test_a_missing_directory_is_made_and_a_place_where_there_can_be_none_is_named(
    tmp_path: Path,
) -> None:
    with Store(tmp_path / "a" / "b") as store:
        assert store.runs() == []
    (tmp_path / "file").write_text("here")
    (tmp_path / "home" / FILE).mkdir(parents=True)
    for home in (tmp_path / "file" / "home", tmp_path / "home"):
        with pytest.raises(
            StoreError,
            match=rf"Expected the run store {home}/runs\.sqlite3 to be a file in a writable",
        ):
            Store(home)


def test_a_store_that_is_replaced_while_in_use_is_not_written_to_blindly(
    store: Store, home: Path
) -> None:
    store.submit(RunConfig())
    shutil.rmtree(home)
    with pytest.raises(StoreError, match=r"runs\.sqlite3"):
        store.submit(RunConfig())
    assert not home.exists()
    _filled(home, runs=1)
    with pytest.raises(StoreError, match="replaced while in use"):
        store.runs()


def test_a_store_that_another_process_holds_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_file, "BUSY", 0.1)
    with Store(home) as holder, Store(home) as store, holder.writing():
        assert store.runs() == []
        with pytest.raises(StoreError, match=r"runs\.sqlite3 to be free"):
            store.submit(RunConfig())


def test_a_number_that_json_has_no_word_for_is_refused_by_its_event(store: Store) -> None:
    run = store.submit(RunConfig(), worker="here:1")
    for number in (float("nan"), float("inf"), float("-inf")):
        event = Finished(1, 1.0, 0.5, averaged_accuracy=number)
        with pytest.raises(
            RuntimeError,
            match=r"every number to be finite in Finished\(step=1, .*averaged_accuracy=",
        ):
            store.append(run, event)
        with (
            pytest.raises(RuntimeError, match="every number to be finite"),
            store.writing() as db,
        ):
            add_run(db, row_of(store.new_id(), RunConfig(), ""), [event])
    assert store.events(run) == []
    assert len(store.runs()) == 1
