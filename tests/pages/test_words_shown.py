"""What is shown in words and held in the address as an id; what is said where nothing is certified, or all is slow."""

import pytest

from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS
from pages.parts.results import chart_texts
from tests.pages.test_accountants_page import opened, sentences

pytestmark = pytest.mark.usefixtures("store")


def test_the_pills_show_titles_and_the_address_holds_ids():
    page = opened(accountants="naive")
    pills = page.pills(key="accountants")
    assert pills.value == ["naive"]
    assert pills.options == [each.title for name, each in ACCOUNTANTS.items() if name != "pld"]
    pills.set_value(["naive", "strong"]).run()
    assert page.query_params["accountants"] == ["naive", "strong"]
    page.pills(key="accountants").set_value([*DEFAULT_ACCOUNTANTS]).run()
    assert "accountants" not in page.query_params


def test_where_no_noise_that_is_drawn_pays_for_the_change_no_number_is_shown():
    for sigma in ["0.04", "0.01"]:
        page = opened(sigma=sigma)
        assert sentences(page) == [], sigma
        assert any(each.value.startswith("No epsilon: noise is drawn up to") for each in page.markdown), sigma
        assert not [each for each in page.get("html") if "<table" in each.proto.body], sigma
        assert chart_texts.TRADEOFF not in [each.value for each in page.caption], sigma
