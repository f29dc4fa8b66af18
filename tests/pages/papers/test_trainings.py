"""The accuracies of a paper: their runs are started where they are quoted."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.papers import PAPERS
from dpcore.papers.paper import Paper
from dpcore.runs import within_limits
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from pages.parts.papers import trainings
from tests.pages.papers.dummy import CONFIG, OTHER, PAPER, dummy, opened, opened_in_the_app

__all__ = ["dummy"]
RUN = "run_now"


def run(page: AppTest) -> AppTest:
    page.button(key=RUN).click().run()
    assert not page.exception
    return page


def test_it_starts_several_runs_with_secret_seeds(store: Store, dummy: Paper):
    page = opened(paper=PAPER.id)
    assert page.selectbox(key="training_999").value == "table-2-row-1-test-accuracy-by-sgd"
    run(page)
    assert [each.config for each in store.runs()] == [CONFIG] * 3
    assert len({each.id for each in store.runs()}) == 3


def test_pressed_again_while_its_runs_are_under_way_it_starts_no_others(store: Store, dummy: Paper):
    page = run(run(opened(paper=PAPER.id)))
    assert len(store.runs()) == 3
    assert any(each.value.startswith("3 runs of it that this page started are under way") for each in page.caption)
    for each in store.runs():
        store.cancel(each.id)
    run(page)
    assert len(store.runs()) == 6


def test_how_many_runs_there_are_is_a_choice(store: Store, dummy: Paper):
    page = opened(paper=PAPER.id)
    page.text_input(key="repeats").set_value("2").run()
    assert any(each.value.endswith(": 2 runs.") for each in page.caption)
    run(page)
    assert len(store.runs()) == 2


def test_another_accuracy_is_chosen_by_its_place(store: Store, dummy: Paper):
    page = opened(paper=PAPER.id)
    page.selectbox(key="training_999").set_value("table-2-row-2-test-accuracy-by-adam").run()
    run(page)
    assert {each.config for each in store.runs()} == {OTHER}


def test_all_that_a_paper_trains_can_be_chosen_the_points_of_its_sweeps_and_ladders_too(store: Store, dummy: Paper):
    offered = opened(paper=PAPER.id, verdict="refuted").selectbox(key="training_999").options
    quoted = [f"{each.place}: {each.quantity}" for each in PAPER.trained]
    swept = ["Figure 7: lot size, 100", "Figure 7: lot size, 2,000"]
    rungs = [f"Record: {rung}, {at}" for rung in ("plain", "best") for at in ("epsilon 1", "epsilon 2")]
    assert offered == [*quoted, *swept, *rungs, "Record: plain, without privacy", "Record: best, without privacy"]


def test_a_paper_that_trains_nothing_offers_nothing(store: Store, dummy: Paper, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(PAPERS, PAPER.id, replace(PAPER, entries=PAPER.computed, sweeps=(), ladders=()))
    assert not any(each.key == RUN for each in opened(paper=PAPER.id).button)


def test_the_runs_that_were_started_can_be_watched_on_the_training_page(store: Store, dummy: Paper):
    page = opened_in_the_app(paper=PAPER.id)
    assert not page.get("page_link")
    run(page)
    (link,) = page.get("page_link")
    assert link.proto.label == "Watch 3 runs on the training page"
    ids = {each.id for each in store.runs()}
    assert ids == {part.removeprefix("run=") for part in link.proto.query_string.split("&")}
    page.switch_page("pages/train.py").run()
    assert not page.exception
    assert {*page.query_params["run"]} == ids


def test_the_button_says_how_long_it_takes_where_that_is_known(store: Store, dummy: Paper):
    page = opened(paper=PAPER.id)
    assert page.button(key=RUN).label == "Run it now · 3 min 45 s"  # three times what is on record
    page.selectbox(key="training_999").set_value("table-2-row-2-test-accuracy-by-adam").run()
    assert page.button(key=RUN).label == "Run it now"


def test_data_that_are_not_here_are_said_with_the_way_to_get_them(
    store: Store, dummy: Paper, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trainings, "available", lambda dataset: ("sample",))
    page = opened(paper=PAPER.id, training_999="table-2-row-3-test-accuracy-of-clothes")
    assert page.button(key=RUN).disabled
    assert any("dpcore data download" in each.value and "Fashion-MNIST" in each.value for each in page.caption)


def test_a_store_that_takes_no_runs_is_a_sentence(store: Store, dummy: Paper, monkeypatch: pytest.MonkeyPatch):
    page = opened(paper=PAPER.id)

    def refuse(*given: object) -> str:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(within_limits, "submit", refuse)
    run(page)
    assert [each.value for each in page.error] == ["The disk is full."]
