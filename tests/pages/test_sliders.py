"""Sliders without a browser: what they are told, and what becomes of what they send."""

from functools import partial
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpcore.written_number import FORMS
from pages.parts.components.elements import unheard_move
from pages.parts.controls.url_state import write
from tests.pages.sliders import slide, slider_data
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[2] / "pages" / "tradeoff.py"
opened = partial(opened_at, PAGE)


def sigma(page: AppTest) -> str:
    """What the exact field says, where nothing else on the page went wrong."""
    assert not page.exception
    return page.text_input(key="sigma").value


def test_a_slider_is_told_its_label_its_round_stops_its_value_and_its_ends():
    slider = slider_data(opened(sigma="3"))["sigma"]
    assert (slider["label"], slider["value"]) == ("Noise multiplier sigma", "3")
    assert slider["ends"] == ["accurate", "private"]
    assert {"1", "1.5", "2", "10"} <= set(slider["stops"])
    assert [float(stop) for stop in slider["stops"]] == sorted(
        float(stop) for stop in slider["stops"]
    )


def test_no_batch_beyond_the_data_can_be_reached_with_the_slider():
    for n, last in (("60000", "60000"), ("1000", "1000"), ("1", "1")):
        batch = slider_data(opened(n=n, batch="1"))["batch"]
        assert batch["stops"][-1] == last, n
    # What was typed.
    assert slider_data(opened(n="1000", batch="2000"))["batch"]["stops"][-2:] == ["1000", "2000"]


def test_what_a_slider_sends_becomes_the_field_and_the_slider_hears_that_it_arrived():
    page = opened()
    assert slider_data(page)["sigma"]["heard"] == 0
    first = slider_data(slide(page, "sigma", "2"))["sigma"]
    assert (sigma(page), first["value"]) == ("2", "2")
    second = slider_data(slide(page, "sigma", "4"))["sigma"]
    assert (sigma(page), second["value"]) == ("4", "4")
    assert second["heard"] > first["heard"] > 0
    page.run()
    assert (sigma(page), slider_data(page)["sigma"]["value"]) == ("4", "4")


def test_a_message_that_no_slider_sends_changes_nothing():
    for nonsense in [5, None, [], ["2"], [2, 1], ["2", "1"], ["2", 1, 1], {"2": 1}, ["9" * 41, 1]]:
        page = opened(sigma="3")
        before = slider_data(page)
        assert sigma(slide(page, "sigma", nonsense)) == "3", nonsense
        assert slider_data(page) == before, nonsense


def test_a_text_that_is_no_number_is_a_sentence_and_the_slider_keeps_its_place():
    page = slide(opened(sigma="3"), "sigma", "<b>")
    assert [each.value for each in page.error] == [
        f"Noise multiplier sigma must be a number: {FORMS}. Showing 3."
    ]
    assert slider_data(page)["sigma"]["value"] == "3"


def test_a_text_that_code_writes_takes_the_place_of_a_move_that_no_field_has_heard_of(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(st, "query_params", {})
    monkeypatch.setattr(st, "session_state", {"sigma_slider": {"moved": ["3", 7]}})
    assert unheard_move("sigma") == "3"
    write({"sigma": "1.23"})
    assert unheard_move("sigma") is None
