"""The table of all runs: their order by epsilon, what it says of those that wait, and tags for several at once."""

from streamlit.testing.v1 import AppTest

from dpcore.runs import editing
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.runs.listing import LEFT
from tests.pages import perturbation_page
from tests.pages.runs.test_runs_page import finished, said
from tests.pages.runs_page import listed, opened
from tests.pages.train_page import CONFIG, press


def priced(order: str) -> AppTest:
    """The page in this order, once every epsilon that is to be known is: on a busy machine they come some at a time."""
    page = opened(sort=order)
    while page.session_state[LEFT]:
        page.run()
    return page


def test_in_the_order_of_epsilon_runs_that_have_none_come_last(store: Store):
    other = [perturbation_page.recorded(store, status=Status.FINISHED), finished(store, private=False)]
    runs = [finished(store, sigma=sigma) for sigma in (2.0, 4.0)]
    other.append(store.submit(CONFIG))
    assert listed(priced("epsilon")) == [*runs[::-1], *other]
    page = priced("-epsilon")
    assert listed(page) == [*runs, *other[::-1]]
    assert "Runs 1 to 5 of 5." in said(page)


def test_several_runs_are_tagged_at_once_and_keep_the_tags_they_had(store: Store):
    first, second = finished(store), finished(store)
    editing.tag(store, first, ["old"])
    page = press(opened(first, second), "Tags 2")
    page.text_input(key="tags_added").set_value("talk, old")
    page = press(page, "Save")
    assert (store.run(first).tags, store.run(second).tags) == (("old", "talk"), ("talk", "old"))
    assert not page.run().get("dialog")
