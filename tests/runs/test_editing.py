"""A run in words, what is said about it afterwards, and what is left of it once it has ended or is deleted."""

import os
import time
from pathlib import Path

import pytest

from dpcore.runs.editing import LONGEST_NAME, MOST_TAGS, annotate, clear, delete, rename, tag
from dpcore.runs.in_words import OTHER_VERSION, name_of, state_of, status_of, when
from dpcore.runs.leftovers import UNKNOWN_FOR, remove_needless
from dpcore.runs.record import IMPORTED, Status, UnknownRun, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Started
from dpcore.training.perturbation.request import Request

STARTED = Started(1, 1, 0.5, "cpu", 1, "")


def test_a_run_keeps_its_name_tags_and_note_as_text_and_what_is_too_long_is_refused(store: Store) -> None:
    run = store.submit(RunConfig(), "before")
    rename(store, run, " <script>alert(1)</script>\n**x** ")
    tag(store, run, ["first", " second ", "first", ""])
    annotate(store, run, "line\nline\x00")
    with pytest.raises(ValueError, match=f"Expected name of 10,000 characters to have at most {LONGEST_NAME}"):
        rename(store, run, "x" * 10_000)
    with pytest.raises(ValueError, match=f"to be at most {MOST_TAGS}"):
        tag(store, run, [str(number) for number in range(MOST_TAGS + 1)])
    found = store.run(run)
    assert found.name == "<script>alert(1)</script> **x**"
    assert (found.tags, found.note) == (("first", "second"), "line\nline")
    for edit in (lambda: rename(store, "none", "x"), lambda: delete(store, "none")):
        with pytest.raises(UnknownRun, match="run='none'"):
            edit()


def test_only_a_run_that_has_ended_is_deleted_and_all_of_it_is(store: Store) -> None:
    run, other = store.submit(RunConfig()), store.submit(RunConfig())
    with pytest.raises(ValueError, match="to have ended, but it is queued; cancel it first"):
        delete(store, run)
    store.claim("here:1")
    store.append(run, STARTED)
    with pytest.raises(ValueError, match="but it is running"):
        delete(store, run)
    store.end(run, Status.LOST)
    file = left(store, run)
    delete(store, run)
    assert [each.id for each in store.runs()] == [other]
    assert store.bodies(run) == []
    assert not file.exists()


def test_clearing_leaves_what_runs_and_asks_it_to_stop(store: Store) -> None:
    runs = [store.submit(RunConfig()) for _ in range(3)]
    store.claim("here:1", 2)
    store.append(runs[0], STARTED)
    store.end(runs[0], Status.FINISHED)
    store.claim("here:1", 1)
    deleted, still_there = clear(store)
    assert (deleted, [run.id for run in still_there]) == (2, [runs[1]])
    assert still_there[0].cancelling
    assert [run.id for run in store.runs()] == [runs[1]]
    assert store.bodies(runs[0]) == []


def test_what_is_posted_is_on_the_board_until_it_is_taken_down(store: Store) -> None:
    assert store.board("projected") is None
    for value in ("one", "two", None):
        store.post("projected", value)
        assert store.board("projected") == value


def left(store: Store, run: str, suffix: str = ".pt", age: float = 0.0) -> Path:
    """What a run has left behind."""
    file = checkpoint_path(store.home, run).with_suffix(suffix)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"state")
    os.utime(file, (time.time() - age,) * 2)
    return file


def test_no_checkpoint_is_kept_that_nobody_can_resume_from_and_none_is_lost_that_somebody_can(store: Store) -> None:
    def run_that(status: Status | None) -> str:
        run = store.submit(RunConfig(), worker="elsewhere:1")
        if status:
            store.end(run, status)
        return run

    gone = [left(store, run_that(Status.FINISHED)), left(store, run_that(Status.LOST), ".part")]
    gone += [left(store, "removedrun", age=UNKNOWN_FOR + 60)]
    kept = [left(store, run_that(each)) for each in (None, Status.LOST, Status.CANCELLED, Status.FAILED)]
    kept += [left(store, run_that(None), ".part"), left(store, "beingmade1"), left(store, "notes", ".txt", age=1e6)]
    assert sorted(remove_needless(store)) == sorted(gone)
    assert all(file.exists() for file in kept)
    assert remove_needless(store) == []


def test_a_state_has_one_word_a_run_that_waits_its_place_and_an_imported_one_says_so(store: Store) -> None:
    first, second = store.submit(RunConfig()), store.submit(RunConfig())
    said = state_of(store.run(first), "starts in a moment")
    assert said == {
        "status": "queued", "position": 1, "cancelling": False, "words": "queued, number 1",
        "starts": "starts in a moment",
    }  # fmt: skip
    assert store.claim("here:1")
    assert [status_of(store.run(run)) for run in (first, second)] == ["running", "queued, number 1"]
    store.cancel(first)
    store.cancel(second)
    assert [status_of(store.run(run)) for run in (first, second)] == ["cancelling", "cancelled"]
    store.end(first, Status.CANCELLED)
    assert status_of(store.run(first)) == "cancelled"
    with store.writing() as db:
        db.execute("UPDATE runs SET status = 'finished', origin = ?", (f'{{"{IMPORTED}": "run a"}}',))
    assert status_of(store.run(second)) == "finished, imported"


def test_a_run_is_called_by_its_name_or_by_what_it_is(store: Store) -> None:
    named, plain = store.submit(RunConfig(), "  mine\x1b]0;\x07 \n"), store.submit(RunConfig(sigma=2.0))
    blank, comparison = store.submit(RunConfig(), "\x00"), store.submit(Request())
    called = [name_of(store.run(run)) for run in (named, plain, blank, comparison)]
    usual = "MNIST cnn, SGD, sigma"
    assert called == ["mine ]0;", f"{usual} 2", f"{usual} 1.23", "Comparison of methods, Breast Cancer"]
    with store.writing() as db:
        db.execute("UPDATE runs SET settings = '{\"unheard\": 1}' WHERE id = ?", (plain,))
        db.execute("UPDATE runs SET kind = 'of\x1btomorrow' WHERE id = ?", (comparison,))
    assert name_of(store.run(plain)) == OTHER_VERSION
    assert name_of(store.run(comparison)) == "of tomorrow breast_cancer"


def test_a_moment_is_told_where_the_reader_is_and_today_may_go_without_its_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT-3")
    time.tzset()
    try:
        assert when(0.0) == when(0.0, short=True) == "1970-01-01 03:00:00"
        assert when(0.0, utc=True) == "1970-01-01 00:00:00 UTC"
        now = time.time()
        assert when(now).endswith(f" {when(now, short=True)}")
    finally:
        monkeypatch.undo()
        time.tzset()
