"""The page of perturbation: what is asked, compared, shown, said apart and promised."""

import re

import pytest

from dpcore.privacy.report.glossary import GLOSSARY
from dpcore.runs.expected import duration
from dpcore.runs.kinds import PERTURBATION
from dpcore.runs.record import Status, cost_of
from dpcore.runs.store import Store
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.methods.base import Condition
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import NEIGHBOURS
from pages.parts.perturbation.results import example
from tests.pages.perturbation_page import REQUEST, events_of, opened, recorded
from tests.pages.read_page import html_of, words
from tests.pages.train_page import charts


def lines(figure: dict) -> set[str]:
    """The names of the lines in a figure."""
    return {trace["name"] for trace in figure["data"]} - {""}


def test_it_opens_on_its_question_with_what_can_be_chosen(store: Store):
    page = opened()
    assert page.title[0].value == "Where can the noise go?"
    assert [page.selectbox(key=key).value for key in ("table", "learner")] == [
        "breast_cancer",
        "logistic",
    ]
    assert "Click one" in words(page, "markdown")
    assert ":blue-badge[Example] **Breast Cancer" in words(page, "markdown")
    assert (example().done, example().prepared.notes) == (61, ())
    assert example().finished
    assert len(charts(page)) == 4


def test_compare_queues_what_the_controls_say_and_the_address_keeps_it(store: Store):
    page = opened(
        methods=["output", "gradient"], epsilons=["0.1", "8"], fits="3", descent="20", table="iris"
    )
    page.button(key="compare").click().run()
    (job,) = store.runs(kind=PERTURBATION.name)
    assert job.request == Request(
        dataset="iris",
        classes=("setosa", "versicolor"),
        methods=("output", "gradient"),
        epsilons=(0.1, 8.0),
        seeds=3,
        steps=20,
    )
    assert page.query_params["comparison"] == job.id
    assert page.get("progress")[0].proto.text.endswith("of all jobs, starts in a moment")
    assert store.runs() == []


def test_a_running_comparison_says_how_far_it_is_and_is_cancelled(store: Store):
    run = recorded(store, events_of()[:4])
    page = opened(comparison=run)
    (bar,) = page.get("progress")
    assert bar.proto.text == "3 of 7 results, now gradient perturbation"
    assert bar.proto.value == 42
    page.button(key=f"cancel_{run}").click().run()
    assert "was not started in this tab" in words(page, "markdown")
    assert not store.run(run).cancelling
    page.button(key="cancel_yes").click().run()
    assert store.run(run).cancelling
    assert page.button(key=f"cancel_{run}").label == "Cancelling…"
    store.end(run, Status.CANCELLED)
    page.run()
    assert "was cancelled" in words(page, "info")
    assert "Until then it had 3 of 7 results." in words(page, "info")
    assert not page.get("progress")


def test_a_comparison_that_has_ended_is_still_there_when_the_address_is_opened_again(store: Store):
    run = recorded(store, status=Status.FINISHED)
    page = opened(comparison=run)
    assert "Tested on 113 held-out rows (4 s)." in words(page, "caption")
    assert "means over 2 seeds" in words(page, "caption")
    assert "Mind the gap." in words(page, "caption")
    assert "456 rows to learn from" in words(page, "markdown")
    request = Request()
    seconds = 4 * cost_of(request) / cost_of(REQUEST)
    assert page.button(key="compare").label == f"Compare · about {duration(seconds)}"
    assert "its time is not known yet" in words(opened(table="iris"), "caption")
    assert page.query_params["comparison"] == run
    kept, apart = charts(page)[:2], charts(page)[2:]
    assert [lines(each) for each in kept] == [
        {"Output", "Gradient", "Without noise", "Blind guess"},
        {"Output", "Gradient"},
    ]
    assert [lines(each) for each in apart] == [{"Paper's input", "Blind guess"}, {"Paper's input"}]
    assert all("not proven" in each["layout"]["xaxis"]["title"]["text"] for each in apart)
    assert all(each["layout"]["xaxis"]["title"]["text"] == "epsilon, proven" for each in kept)
    assert "Shown separately" in words(page, "markdown")


def test_the_same_controls_find_a_finished_comparison_again_without_its_id(store: Store):
    controls = {"methods": REQUEST.methods, "epsilons": ["0.1", "1"], "fits": "2"}
    recorded(store, status=Status.CANCELLED)
    assert "[Example]" in words(opened(**controls), "markdown")
    run = recorded(store, status=Status.FINISHED)
    page = opened(**controls)
    assert "Tested on 113 held-out rows (4 s)." in words(page, "caption")
    assert page.selectbox(key=f"comparison_chosen_{run}_finished").value == run
    assert "[Example]" in words(opened(**controls | {"fits": "3"}), "markdown")


def test_a_row_is_drawn_with_its_noise_at_each_epsilon_from_the_largest(store: Store):
    table = (
        html_of(opened(epsilons=["8", "0.1"]))
        .split('aria-label="A row before and after"')[1]
        .split("</table>")[0]
    )
    assert table.index("ε = 8") < table.index("ε = 0.1")
    assert table.count("<img ") == 1 + 2 * 2
    assert re.findall(r">(up to ±[^<]*)<", table) == ["up to ±16.7", "up to ±885"]


def test_its_table_has_the_mean_of_every_method_and_marks_what_is_not_kept(store: Store):
    page = opened(comparison=recorded(store, status=Status.FINISHED))
    table = html_of(page).split('aria-label="Accuracies"')[1].split("</table>")[0]
    assert table.count("<tr>") == 1 + 4
    assert "62.5</td>" in table  # 0.6 + 0.3 * 0.1, less 0.005 of the second seed
    assert "62.5 ✕</td>" in table
    assert '95.0</td><td data-label="ε = 1">95.0' in table


def test_a_number_that_no_comparison_takes_is_said_at_its_control(store: Store):
    for field, value, said in (
        ("fits", "1000", "Seeds"),
        ("descent", "0", "Steps T of descent"),
        ("ridge", "-1", "Regulariser"),
        ("delta", "2", "Delta"),
    ):
        page = opened(**{field: value})
        assert f"{said} must " in words(page, "error"), (field, value, said)
        assert "Showing" in words(page, "error"), (field, value, said)


def test_the_conditions_that_fail_for_the_chosen_model_are_named_before_anything_is_compared(
    store: Store,
):
    for learner in ["logistic", "mlp"]:
        page = opened(learner=learner)
        conditions = (
            html_of(page).split('aria-label="Which conditions hold"')[1].split("</table>")[0]
        )
        rows = dict(zip(METHODS, conditions.split("<tr>")[2:], strict=True))
        private = {name for name, row in rows.items() if "All conditions hold" in row}
        assert ("output" in private, "objective" in private) == (
            learner == "logistic",
            learner == "logistic",
        ), learner
        assert {"gradient", "input"} <= private, learner
        assert "Not private for this model" in conditions or learner == "logistic", learner
        assert "Not private: No guarantee" in rows["paper_input"], learner
        assert "proven upper bound" not in rows["paper_input"], learner
        assert "not convex" in rows["output"] or learner == "logistic", learner


def test_a_condition_that_fails_at_one_epsilon_more_is_no_reason_to_call_a_method_private_elsewhere(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    def conditions(method: object, task: object, epsilon: float) -> tuple[Condition, ...]:
        tails = Condition("tails", epsilon < 8, "The noise is cut off.")
        return Condition("convex", False, "Nothing is convex."), tails

    monkeypatch.setattr(type(METHODS["output"]), "conditions", conditions)
    page = html_of(opened(methods=["output"]))
    assert "Not private: Nothing is convex. The noise is cut off." in page
    assert "Elsewhere all holds" not in page
    assert "convex; " in page
    assert "tails at 8</small>" in page


def test_single_rows_keep_an_epsilon_beyond_their_theorem_that_other_bounds_prove(store: Store):
    row = html_of(opened(methods=["bassily"], epsilons=["8"]))
    assert "epsilon confirmed: by two bounds of our own" in row
    assert "Not private" not in row


def test_the_conditions_and_what_is_shown_say_which_tables_are_neighbours(store: Store):
    page = opened(comparison=recorded(store, status=Status.FINISHED))
    assert f"δ = 1e-5; {NEIGHBOURS}" in words(page, "markdown")
    for title in ("Conditions of the comparison above", "Which conditions hold"):
        assert f"{title}</h2><p class=promise>δ = 1e-5; {NEIGHBOURS}</p>" in html_of(page)
    assert "one replaced row" in NEIGHBOURS
    assert "On the page Perturbation" in GLOSSARY["adjacency"].meaning
