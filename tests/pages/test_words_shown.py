"""What is shown in words and held in the address as an id; what is said where nothing is certified, or all is slow."""

import pytest

from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.results import cache, chart_texts
from pages.parts.results.attack_curves import growing_curves
from tests.pages import test_tradeoff_page as tradeoff
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


def test_the_optimizer_shows_its_name_and_the_address_holds_its_id():
    page = opened(optimizer="pi_adam")
    box = page.selectbox(key="optimizer")
    assert (box.value, box.options) == ("pi_adam", [each.title for each in OPTIMIZERS.values()])
    box.set_value("adam").run()
    assert page.query_params["optimizer"] == "adam"
    page.selectbox(key="optimizer").set_value("sgd").run()
    assert "optimizer" not in page.query_params


def test_the_length_is_told_in_the_epochs_that_were_asked_for():
    assert any(each.value.startswith("After 5 epochs (196 steps)") for each in opened().markdown)


@pytest.mark.parametrize("sigma", ["0.04", "0.01"])
def test_where_no_noise_that_is_drawn_pays_for_the_change_no_number_is_shown(sigma: str):
    page = opened(sigma=sigma)
    assert sentences(page) == []
    assert any(each.value.startswith("No epsilon: noise is drawn up to") for each in page.markdown)
    assert not [each for each in page.get("html") if "<table" in each.proto.body]
    assert chart_texts.TRADEOFF not in [each.value for each in page.caption]


def test_a_tiny_delta_says_that_the_band_is_coming(monkeypatch: pytest.MonkeyPatch):
    told: list[str] = []
    monkeypatch.setattr(cache, "slow", lambda mechanism, delta: told.append(chart_texts.COMING) or True)
    page = opened()
    assert told
    assert chart_texts.COMING not in [each.value for each in page.caption]  # it has come
    monkeypatch.undo()
    mechanism = Mechanism.constant(0.01, 4.0, 100)
    assert not cache.slow(mechanism, 1e-12)
    assert cache.slow(mechanism, 1e-40)


def test_the_two_accountants_are_chosen_by_title_and_the_address_holds_their_ids():
    page = tradeoff.opened(pair="rdp", pairs="rdp")
    title = ACCOUNTANTS["rdp"].title
    assert f"All pairs by {title}" in tradeoff.names(page)
    assert title in page.selectbox(key="pair").options
    page.selectbox(key="pairs").set_value("moments").run()
    assert (page.query_params["pair"], page.query_params["pairs"]) == ("rdp", "moments")


def test_growing_lengths_without_a_certificate_are_neither_drawn_nor_saved():
    page = tradeoff.opened(view="steps", sigma="0.04")
    assert tradeoff.sentences(page) == []
    assert not [name for name in tradeoff.names(page) if name.startswith("Certified")]
    mechanism = Mechanism.constant(0.01, 0.04, 100)
    assert {each.name for each in growing_curves(mechanism)} == {"CLT's G_mu"}
    assert chart_texts.NO_BAND in [each.value for each in page.markdown]
