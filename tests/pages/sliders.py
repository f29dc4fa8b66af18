"""The sliders of a page without a browser: what they are told, and a message from one as the
browser sends it.
"""

import json
from itertools import count
from typing import Any

from streamlit.testing.v1 import AppTest

MESSAGES = count(1)


def slider_data(page: AppTest) -> dict[str, dict[str, Any]]:
    """What the page tells each slider, by the slider's name in the address."""
    shown = [
        each.proto for each in page.get("bidi_component") if each.proto.component_name == "slider"
    ]
    return {_name(proto.id): json.loads(proto.json) for proto in shown}


def slide(page: AppTest, name: str, value: object) -> AppTest:
    """The page after a slider was moved; AppTest, unlike a browser, says so in this one request."""
    (slider,) = [
        each.proto.id for each in page.get("bidi_component") if _name(each.proto.id) == name
    ]
    states = page._tree.get_widget_states()
    # Anything may come from outside.
    moved = [value, next(MESSAGES)] if isinstance(value, str) else value
    states.widgets.add(id=slider, json_value=json.dumps({"moved": moved}))
    return page._run(states)


def _name(element: str) -> str:
    return element.rpartition("-")[2].removesuffix("_slider")
