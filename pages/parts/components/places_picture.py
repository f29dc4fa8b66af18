"""A picture of learning with the places where noise can go, each a button in it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from streamlit.components.v2 import component

HERE = Path(__file__)
_mount = component(
    "places_picture",
    css=HERE.with_suffix(".css").read_text(encoding="utf-8"),
    js=HERE.with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def places_picture(data: Mapping[str, Any], *, key: str, pressed: Callable[[], None]) -> None:
    """Draw the picture; where a place is pressed, `pressed` is called before the next run, and finds its id.

    `data` has the picture's `label`, the words at its `first` and `last` end, the id of the `chosen` place, and the
    `places`: each with `id` (a drawing of the script), `title` and `method`.
    """
    _mount(key=key, data=dict(data), on_pressed_change=pressed)
