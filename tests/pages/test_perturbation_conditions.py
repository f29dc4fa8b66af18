"""What the page of perturbation promises: which conditions hold, between which neighbours, and from whom."""

import re

import pytest

from dpcore.privacy.report.glossary import GLOSSARY
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.conditions import Condition
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.task import NEIGHBOURS
from tests.pages.perturbation_page import html, opened, recorded, texts


def test_the_conditions_that_fail_for_the_chosen_model_are_named_before_anything_is_compared(store: Store):
    for learner in ["logistic", "mlp"]:
        page = opened(learner=learner)
        conditions = html(page).split('aria-label="Which conditions hold"')[1].split("</table>")[0]
        rows = dict(zip(METHODS, conditions.split("<tr>")[2:], strict=True))
        private = {name for name, row in rows.items() if "All conditions hold" in row}
        assert ("output" in private, "objective" in private) == (learner == "logistic", learner == "logistic"), learner
        assert {"gradient", "input"} <= private, learner
        assert "Not private for this model" in conditions or learner == "logistic", learner
        assert "Not private: No guarantee" in rows["paper_input"], learner
        assert "proven upper bound" not in rows["paper_input"], learner
        assert "not convex" in rows["output"] or learner == "logistic", learner


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
        "✓ Hessians of rank 1: yes", "✓ strongly convex: made so", "✓ exact minimiser: a gradient up to 1e-09",
    ):  # fmt: skip
        assert said in plain[1]
    network = re.sub("<.*?>", "", html(opened(methods=["output"], epsilons=["1"], learner="mlp")))
    assert "✕ convex; ✕ smooth; ✓ tails of the noise: " in network
    assert "Nothing bounds the curvature of the loss." in network


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
