"""A run in words: one name, one word for each state, one form of a date, wherever it is told."""

import time
from pathlib import Path

import pytest

from dpcore.runs.in_words import OTHER_VERSION, name_of, state_of, status_of, when
from dpcore.runs.record import IMPORTED, Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.perturbation.request import Request
from tests.test_architecture import SOURCES


def test_a_state_has_one_word_and_a_run_that_waits_its_place(store: Store) -> None:
    first, second = store.submit(RunConfig()), store.submit(RunConfig())
    assert store.claim("here:1")
    assert [status_of(store.run(run)) for run in (first, second)] == ["running", "queued, number 1"]
    store.cancel(first)
    store.cancel(second)
    assert [status_of(store.run(run)) for run in (first, second)] == ["cancelling", "cancelled"]
    store.end(first, Status.CANCELLED)
    assert status_of(store.run(first)) == "cancelled"


def test_an_imported_run_says_so(store: Store) -> None:
    run = store.submit(RunConfig())
    with store.writing() as db:
        db.execute("UPDATE runs SET status = 'finished', origin = ?", (f'{{"{IMPORTED}": "run a"}}',))
    assert status_of(store.run(run)) == "finished, imported"


def test_who_follows_a_run_is_told_the_words_for_its_state(store: Store) -> None:
    run = store.run(store.submit(RunConfig()))
    assert state_of(run, "starts in a moment") == {
        "status": "queued",
        "position": 1,
        "cancelling": False,
        "words": status_of(run),
        "starts": "starts in a moment",
    }


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


@pytest.mark.parametrize(("function", "home"), [("strftime", "in_words.py"), ("isprintable", "printable.py")])
def test_nobody_else_forms_a_date_or_cleans_a_text(function: str, home: str) -> None:
    users = {path.name for path in map(Path, SOURCES) if function in path.read_text(encoding="utf-8")}
    assert users == {home}
