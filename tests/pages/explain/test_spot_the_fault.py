"""Spot the fault: a line is pointed at, each right one has its reason, and the record decides."""

from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.audit.broken_trainers import BROKEN
from dpcore.audit.faults import programs
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.numbers import marked
from dpcore.runs.lesson_answers import Answer, answers, csv_of_answers, forget, note
from dpcore.runs.store import Store
from pages.parts.explain.lessons import LESSONS
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[3] / "pages" / "lab.py"
LESSON = LESSONS["spot_the_fault"]
opened = partial(opened_at, PAGE, lesson=LESSON.name)
pytestmark = pytest.mark.usefixtures("store")


def said(page: AppTest) -> str:
    """What stands on the page."""
    assert not page.exception
    return "\n".join(each.value for kind in (page.markdown, page.caption) for each in kind)


def pointed(page: AppTest, name: str, line: int) -> str:
    page.radio(key=f"fault_{name}").set_value(line).run()
    return said(page)


def test_it_has_a_step_for_every_broken_trainer_and_promises_what_the_audits_were_promised():
    assert [step.fault for step in LESSON.steps] == list(BROKEN)
    cost = LESSON.scene(1).epsilon
    for program in programs().values():
        promised = program.evidence.promised
        assert marked(promised, Kind.CERTIFIED) == marked(cost, Kind.CERTIFIED) or program.name in (
            "batches_reused",  # trains for longer
            "accepted_only",  # is charged for fewer steps
        ), program.name


def test_a_wrong_line_gets_its_reason_and_the_right_one_the_recorded_evidence():
    name = "half_noise"
    program = programs()[name]
    page = opened(step=str([*BROKEN].index(name) + 1))
    options = page.radio(key=f"fault_{name}").options
    assert len(options) == len(program.lines)
    assert all("fault" not in each for each in options), "nothing shows where it is"
    right = program.lines[0].why
    words = pointed(page, name, 1)
    assert f"Line 1 is right. {right}" in words
    assert program.evidence.verdict not in words
    words = pointed(page, name, program.fault)
    assert f"### ✓ Right: line {program.fault}" in words
    assert f"**{program.evidence.verdict}**" in words
    assert program.evidence.verdict == "Promised 2.53. Really at least 13.0."
    assert "Recorded" in words
    assert f"`{program.evidence.command}`" in words
    assert "At the first try: 0 right of 1 answered, of 10." in words


def test_it_shows_the_line_on_demand_and_that_is_no_answer():
    page = opened(step="1")
    page.button(key="fault_shown").click().run()
    assert page.radio(key="fault_no_noise").value == programs()["no_noise"].fault
    assert "At the first try" not in said(page)


def test_the_csv_has_the_first_answer_of_each_visitor_by_number_and_not_by_name(store: Store):
    fault = programs()["no_noise"].fault
    for visitor, line, at in (("ann", 2, 1.0), ("bob", fault, 2.0), ("ann", fault, 3.0)):
        note(store, Answer(visitor, "no_noise", line, at))
    note(store, Answer("ann", "half_noise", 3, 4.0))
    lines = csv_of_answers(answers(store)).splitlines()
    assert lines[0] == "visitor,trainer,line,right_line,right,seconds_since_1970"
    assert lines[1:] == [
        f"1,no_noise,2,{fault},no,1",
        f"2,no_noise,{fault},{fault},yes,2",
        f"1,half_noise,3,{programs()['half_noise'].fault},no,4",
    ]
    assert "ann" not in "".join(lines)
    forget(store)
    assert answers(store) == []
