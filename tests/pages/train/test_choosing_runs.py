"""Runs in words, in the widget that chooses them, and cancelled only after a question where others
began them.
"""

from dataclasses import replace

import pytest
import streamlit as st

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from pages.parts.train import run_picker
from pages.parts.train.buttons import start
from pages.parts.train.run_labels import labels_of
from tests.pages.train_page import CONFIG, press, recorded, whole

SGD, PIADAM = defaults("mnist", "cnn", "sgd"), defaults("mnist", "cnn", "pi_adam")


def test_only_what_differs_is_named():
    assert labels_of([SGD, replace(SGD, lr=2.0)]) == ["lr 1", "lr 2"]
    assert labels_of([SGD, replace(SGD, clipping="per_layer")]) == ["flat", "per layer"]
    assert labels_of([SGD, replace(SGD, sigma=4.0, clipping="auto_s")]) == [
        "sigma 1.23",
        "sigma 4, AUTO-S",
    ]
    levels = [replace(SGD, schedule="exponential", rate=k) for k in (0.01, 0.02)]
    assert labels_of(levels) == ["k 0.01", "k 0.02"]


def test_what_an_optimizer_brings_along_is_not_named_but_what_was_chosen_is():
    other = defaults("mnist", "cnn", "rmsprop")
    assert other.lr != SGD.lr
    assert other.clip_norm != SGD.clip_norm
    assert labels_of([SGD, other]) == ["SGD", "RMSprop"]
    assert labels_of([SGD, replace(other, lr=0.9)]) == ["SGD, lr 1", "RMSprop, lr 0.9"]


def test_a_baseline_is_named_by_what_it_has_itself():
    plain = replace(SGD, private=False, lr=0.05)
    assert labels_of([SGD, plain]) == ["sigma 1.23", "no privacy"]
    assert labels_of([replace(SGD, sigma=4.0), plain, replace(plain, sigma=4.0)])[1:] == [
        "no privacy, run 1",
        "no privacy, run 2",
    ]
    assert labels_of([plain]) == ["no privacy"]


def test_runs_with_secret_seeds_are_numbered_for_they_are_not_the_same():
    assert labels_of([SGD, SGD]) == ["sigma 1.23, run 1", "sigma 1.23, run 2"]


def lines(store: Store) -> dict[str, str]:
    runs = store.runs()
    return run_picker.choices(runs, store.latest_tests([run.id for run in runs]))


def test_each_run_says_epochs_status_accuracy_and_certified_epsilon(store: Store):
    short, long = (
        recorded(store, replace(CONFIG, epochs=epochs), 70, Status.FINISHED)
        for epochs in (2.0, 30.0)
    )
    cancelled = recorded(store, CONFIG, 40, Status.CANCELLED)
    plain = recorded(store, replace(CONFIG, private=False), 70, Status.FINISHED)
    said = lines(store)
    assert ", 2 epochs · finished, 78.0 %, epsilon ≤ " in said[short]
    assert ", 30 epochs · finished, 78.0 %, epsilon ≤ " in said[long]
    assert " · cancelled, 66.0 %, epsilon ≤ " in said[cancelled]
    assert said[plain].endswith("2 epochs · finished, 78.0 %")


CONFIGS = [RunConfig(epochs=1)]


BASELINE = [RunConfig(epochs=1, private=False)]


def test_what_an_older_widget_says_is_not_taken_for_the_choice(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(st, "session_state", {})
    start(store, CONFIGS)
    key = f"shown_{st.session_state[run_picker.DRAWN]}"
    first = run_picker.shown_runs()
    start(store, BASELINE)
    st.session_state[key] = []
    run_picker._chosen(key)
    assert run_picker.shown_runs()[:1] == first
    assert len(run_picker.shown_runs()) == 2
    key = f"shown_{st.session_state[run_picker.DRAWN]}"
    st.session_state[key] = first
    run_picker._chosen(key)
    assert run_picker.shown_runs() == first


def asked(page) -> str:
    return " ".join(
        each.value for each in page.markdown if "was not started in this tab" in each.value
    )


def test_cancelling_a_run_that_was_started_elsewhere_names_it_and_asks_first(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(whole(run), "Cancel")
    assert "MNIST cnn, SGD, sigma 1.23" in asked(page)
    assert not store.run(run).cancelling
    press(page, "Cancel this run")
    assert store.run(run).cancelling


def test_a_run_that_was_started_or_resumed_here_is_cancelled_without_a_question(store: Store):
    other = recorded(store, CONFIG, 40, Status.CANCELLED)
    page = press(whole(other), "Resume")
    (new,) = store.runs(Status.QUEUED)
    press(page, "Cancel")
    assert store.run(new.id).status is Status.CANCELLED
    assert not asked(page)
