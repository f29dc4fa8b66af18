"""The "present" mode: opened by the address or by its button, kept over pages, and left again."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.runs.store import Store
from pages.parts.shell.menu import PAGES
from pages.parts.shell.style import LARGE
from tests.pages.test_every_page import opened

BUTTON = "present_button"


def button(page: AppTest):
    return next(each.proto for each in page.get("bidi_component") if each.proto.component_name == BUTTON)


def press(page: AppTest) -> AppTest:
    """The page after the button has sent what it sends when it is pressed."""
    states = page._tree.get_widget_states()
    sent = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{button(page).id}__events")
    sent.json_trigger_value = json.dumps([{"event": "pressed", "value": True}])
    return page._run(states)


def large(page: AppTest) -> bool:
    assert json.loads(button(page).json)["on"] == any(LARGE in each.proto.body for each in page.get("html"))
    return json.loads(button(page).json)["on"]


@pytest.mark.long
def test_the_address_opens_any_page_in_it(store: Store):
    for page in PAGES:
        assert large(opened(page, {"present": "1"})), page
        assert not large(opened(page, {})), page
        assert not large(opened(page, {"present": "yes"})), page


def test_the_button_turns_it_on_and_off_and_the_address_says_so():
    page = opened(PAGES[0], {})
    assert large(press(page))
    assert page.query_params["present"] in ("1", ["1"])
    assert not large(press(page))
    assert "present" not in page.query_params
