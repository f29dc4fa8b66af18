"""The controls of the page of perturbation: beside what is shown, at fault, and in the session of other pages."""

import pytest

from dpcore.runs.store import Store
from pages.parts.shell.menu import PAGES
from tests.pages.perturbation_page import opened, recorded, texts
from tests.pages.test_every_page import ROOT
from tests.pages.train_page import opened_at


@pytest.mark.long
def test_what_this_page_leaves_in_the_session_breaks_no_other_page(store: Store):
    page = opened()
    left = {each.key: each.value for each in (*page.selectbox, *page.text_input) if each.key}
    assert left["table"] == "breast_cancer"
    for each in PAGES:
        assert not opened_at(ROOT / each.file, session=left).exception


def test_a_comparison_of_another_session_is_cancelled_only_after_a_question(store: Store):
    run = recorded(store, [])
    page = opened(comparison=run)
    assert "Another session began this comparison." in texts(page, "markdown")
    page.button(key=f"cancel_{run}").click().run()
    assert store.run(run).cancelling
