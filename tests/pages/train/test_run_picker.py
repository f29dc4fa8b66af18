"""What a click on a start button does, and what the charts then show."""

import pytest
import streamlit as st

from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.train import run_picker

CONFIGS = [RunConfig(epochs=1)]
BASELINE = [RunConfig(epochs=1, private=False)]


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(run_picker.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    with Store(tmp_path) as store:
        yield store


def test_a_second_click_before_the_run_is_on_the_page_does_nothing(store, clock):
    run_picker.start(store, CONFIGS)
    clock[0] += 60
    run_picker.start(store, CONFIGS)
    assert run_picker.shown_runs() == [run.id for run in store.runs()]
    assert len(store.runs()) == 1


def test_clicks_in_quick_succession_start_one_run_however_many(store, clock):
    for _ in range(20):
        run_picker.start(store, CONFIGS)
        run_picker.started_is_seen()
        clock[0] += 0.9 * run_picker.AGAIN
    assert len(store.runs()) == 1


def test_a_click_some_time_after_the_run_is_on_the_page_starts_another_one(store, clock):
    for count in (1, 2, 3):
        run_picker.start(store, CONFIGS)
        run_picker.started_is_seen()
        clock[0] += 1.1 * run_picker.AGAIN
        assert len(store.runs()) == count
    assert run_picker.shown_runs() == [run.id for run in reversed(store.runs())]


def test_the_other_button_works_at_once(store, clock):
    run_picker.start(store, CONFIGS)
    run_picker.start(store, BASELINE)
    assert [run.config.private for run in store.runs()] == [False, True]
    assert len(run_picker.shown_runs()) == 2


def test_what_an_older_widget_says_is_not_taken_for_the_choice(store, clock):
    run_picker.start(store, CONFIGS)
    key = f"shown_{st.session_state[run_picker.DRAWN]}"
    first = run_picker.shown_runs()
    run_picker.start(store, BASELINE)
    st.session_state[key] = []
    run_picker._chosen(key)
    assert run_picker.shown_runs()[:1] == first
    assert len(run_picker.shown_runs()) == 2
    key = f"shown_{st.session_state[run_picker.DRAWN]}"
    st.session_state[key] = first
    run_picker._chosen(key)
    assert run_picker.shown_runs() == first
