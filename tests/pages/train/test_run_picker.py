"""What a click on a start button does, and what the charts then show."""

import pytest
import streamlit as st

from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.train import run_picker

CONFIGS = [RunConfig(epochs=1)]
BASELINE = [RunConfig(epochs=1, private=False)]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    with Store(tmp_path) as store:
        yield store


def test_what_an_older_widget_says_is_not_taken_for_the_choice(store):
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
