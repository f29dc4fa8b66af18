"""The accuracies of a paper: their runs are started where they are quoted."""

from streamlit.testing.v1 import AppTest

from dpcore.papers.paper import Paper
from dpcore.runs.store import Store
from tests.pages.papers.dummy import CONFIG, PAPER, dummy, opened

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
    assert any(each.value.startswith("3 runs of it are under way") for each in page.caption)
    for each in store.runs():
        store.cancel(each.id)
    run(page)
    assert len(store.runs()) == 6
