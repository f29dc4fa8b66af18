"""The lessons on what papers claim say what is proven of those claims, in the scenes that they show."""

import pytest

from dpcore.papers.pigdo.theorem_3 import Lambda, conditions_hold, counterexamples, worst
from pages.parts.explain.lesson import EXAMPLES, Scene
from pages.parts.explain.lessons import broken_proof, free_rejections


def lower(scene: Scene) -> float:
    found = scene.curve().lower
    assert found is not None
    return float(found[-1])


def test_the_conditions_of_the_theorem_are_met_in_every_scene_that_says_so():
    for scene in [broken_proof.BELOW, broken_proof.OFTEN, broken_proof.LOUDER, broken_proof.ABOVE]:
        assert conditions_hold(scene.batch / EXAMPLES, scene.sigma, scene.steps, Lambda.OWN, scene.delta), scene


def test_the_scene_of_the_refuted_theorem_is_as_bad_as_the_worst_that_the_search_finds():
    shown = broken_proof.BELOW
    key = (shown.batch / EXAMPLES, shown.sigma, shown.steps)
    found = next(each for each in counterexamples(Lambda.OWN) if (each.q, each.sigma, each.steps) == key)
    assert found.excess == pytest.approx(worst(Lambda.OWN).excess, rel=0.01)
    assert shown.epsilon("mma") == pytest.approx(found.claimed)
    assert lower(shown) == pytest.approx(found.lower)


def test_the_theorem_is_kept_where_the_lesson_says_so_and_refuted_where_it_says_that():
    for scene in (broken_proof.ABOVE, broken_proof.LOUDER):
        assert scene.epsilon("mma") >= scene.epsilon()
    for scene in (broken_proof.BELOW, broken_proof.OFTEN):
        assert scene.epsilon("mma") < lower(scene)


def test_the_exact_case_of_kept_steps_is_charged_as_its_scenes_are():
    case, steps, delta = free_rejections.PICKY, free_rejections.ACCEPTED.steps, free_rejections.ACCEPTED.delta
    assert case.accepted_only(delta, steps) == pytest.approx(free_rejections.ACCEPTED.epsilon(), rel=1e-3)
    assert case.every_proposal(delta, steps) == pytest.approx(free_rejections.EVERY.epsilon(), rel=1e-3)


def test_what_is_proven_of_the_kept_steps_lies_between_the_two_charges():
    case, steps, delta = free_rejections.PICKY, free_rejections.ACCEPTED.steps, free_rejections.ACCEPTED.delta
    assert free_rejections.ACCEPTED.epsilon() < case.epsilon_after(steps, delta) < free_rejections.EVERY.epsilon()
