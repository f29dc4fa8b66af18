"""A start button queues its runs once until the reader can see them, however the page is held up."""

from collections.abc import Callable

import pytest
import streamlit as st

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.controls import second_click
from pages.parts.runs import actions, sweep_form
from pages.parts.train import run_picker
from tests.pages.train_page import CONFIG, recorded

CONFIGS = [RunConfig(epochs=1), RunConfig(epochs=1, sigma=2.0)]
Click = Callable[[Store], None]
BUTTONS: dict[str, Click] = {
    "runs": lambda store: run_picker.start(store, CONFIGS),
    "sweep": lambda store: sweep_form._start(store, CONFIGS, ["sigma"], "Sweep"),
}


@pytest.fixture(params=BUTTONS)
def click(request: pytest.FixtureRequest) -> Click:
    return BUTTONS[request.param]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(second_click.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a browser tab keeps and has in its address, without a browser."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {})


def test_a_click_before_what_the_last_one_started_is_on_the_page_starts_nothing(
    store: Store, clock: list[float], click: Click
) -> None:
    click(store)
    clock[0] += 60  # the server is busy
    click(store)
    assert len(store.runs()) == len(CONFIGS)


def test_clicks_in_quick_succession_start_it_once_however_many(store: Store, clock: list[float], click: Click) -> None:
    for _ in range(20):
        click(store)
        second_click.started_is_seen()
        clock[0] += 0.9 * second_click.AGAIN
    assert len(store.runs()) == len(CONFIGS)


def test_a_click_some_time_after_it_is_on_the_page_starts_it_again(
    store: Store, clock: list[float], click: Click
) -> None:
    for count in (1, 2, 3):
        click(store)
        second_click.started_is_seen()
        clock[0] += 1.1 * second_click.AGAIN
        assert len(store.runs()) == count * len(CONFIGS)


def test_where_the_page_takes_long_to_show_it_clicks_may_come_as_late(
    store: Store, clock: list[float], click: Click
) -> None:
    click(store)
    clock[0] += 4
    second_click.started_is_seen()
    clock[0] += 2 * second_click.AGAIN  # which the server hears of only now
    click(store)
    assert len(store.runs()) == len(CONFIGS)
    clock[0] += 1.1 * second_click.BUSY * 4
    click(store)
    assert len(store.runs()) == 2 * len(CONFIGS)


def test_where_nothing_came_of_a_click_the_next_one_tries_again(
    store: Store, clock: list[float], click: Click, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*values: object) -> list[str]:
        raise ValueError("the queue is full")

    with monkeypatch.context() as patch:
        patch.setattr("dpcore.runs.within_limits.submit", full)
        click(store)
    assert st.session_state[run_picker.PROBLEM] == "the queue is full"
    click(store)
    assert len(store.runs()) == len(CONFIGS)


def test_another_button_works_at_once(store: Store, clock: list[float]) -> None:
    for button in BUTTONS.values():
        button(store)
    assert len(store.runs()) == 2 * len(CONFIGS)


def test_a_late_second_click_does_not_start_the_run_again_without_its_twin(store: Store, clock: list[float]) -> None:
    """A short run has ended by then, its non-private twin too, which the page therefore asks for no more."""
    run_picker.start(store, CONFIGS)
    second_click.started_is_seen()
    clock[0] += 0.5 * second_click.AGAIN
    run_picker.start(store, CONFIGS[:1])
    assert len(store.runs()) == len(CONFIGS)


def test_a_click_that_wishes_for_more_than_the_last_one_counts_at_once(store: Store, clock: list[float]) -> None:
    run_picker.start(store, CONFIGS[:1])
    second_click.started_is_seen()
    run_picker.start(store, CONFIGS)
    assert len(store.runs()) == 1 + len(CONFIGS)


RESUMES = {"train": run_picker.go_on, "runs": lambda store, run: actions._resume(store, [run])}


@pytest.mark.parametrize("resume", RESUMES.values(), ids=RESUMES)
def test_the_second_click_on_resume_neither_queues_nor_says_anything(
    store: Store, clock: list[float], resume: Callable[[Store, str], None]
) -> None:
    lost = recorded(store, CONFIG, 40, Status.LOST)
    for _ in range(2):
        resume(store, lost)
        clock[0] += 0.1
    assert len(store.runs(Status.QUEUED)) == 1
    assert run_picker.PROBLEM not in st.session_state
