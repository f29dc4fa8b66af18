"""The page of perturbation: what is asked, compared, shown, said apart, and kept."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.runs.kinds import PERTURBATION
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.request import Request
from pages.parts.perturbation.picture import choose_pressed
from tests.pages.perturbation_page import events_of, html, opened, recorded, texts


def charts(page: AppTest) -> list[dict]:
    """The figures that the page shows, in their order."""
    return [json.loads(each.proto.spec) for each in page.get("plotly_chart")]


def lines(figure: dict) -> set[str]:
    """The names of the lines in a figure."""
    return {trace["name"] for trace in figure["data"]} - {""}


def test_it_opens_on_its_question_with_what_can_be_chosen(store: Store):
    page = opened()
    assert page.title[0].value == "Where can the noise go?"
    assert [page.selectbox(key=key).value for key in ("table", "learner")] == ["breast_cancer", "logistic"]
    assert "Press one" in texts(page, "markdown")
    assert "press Compare" in texts(page, "info")
    assert not charts(page)


def test_compare_queues_what_the_controls_say_and_the_address_keeps_it(store: Store):
    page = opened(methods=["output", "gradient"], epsilons=["0.1", "8"], fits="3", descent="20", table="iris")
    page.button(key="compare").click().run()
    (job,) = store.runs(kind=PERTURBATION.name)
    assert job.request == Request(
        dataset="iris", classes=("setosa", "versicolor"), methods=("output", "gradient"), epsilons=(0.1, 8.0), seeds=3,
        steps=20,
    )  # fmt: skip
    assert page.query_params["comparison"] == job.id
    assert page.get("progress")[0].proto.text.endswith("and comparisons, starts in a moment")
    assert store.runs() == []


def test_comparing_something_else_cancels_what_was_begun_here_and_goes_on(store: Store):
    page = opened(methods=["output"])
    page.button(key="compare").click().run()
    page.text_input(key="fits").set_value("2").run()
    page.button(key="compare").click().run()
    second, first = store.runs(kind=PERTURBATION.name)
    assert (first.status, second.status) == (Status.CANCELLED, Status.QUEUED)
    assert (first.request.seeds, second.request.seeds) == (10, 2)


def test_a_running_comparison_says_how_far_it_is_and_is_cancelled(store: Store):
    run = recorded(store, events_of()[:4])
    page = opened(comparison=run)
    (bar,) = page.get("progress")
    assert bar.proto.text == "3 of 7 results, now gradient perturbation"
    assert bar.proto.value == 42
    page.button(key=f"cancel_{run}").click().run()
    assert store.run(run).cancelling
    assert page.button(key=f"cancel_{run}").label == "Cancelling…"
    store.end(run, Status.CANCELLED)
    page.run()
    assert "was cancelled" in texts(page, "info")
    assert "3 of 7 results" in texts(page, "info")
    assert not page.get("progress")


def test_a_comparison_that_has_ended_is_still_there_when_the_address_is_opened_again(store: Store):
    run = recorded(store, status=Status.FINISHED)
    page = opened(comparison=run)
    assert "Measured here in 4 s" in texts(page, "caption")
    assert "means over 2 seeds" in texts(page, "caption")
    assert "Mind the gap." in texts(page, "caption")
    assert "456 rows to learn from" in texts(page, "markdown")
    assert page.query_params["comparison"] == run
    kept, apart = charts(page)[:2], charts(page)[2:]
    assert [lines(each) for each in kept] == [
        {"Output", "Gradient", "Without noise", "Blind guess"}, {"Output", "Gradient"}
    ]  # fmt: skip
    assert [lines(each) for each in apart] == [{"Paper's input", "Blind guess"}, {"Paper's input"}]
    assert all("not kept" in each["layout"]["xaxis"]["title"]["text"] for each in apart)
    assert all("proven" in each["layout"]["xaxis"]["title"]["text"] for each in kept)
    assert "Drawn apart" in texts(page, "markdown")


def test_its_table_has_the_mean_of_every_method_and_marks_what_is_not_kept(store: Store):
    page = opened(comparison=recorded(store, status=Status.FINISHED))
    table = html(page).split('aria-label="Accuracies"')[1].split("</table>")[0]
    assert table.count("<tr>") == 1 + 4
    assert "62.5</td>" in table  # 0.6 + 0.3 * 0.1, less 0.005 of the second seed
    assert "62.5 ✕</td>" in table
    assert "95.0</td><td class=number>95.0" in table


def test_pressing_a_place_chooses_it_and_pressing_it_again_takes_that_back(monkeypatch: pytest.MonkeyPatch):
    session = {"places_picture": {"pressed": "data"}}
    monkeypatch.setattr("pages.parts.perturbation.picture.st.session_state", session)
    choose_pressed()
    assert session["place"] == ["data"]
    choose_pressed()
    assert session["place"] == []
    session["places_picture"] = {"pressed": "elsewhere"}
    choose_pressed()
    assert session["place"] == []


def test_a_worker_that_died_is_a_sentence_and_no_bar(store: Store):
    run = recorded(store, events_of()[:3])
    store.lose(run, "Its worker test:1 died.")
    page = opened(comparison=run)
    assert "was lost. `Its worker test:1 died.` What" in texts(page, "error")
    assert "2 of 7 results" in texts(page, "error")
    assert not page.get("progress")
    assert not page.button(key="compare").disabled


def test_data_that_are_not_here_are_a_sentence_and_cannot_be_compared(store: Store, monkeypatch: pytest.MonkeyPatch):
    from dpcore.data.tabular import TABLES

    monkeypatch.setitem(TABLES, "wine", replace(TABLES["wine"], absent=lambda: "Expected the cellar to be open."))
    page = opened(table="wine")
    assert "Expected the cellar to be open." in texts(page, "info")
    assert page.button(key="compare").disabled
    other = page.selectbox(key="table").set_value("iris").run()
    assert not other.button(key="compare").disabled


def test_without_a_method_or_an_epsilon_the_page_says_what_is_missing(store: Store):
    for chosen in [{"methods": ""}, {"epsilons": ""}]:
        page = opened(**chosen)
        assert "Choose at least one method and one epsilon." in texts(page, "info"), chosen
        assert page.button(key="compare").disabled, chosen


def test_a_number_that_no_comparison_takes_is_said_at_its_control(store: Store):
    for field, value, said in (
        ("fits", "1000", "seeds"), ("descent", "0", "steps"), ("ridge", "-1", "regulariser"), ("delta", "2", "delta"),
    ):  # fmt: skip
        page = opened(**{field: value})
        assert f"Expected {said}=" in texts(page, "error"), (field, value, said)
        assert "Showing" in texts(page, "error"), (field, value, said)
