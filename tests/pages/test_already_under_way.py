"""A start button queues nothing that this session began, or shows, and that is still under way."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

from dpcore.runs.editing import delete
from dpcore.runs.limits import User
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.audit import panel as audits
from pages.parts.jobs import PROBLEM, UNDER_WAY
from pages.parts.perturbation import panel as comparisons
from pages.parts.runs import actions, sweeps
from pages.parts.shown_job import ShownJob
from pages.parts.train.buttons import resume, start
from pages.parts.train.run_picker import SHOWN
from tests.pages import audit_page
from tests.pages.perturbation_page import REQUEST
from tests.pages.train_page import CONFIG, recorded

CONFIGS = [RunConfig(epochs=1), RunConfig(epochs=1, sigma=2.0)]
Click = Callable[[Store], None]
BUTTONS: dict[str, Click] = {
    "runs": lambda store: start(store, CONFIGS),
    "sweep": lambda store: sweeps._start(store, CONFIGS, ["sigma"], "Sweep"),
}


@pytest.fixture(params=BUTTONS)
def click(request: pytest.FixtureRequest) -> Click:
    return BUTTONS[request.param]


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a browser tab keeps and has in its address, without a browser."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {})


def test_what_is_queued_or_running_is_not_started_again_and_that_is_said(
    store: Store, click: Click
):
    click(store)
    assert PROBLEM not in st.session_state
    click(store)
    assert st.session_state[PROBLEM] == UNDER_WAY
    store.claim("test:1")
    click(store)
    assert len(store.runs()) == len(CONFIGS)


def test_what_has_ended_or_is_being_cancelled_is_started_again(store: Store, click: Click):
    click(store)
    first, second = (run.id for run in store.runs())
    store.claim("test:1")
    store.cancel(first)
    store.cancel(second)
    click(store)
    assert len(store.runs()) == 2 * len(CONFIGS)


def test_where_nothing_came_of_a_click_the_next_one_tries_again(
    store: Store, click: Click, monkeypatch: pytest.MonkeyPatch
):
    def full(*values: object) -> list[str]:
        raise ValueError("the queue is full")

    with monkeypatch.context() as patch:
        patch.setattr("dpcore.runs.within_limits.submit", full)
        click(store)
    assert st.session_state[PROBLEM] == "the queue is full"
    click(store)
    assert len(store.runs()) == len(CONFIGS)


def test_other_settings_and_another_seed_are_started_at_once_and_alone(store: Store):
    start(store, CONFIGS[:1])
    start(store, CONFIGS)
    assert [run.config for run in reversed(store.runs())] == CONFIGS
    start(store, [replace(CONFIGS[0], seed=1)])
    assert len(store.runs()) == 3


def test_of_more_runs_with_secret_seeds_those_that_are_missing_are_started(store: Store):
    for count in (1, 3, 2):
        start(store, CONFIGS[:1] * count)
    assert len(store.runs()) == 3


def test_after_a_reload_the_runs_that_are_shown_are_not_started_again(store: Store):
    start(store, CONFIGS)
    # A new session, which has them in its address.
    st.session_state = {SHOWN: [run.id for run in store.runs()]}
    start(store, CONFIGS)
    assert st.session_state[PROBLEM] == UNDER_WAY
    assert len(store.runs()) == len(CONFIGS)


def test_runs_of_others_count_for_nothing(store: Store, click: Click):
    for config in CONFIGS:
        store.submit(config)
    click(store)
    assert len(store.runs()) == 2 * len(CONFIGS)


def test_a_run_of_somebody_else_that_is_shown_starts_no_less(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pages.parts.visitors.current_user", lambda: User("ann", shared=True))
    monkeypatch.setattr("pages.parts.jobs.current_user", lambda: User("ann", shared=True))
    st.session_state = {SHOWN: [store.submit(CONFIGS[0], owner="bob")]}
    for said in (None, UNDER_WAY):
        start(store, CONFIGS[:1])
        assert st.session_state.get(PROBLEM) == said
    assert sorted(run.owner for run in store.runs()) == ["ann", "bob"]


@pytest.mark.parametrize(
    "resume", [resume, lambda store, run: actions.each_of(resume, store, [run])]
)
def test_a_run_is_resumed_once(store: Store, resume: Callable[[Store, str], None]):
    lost = recorded(store, CONFIG, 40, Status.LOST)
    for said in (None, UNDER_WAY):
        resume(store, lost)
        assert st.session_state.get(PROBLEM) == said
    assert len(store.runs(Status.QUEUED)) == 1


@pytest.mark.parametrize(
    ("job", "asked"), [(comparisons.SHOWN, REQUEST), (audits.SHOWN, audit_page.REQUEST)]
)
def test_a_comparison_or_audit_that_is_shown_and_under_way_is_not_begun_again(
    store: Store, job: ShownJob, asked: Any
):
    for said in (None, UNDER_WAY):
        job.begin(store, asked)
        assert st.session_state.get(PROBLEM) == said
    assert len(store.runs(kind=None)) == 1


@pytest.mark.parametrize("job", [comparisons.SHOWN, audits.SHOWN])
def test_another_request_is_begun_at_once_and_takes_the_place_of_a_comparison_that_was_begun_here(
    store: Store, job: ShownJob
):
    for confidence in (0.9, 0.8):
        job.begin(
            store,
            (
                replace(REQUEST, delta=1e-3 * confidence)
                if job.replaces
                else replace(audit_page.REQUEST, confidence=confidence)
            ),
        )
    assert [run.status for run in store.runs(kind=None)] == [
        Status.QUEUED,
        Status.CANCELLED if job.replaces else Status.QUEUED,
    ]


def test_a_comparison_is_begun_in_the_place_of_one_that_is_gone_without_a_complaint(store: Store):
    job = comparisons.SHOWN
    job.begin(store, REQUEST)
    (gone,) = store.runs(kind=None)
    store.cancel(gone.id)
    delete(store, gone.id)
    job.begin(store, replace(REQUEST, delta=1e-4))
    assert PROBLEM not in st.session_state
    assert len(store.runs(Status.QUEUED, kind=None)) == 1
