"""What the page of perturbation promises: which conditions hold, between which neighbours, and from whom."""

import re

import pytest

from dpcore.privacy.report.glossary import GLOSSARY
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.conditions import Condition
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.task import NEIGHBOURS
from pages.parts.perturbation.places import BY_ID, PLACES
from tests.pages.perturbation_page import html, opened, recorded, texts


@pytest.mark.parametrize("learner", ["logistic", "mlp"])
def test_the_conditions_that_fail_for_the_chosen_model_are_named_before_anything_is_compared(
    store: Store, learner: str
):
    page = opened(learner=learner)
    conditions = html(page).split('aria-label="Which conditions hold"')[1].split("</table>")[0]
    rows = dict(zip(METHODS, conditions.split("<tr>")[2:], strict=True))
    private = {name for name, row in rows.items() if "All conditions hold" in row}
    assert ("output" in private, "objective" in private) == (learner == "logistic", learner == "logistic")
    assert {"gradient", "input"} <= private
    assert "Not private for this model" in conditions or learner == "logistic"
    assert "Not private: No guarantee" in rows["paper_input"]
    assert "proven upper bound" not in rows["paper_input"]
    assert "not convex" in rows["output"] or learner == "logistic"


def test_a_condition_that_fails_at_one_epsilon_more_is_no_reason_to_call_a_method_private_elsewhere(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    def conditions(method: object, task: object, epsilon: float) -> tuple[Condition, ...]:
        return Condition("convex", False, "Nothing is convex."), Condition(
            "tails", epsilon < 8, "The noise is cut off."
        )

    monkeypatch.setattr(type(METHODS["output"]), "conditions", conditions)
    page = html(opened(methods=["output"]))
    assert "Not private: Nothing is convex. The noise is cut off." in page
    assert "Elsewhere all holds" not in page
    assert "convex; " in page
    assert "tails at 8</small>" in page


def test_every_condition_of_a_theorem_is_named_with_a_check_a_cross_or_a_dash(store: Store):
    body = html(opened(methods=["output", "objective"], epsilons=["1"]))
    output, objective = (row.split("<br><small>")[1] for row in body.split("<tr>") if "</b> convex: " in row)
    plain = [re.sub("<.*?>", "", row.split("</small>")[0]) for row in (output, objective)]
    assert plain[0].startswith("✓ convex: yes; ✓ smooth: up to 0.26; ✓ tails of the noise: ")
    assert plain[0].endswith("– strongly convex: not asked for; – exact minimiser: not asked for")
    for said in (
        "✓ Hessians of rank 1: yes",
        "✓ strongly convex: made so",
        "✓ exact minimiser: a gradient up to 1e-09",
    ):
        assert said in plain[1]
    network = re.sub("<.*?>", "", html(opened(methods=["output"], epsilons=["1"], learner="mlp")))
    assert "✕ convex; ✕ smooth; ✓ tails of the noise: " in network
    assert "Nothing bounds the curvature of the loss." in network


def test_a_method_that_fails_at_one_epsilon_is_proven_at_the_others(store: Store, monkeypatch: pytest.MonkeyPatch):
    def conditions(method: object, task: object, epsilon: float) -> tuple[Condition, ...]:
        return (Condition("tails", epsilon < 8, "The noise is cut off."),)

    monkeypatch.setattr(type(METHODS["output"]), "conditions", conditions)
    page = html(opened(methods=["output"], epsilons=["0.1", "8"]))
    assert "proven upper bound, except at 8</button>" in page
    assert "claimed" not in page
    assert "Not private at epsilon 8: The noise is cut off. Elsewhere all holds." in page


def test_single_rows_keep_an_epsilon_beyond_their_theorem_that_other_bounds_prove(store: Store):
    row = html(opened(methods=["bassily"], epsilons=["8"]))
    assert "epsilon confirmed: by two bounds of our own" in row
    assert "Not private" not in row


def test_the_conditions_and_what_is_shown_say_which_tables_are_neighbours(store: Store):
    page = opened(comparison=recorded(store, status=Status.FINISHED))
    assert f"δ = 1e-5; {NEIGHBOURS}" in texts(page, "markdown")
    for title in ("Which conditions held for what is shown above", "Which conditions hold"):
        assert f"{title}</h2><p class=promise>δ = 1e-5; {NEIGHBOURS}</p>" in html(page)
    assert "one row that is replaced" in NEIGHBOURS
    assert "except on the page Perturbation" in GLOSSARY["adjacency"].meaning


def test_places_promise_what_epsilon_and_delta_allow_and_nothing_of_the_papers_own_formula():
    data, *others = (place.said for place in PLACES)
    for said in others:
        assert "can tell which row was there no better than epsilon and delta allow" in said
    assert "by the local method its label may be flipped" in data
    assert "while the paper's own formula does neither" in data
    assert "if it is rounded as that is here" in BY_ID["gradient"].said
