"""The page of perturbation: what is asked, compared, shown, said apart, and kept."""

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.runs.kinds import PERTURBATION
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.perturbation.events import Measured, Prepared, Skipped
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.request import Request
from pages.parts.perturbation.picture import choose_pressed
from pages.parts.perturbation.places import PLACES
from tests.pages.perturbation_page import REQUEST, WHY, events_of, html, opened, recorded, texts


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


def test_the_second_click_of_a_double_click_does_nothing(store: Store):
    page = opened()
    page.button(key="compare").click().run()
    page.button(key="compare").click().run()
    assert len(store.runs(kind=None)) == 1


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


def test_a_chosen_place_is_explained_and_its_methods_are_picked_out(store: Store):
    page = opened(comparison=recorded(store, status=Status.FINISHED), place="gradient")
    assert "Noise on each gradient: gradient perturbation." in texts(page, "markdown")
    drawn = {trace["name"]: trace.get("opacity") for trace in charts(page)[0]["data"] if trace["name"]}
    assert drawn["Gradient"] == 1.0
    assert drawn["Output"] < 1.0


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


def test_every_method_that_draws_noise_has_one_place_and_every_place_says_two_sentences():
    placed = [name for place in PLACES for name in place.methods]
    assert sorted(placed) == sorted(name for name, method in METHODS.items() if method.takes_epsilon)
    for place in PLACES:
        assert place.said.count(". ") == 1
        assert place.said.endswith(".")


def test_the_time_is_told_from_the_last_comparison_of_these_data(store: Store):
    assert opened().button(key="compare").label == "Compare"
    recorded(store, status=Status.FINISHED)
    label = opened(methods=[*REQUEST.methods], epsilons=["0.1", "1"], fits="10").button(key="compare").label
    assert label == "Compare · about 20 s"  # five times the seeds
    assert opened(table="wine").button(key="compare").label == "Compare"


def test_what_could_not_be_fitted_is_a_sentence_and_the_others_are_shown(store: Store):
    said = [each for each in events_of() if getattr(each, "method", "") != "output"]
    said[1:1] = [Skipped("output", 0.1, "Too long a step."), Skipped("output", 1.0, "Too long a step.")]
    page = opened(comparison=recorded(store, said, Status.FINISHED))
    assert texts(page, "warning") == "Output perturbation at epsilon 0.1, 1: Too long a step."
    assert "Gradient" in lines(charts(page)[0])


def test_a_worker_that_died_is_a_sentence_and_no_bar(store: Store):
    run = recorded(store, events_of()[:3])
    store.lose(run, "Its worker test:1 died.")
    page = opened(comparison=run)
    assert "was lost. `Its worker test:1 died.` What" in texts(page, "error")
    assert "2 of 7 results" in texts(page, "error")
    assert not page.get("progress")
    assert not page.button(key="compare").disabled


def test_data_that_make_no_problem_fail_with_their_sentence_alone(store: Store):
    run = recorded(store, [], Status.FAILED, "Traceback\nValueError: Expected two classes; there is one.")
    page = opened(comparison=run)
    assert "The comparison failed: `Expected two classes; there is one.`" in texts(page, "error")
    assert "It had found nothing" not in texts(page, "error")
    assert not page.get("progress")


def test_data_that_are_not_here_are_a_sentence_and_cannot_be_compared(store: Store, monkeypatch: pytest.MonkeyPatch):
    from dpcore.data.tabular import TABLES

    monkeypatch.setitem(TABLES, "wine", replace(TABLES["wine"], absent=lambda: "Expected the cellar to be open."))
    page = opened(table="wine")
    assert "Expected the cellar to be open." in texts(page, "info")
    assert page.button(key="compare").disabled
    other = page.selectbox(key="table").set_value("iris").run()
    assert not other.button(key="compare").disabled


@pytest.mark.parametrize("chosen", [{"methods": ""}, {"epsilons": ""}])
def test_without_a_method_or_an_epsilon_the_page_says_what_is_missing(store: Store, chosen: dict[str, str]):
    page = opened(**chosen)
    assert "Choose at least one method and one epsilon." in texts(page, "info")
    assert page.button(key="compare").disabled


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("fits", "1000", "seeds"), ("descent", "0", "steps"), ("ridge", "-1", "regulariser"), ("delta", "2", "delta")],
)
def test_a_number_that_no_comparison_takes_is_said_at_its_control(store: Store, field: str, value: str, said: str):
    page = opened(**{field: value})
    assert f"Expected {said}=" in texts(page, "error")
    assert "Showing" in texts(page, "error")


def test_an_address_that_names_no_comparison_is_said(store: Store):
    for wrong in ("nothing", store.submit(RunConfig())):
        page = opened(comparison=wrong)
        assert f"comparison={wrong}" in texts(page, "warning")
        assert "comparison" not in page.query_params


def test_controls_that_have_moved_on_from_what_is_shown_are_said_to(store: Store):
    run = recorded(store, status=Status.FINISHED)
    assert "compare again" in texts(opened(comparison=run), "caption")
    same = opened(comparison=run, methods=[*REQUEST.methods], epsilons=["0.1", "1"], fits="2")
    assert "compare again" not in texts(same, "caption")


def test_a_comparison_goes_on_while_it_is_watched_and_its_end_is_seen(store: Store):
    run = recorded(store, events_of()[:2])
    page = opened(comparison=run)
    assert page.get("progress")[0].proto.text.startswith("1 of 7")
    for event in events_of()[2:]:
        store.append(run, event)
    store.end(run, Status.FINISHED)
    page.run()
    assert not page.get("progress")
    assert "Measured here" in texts(page, "caption")


def test_a_row_of_a_table_is_shown_before_and_after_with_its_noise(store: Store):
    body = html(opened(epsilons=["8"])).split('aria-label="A row before and after"')[1]
    assert body.count("<tr>") == 1 + 30
    assert "mean radius" in body
    assert "Its label is flipped with chance" in html(opened(epsilons=["8"]))


def test_images_are_shown_at_every_epsilon_with_their_nearest_reconstructions(store: Store):
    body = html(opened(table="digits", epsilons=["0.1", "8"])).split('aria-label="Images before and after"')[1]
    assert body.count("<img") == 1 + 2 * 3
    for word in ("handed over", "cut to its range", "nearest public image", "ε = 0.1", "ε = 8"):
        assert word in body
    assert "flipped with chance</th><td>0.488</td><td>0.018</td>" in body  # 1 / (1 + e^.05), 1 / (1 + e^4)


def test_measured_results_without_noise_stand_alone(store: Store):
    said = [Prepared(456, 113, 31, 31, 0.2, 0.95, 0.63), Measured("none", None, 0.0, (0.95,), (0.0,), ("No noise.",))]
    page = opened(comparison=recorded(store, said))
    assert not charts(page)
    assert "Without noise" in html(page)
    assert WHY not in html(page)
