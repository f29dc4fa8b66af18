"""Every lesson, driven from its first step to its last: it moves the controls, and charges what a
run can spend.
"""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.lessons import cards
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.plan import plan
from dpcore.training.recorded import recorded
from pages.parts.explain.lesson import LEVELS, TARGETS, Lesson
from pages.parts.explain.lessons import LESSONS
from pages.parts.explain.scene import DATASET, FEATURES, MODEL, SOURCE, Scene
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[3] / "pages" / "lab.py"
TYPED = ("sigma", "batch", "epochs", "steps", "clip_norm", "delta", "n")  # fields of numbers
opened = partial(opened_at, PAGE)


def press(page: AppTest, key: str) -> AppTest:
    page.button(key=key).click().run()
    assert not page.exception
    assert not [each.value for each in page.error if "Not so" not in each.value]
    return page


def settings(page: AppTest) -> dict[str, str]:
    """What the fields of numbers say; which of them are there depends on the choices."""
    return {str(each.key): str(each.value) for each in page.text_input if each.key in TYPED}


def address(page: AppTest) -> dict[str, str]:
    """What the address bar says, without what stands there several times."""
    values = {key: page.query_params[key] for key in page.query_params}
    return {key: value if isinstance(value, str) else value[0] for key, value in values.items()}


def panel(page: AppTest) -> str:
    """The words of the lesson."""
    return next(
        (each.value for each in page.markdown if re.search(r"\*\*, step \d", each.value)), ""
    )


def shows(page: AppTest, scene: Scene) -> None:
    """Whether the controls say what the scene does."""
    for key, value in settings(page).items():
        assert value == scene.fields[key], key
    assert page.pills(key="accountants").value == list(scene.accountants)


def runs_through(lesson: Lesson) -> None:
    """Drive the lesson from its first step to its last, give every answer if that is a question,
    and go a step back.
    """
    page = press(opened(), f"open_{lesson.name}")
    for step in range(1, lesson.length + 1):
        assert f"step {step} of {lesson.length}" in panel(page), lesson.name
        said = {"step": "1"} | address(page)  # which the address leaves out at the first step
        assert (said["lesson"], said["step"]) == (lesson.name, str(step))
        shows(page, lesson.scene(step))
        if step < lesson.length:
            press(page, "lesson_next")
    scene = lesson.scene(lesson.length)
    for answer in lesson.answers:
        assert lesson.look(lesson.length) in page.radio[0].label, lesson.name
        page.radio[0].set_value(lesson.fill(answer["text"], scene)).run()
        told = page.success if lesson.is_right(answer) else page.error
        assert lesson.fill(answer["why"], scene) in told[0].value, lesson.name
        assert len(page.success) + len(page.error) == 1, lesson.name
    press(page, "lesson_back")
    assert f"step {lesson.length - 1} of" in panel(page), lesson.name
    shows(page, lesson.scene(lesson.length - 1))


@pytest.mark.long
def test_every_lesson_runs_from_its_first_step_to_its_question_and_back():
    for lesson in LESSONS.values():
        runs_through(lesson)


def test_exactly_one_answer_is_right_and_no_sentence_has_a_gap():
    for lesson in LESSONS.values():
        said = [
            lesson.fill(f"{each['text']} {each['why']}", lesson.scene(lesson.length))
            for each in lesson.answers
        ]
        assert not re.search(
            "[{}]", " ".join([*said, *map(lesson.look, range(1, lesson.length + 1))])
        ), lesson.name
        right = [lesson.is_right(answer) for answer in lesson.answers]
        assert right.count(True) == min(len(right), 1), lesson.name


def test_what_it_charges_is_the_plan_of_a_run_that_can_be_trained():
    for lesson in LESSONS.values():
        for scene in map(lesson.scene, range(1, lesson.length + 1)):
            length = scene.steps * scene.batch / 10_000 if scene.steps else scene.epochs
            planned = plan(
                RunConfig("mnist", "sample", batch=scene.batch, sigma=scene.sigma, epochs=length)
            )
            assert scene.mechanism == planned.mechanism, lesson.name
            constant = Mechanism.constant(scene.batch / 10_000, scene.sigma, planned.steps)
            assert scene.mechanism == constant, lesson.name


def test_a_link_opens_the_middle_of_a_lesson_and_a_wild_step_the_nearest():
    lesson = LESSONS["more_steps"]
    for asked, step in (("2", 2), ("99", lesson.length), ("0", 1), ("-3", 1), ("x", 1), ("²", 1)):
        page = opened(lesson=lesson.name, step=asked)
        assert f"step {step} of" in panel(page)
        shows(page, lesson.scene(step))


def test_an_unknown_lesson_is_a_sentence():
    page = opened(lesson="<b>none</b>", step="2")
    assert "There is no lesson" in page.warning[0].value
    assert panel(page) == ""
    assert "lesson" not in page.query_params


def test_lesson_0_comes_first_and_has_five_cards_without_a_formula_or_a_question():
    lesson = next(iter(LESSONS.values()))
    assert (lesson.name, lesson.length, lesson.answers) == ("sixty_seconds", 5, ())
    assert [card["points"] for card in cards()] == [[*step.points] for step in lesson.steps]
    said = " ".join(lesson.look(step) for step in range(1, 6))
    assert not re.search(r"[=^√]|log|exp", said)
    assert len(said.split()) < 250  # that one reads in a minute
    assert lesson.scene(2).people == "**76 of 100**"
    assert lesson.scene(5).tier == "**strong**"


def test_what_lesson_0_says_of_accuracy_is_the_record_of_its_own_settings():
    scene = LESSONS["sixty_seconds"].scene(4)
    usual = defaults(DATASET, MODEL, "sgd", features=FEATURES)
    assert scene.run(model=MODEL, features=FEATURES, lr=usual.lr) == replace(usual, sigma=4.0)
    (found,) = [each for each in recorded(DATASET, SOURCE) if each.sigma == scene.sigma]
    assert found.epsilon == pytest.approx(scene.epsilon, rel=1e-4)
    said = LESSONS["sixty_seconds"].look(4)
    assert f"reads {100 * found.accuracy:.1f} of 100" in said
    assert f"without privacy {100 * found.baseline:.1f}" in said


def test_every_step_points_at_something_and_at_each_control_that_it_moves():
    for lesson in LESSONS.values():
        for step in range(1, lesson.length + 1):
            assert lesson.steps[step - 1].points, (lesson.name, step)
            assert set(lesson.targets(step)) <= set(TARGETS), (lesson.name, step)
    assert LESSONS["sampling"].targets(2) == ["batch", "epsilon_chart"]
    assert LESSONS["shuffled"].targets(5)[:2] == ["sigma", "sampler"]


def test_the_menu_shows_the_place_the_time_and_the_level_of_every_lesson():
    page = opened()
    labels = [page.button(key=f"open_{name}").label for name in LESSONS]
    for number, (label, lesson) in enumerate(zip(labels, LESSONS.values(), strict=True)):
        assert label == f"{number}. {lesson.title} · {lesson.minutes} min · {lesson.level}"
    levels = [LEVELS.index(lesson.level) for lesson in LESSONS.values()]
    assert levels == sorted(levels), "the easy ones first"
