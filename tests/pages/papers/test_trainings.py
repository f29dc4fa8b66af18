"""The accuracies of a paper: their runs are started where they are quoted."""

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.papers.paper import Paper
from dpcore.runs.store import Store
from pages.parts.papers import trainings
from tests.pages.papers.dummy import CONFIG, PAPER, dummy, opened, opened_in_the_app

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


def test_data_that_are_not_here_are_said_with_the_way_to_get_them(
    store: Store, dummy: Paper, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trainings, "available", lambda dataset: ("sample",))
    page = opened(paper=PAPER.id, training_999="table-2-row-3-test-accuracy-of-clothes")
    assert page.button(key=RUN).disabled
    assert any("dpcore data download" in each.value and "Fashion-MNIST" in each.value for each in page.caption)
