"""A lesson that trains: one click queues every recipe of the step, all of one epsilon, and puts them on the chart."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.papers.recording import certified
from dpcore.runs.in_process import recorded
from dpcore.runs.record import Status, worker_name
from dpcore.runs.store import Store
from dpcore.training.events import Finished
from dpcore.training.loop import train
from pages.parts.explain.lessons import LESSONS
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[3] / "pages" / "accountants.py"
LESSON = LESSONS["better_features"]
RUNS = LESSON.steps[0].runs


def opened(step: int, lesson: str = LESSON.name) -> AppTest:
    return opened_at(PAGE, lesson=lesson, step=str(step))


def test_one_click_queues_the_four_recipes_and_shows_them(store: Store):
    page = opened(1)
    assert page.button(key="lesson_runs").label == "Train all 4"
    page.button(key="lesson_runs").click().run()
    assert not page.exception
    queued = {run.config: run.id for run in store.runs()}
    assert set(queued) == set(RUNS)
    assert set(page.query_params["run"]) == set(queued.values())
    page.button(key="lesson_runs").click().run()  # at once again: the same wish
    assert len(store.runs()) == 4


@pytest.mark.long
def test_the_four_recipes_train_and_their_accuracies_appear_beside_the_lesson(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    short = tuple(replace(run, epochs=0.2, seed=0, device="cpu") for run in RUNS)  # 2 steps each
    steps = tuple(replace(step, runs=short) for step in LESSON.steps)
    monkeypatch.setitem(LESSONS, LESSON.name, replace(LESSON, steps=steps))
    page = opened(1)
    page.button(key="lesson_runs").click().run()
    assert not page.exception
    while running := store.claim(worker_name(os.getpid())):
        assert recorded(store, running.id, train(running.config), lambda event: None) == (Status.FINISHED, "")
    page.run()
    assert not page.exception
    told = page.get("plotly_chart")[0].proto.alt
    ended = [run.last for run in store.runs()]
    assert len(ended) == 4
    for last in ended:
        assert isinstance(last, Finished)
        assert f" {100 * last.accuracy:.1f} %" in told


def test_it_is_offered_at_every_step_and_not_beside_the_question_or_in_other_lessons(store: Store):
    for step in range(1, LESSON.length + 1):
        offered = [each for each in opened(step).button if each.key == "lesson_runs"]
        assert len(offered) == (step < LESSON.length)
    assert all(each.key != "lesson_runs" for each in opened(1, "sampling").button)


def test_its_recipes_spend_what_the_lesson_says_each_by_other_means():
    scene = LESSON.steps[0].scene
    for config in RUNS:
        assert certified(config) == scene.epsilon()
    assert len({(run.features, run.model, run.lr, run.views) for run in RUNS}) == 4
