"""A lesson that trains: one click queues every recipe of the step, all of one epsilon, and puts
them on the chart.
"""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from dpcore.papers.recording import certified
from dpcore.runs.store import Store
from pages.parts.explain.lessons import LESSONS
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[3] / "pages" / "lab.py"
LESSON = LESSONS["better_features"]
RUNS = LESSON.runs(1)


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


def test_its_recipes_spend_what_the_lesson_says_each_by_other_means():
    assert {certified(config) for config in RUNS} == {LESSON.scene(1).epsilon}
    assert len({(run.features, run.model, run.lr, run.views) for run in RUNS}) == 4
