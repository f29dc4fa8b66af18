"""The comparisons that were made before can be looked at again."""

from dataclasses import replace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.perturbation import earlier
from pages.parts.perturbation.comparison import SHOWN
from tests.pages.perturbation_page import REQUEST, opened, recorded, texts


def earlier_choice(page: AppTest) -> list:
    return [each for each in page.selectbox if each.label == "Comparison shown"]


def test_what_a_browser_says_that_has_not_heard_of_a_change_is_no_choice(monkeypatch: pytest.MonkeyPatch):
    for key, said in [("of_before", "second"), ("drawn", "Iris, logistic regression, running")]:
        session = {earlier.KEY: "drawn", key: said, SHOWN: "first"}
        monkeypatch.setattr(st, "session_state", session)
        earlier._choose(key, ["first", "second"])
        assert session[SHOWN] == "first", (key, said)
        session["drawn"] = "second"
        earlier._choose("drawn", ["first", "second"])
        assert session[SHOWN] == "second", (key, said)


def test_comparisons_that_were_made_before_can_be_looked_at_again(store: Store):
    first = recorded(store, status=Status.FINISHED)
    page = opened(comparison=first)
    assert not earlier_choice(page)  # there is no other
    second = recorded(store, status=Status.CANCELLED, request=replace(REQUEST, epsilons=(8.0,)))
    page = opened()
    (choice,) = earlier_choice(page)
    assert choice.value is None
    assert "epsilon 8 (" in choice.options[0]
    assert choice.options[0].endswith(", cancelled)")
    assert "4 methods, epsilon 0.1 to 1 (" in choice.options[1]
    for chosen in (second, first):
        earlier_choice(page)[0].set_value(chosen).run()
        assert not page.exception
        assert chosen in page.query_params["comparison"]
    assert "Measured here in" in texts(page, "caption")
