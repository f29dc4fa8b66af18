"""What a page explains: the odds as x of 100, and the lessons on what papers claim."""

import math
import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.papers.pigdo.theorem_3 import Lambda, counterexamples
from dpcore.privacy.report.attack_risk import Between, Risks
from pages.parts.explain.lessons import LESSONS, picky
from pages.parts.results.odds import PEOPLE, odds_icons, of_hundred


def risks(right: float, *, empty: bool = False) -> Risks:
    """Of an attacker whose guesses are right with this probability at most."""
    zero, gain = Between(0.0, 1.0), Between(0.0, 2 * right - 1)
    return Risks(gain, zero, {}, zero, 1e-5, right, "Too little noise.", empty)


def people(drawing: str) -> list[int]:
    """How many heads are drawn in each of the three groups."""
    groups = re.findall(r"<g .*?</g>", unquote(drawing))
    return [group.count("v0") for group in groups]


@given(st.floats(0.5, 1.0))
def test_it_is_rounded_up_and_by_less_than_one(sure: float):
    shown = of_hundred(risks(sure))
    assert shown / PEOPLE >= sure - 1e-15
    assert shown - 1 < PEOPLE * sure + 1e-9


def test_a_hundred_people_are_drawn_as_many_as_it_says():
    for sure, shown in (
        (0.5, 50),
        (math.nextafter(0.5, 1), 51),
        (0.87336, 88),
        (0.875, 88),
        (0.9901, 100),
    ):
        html = odds_icons(risks(sure))
        assert people(html) == [50, shown - 50, PEOPLE - shown], (sure, shown)
        assert f"{shown} of {PEOPLE}" in html, (sure, shown)
        assert f"at most {shown} after" in re.findall(r'alt="(.*?)"', html)[0], (sure, shown)


def test_where_no_bound_is_proven_it_promises_nothing():
    for found in [risks(1.0), risks(0.6, empty=True), risks(math.nextafter(1, 0))]:
        html = odds_icons(found)
        assert f"up to {PEOPLE} of {PEOPLE}" in html, found
        assert "at most 100 of" not in html.split("<figcaption>")[1], found


def test_the_scene_of_the_refuted_theorem_is_as_bad_as_the_worst_that_the_search_finds():
    shown = LESSONS["broken_proof"].scenes.below
    key = (shown.batch / shown.examples, shown.sigma, shown.steps)
    found = next(
        each for each in counterexamples(Lambda.OWN) if (each.q, each.sigma, each.steps) == key
    )
    assert found.excess == pytest.approx(counterexamples(Lambda.OWN)[0].excess, rel=0.01)
    assert shown.epsilon_by("mma") == pytest.approx(found.claimed)
    assert shown.lower == pytest.approx(found.lower)


def test_the_theorem_is_kept_where_the_lesson_says_so_and_refuted_where_it_says_that():
    scenes = LESSONS["broken_proof"].scenes
    assert all(each.epsilon_by("mma") >= each.epsilon for each in (scenes.above, scenes.louder))
    assert all(each.epsilon_by("mma") < each.lower for each in (scenes.below, scenes.often))


def test_the_exact_case_of_kept_steps_is_charged_as_its_scenes_are_and_the_proven_lies_between():
    scenes = LESSONS["free_rejections"].scenes
    case, steps, delta = picky(scenes), scenes.accepted.steps, scenes.accepted.delta
    assert case.accepted_only(delta, steps) == pytest.approx(scenes.accepted.epsilon, rel=1e-3)
    assert case.every_proposal(delta, steps) == pytest.approx(scenes.every.epsilon, rel=1e-3)
    assert scenes.accepted.epsilon < case.epsilon_after(steps, delta) < scenes.every.epsilon
