"""The controls of the page of perturbation: beside what is shown, at fault, and in the session of other pages."""

import re
from dataclasses import replace

import pytest

from dpcore.runs.store import Store
from pages.parts.shell.menu import PAGES
from tests.pages.perturbation_page import REQUEST, opened, recorded, texts
from tests.pages.test_every_page import ROOT
from tests.pages.train_page import opened_at


@pytest.mark.long
def test_what_this_page_leaves_in_the_session_breaks_no_other_page(store: Store):
    page = opened()
    left = {each.key: each.value for each in (*page.selectbox, *page.text_input) if each.key}
    assert left["table"] == "breast_cancer"
    for each in PAGES:
        assert not opened_at(ROOT / each.file, session=left).exception


def test_the_conditions_of_what_is_shown_stand_there_where_the_controls_say_something_else(store: Store):
    run = recorded(store, request=replace(REQUEST, model="mlp"))
    page = opened(comparison=run, learner="logistic")
    titles = re.findall("<h2 class=part>(.*?)</h2>", " ".join(each.proto.body for each in page.get("html")))
    assert titles[:2] == ["Which conditions held for what is shown above", "Which conditions hold"]


def test_a_fault_behind_the_expander_opens_it(store: Store):
    page = opened(ridge="nan", learner="mlp", longest="0")
    (expander,) = [each for each in page.expander if each.label.startswith("Descent")]
    assert expander.proto.expanded
    assert "regulariser" in texts(page, "error")


def test_a_delta_of_one_over_n_is_warned_about_before_comparing(store: Store):
    assert "is not below 1/n" in texts(opened(table="iris", delta="0.5"), "warning")
    assert "is not below 1/n" not in texts(opened(table="iris"), "warning")


def test_a_comparison_of_another_session_is_cancelled_only_after_a_question(store: Store):
    run = recorded(store, [])
    page = opened(comparison=run)
    assert "Another session began this comparison." in texts(page, "markdown")
    page.button(key=f"cancel_{run}").click().run()
    assert store.run(run).cancelling
