"""A button that goes to full screen and back, which only a click in the browser may do, and tells the page so."""

from collections.abc import Callable
from pathlib import Path

from streamlit.components.v2 import component

HERE = Path(__file__)
_mount = component(
    "present_button",
    css=HERE.with_suffix(".css").read_text(encoding="utf-8"),
    js=HERE.with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def present_button(on: bool, *, key: str, pressed: Callable[[], None]) -> None:
    """Draw the button as it stands; where it is pressed, `pressed` is called before the next run."""
    _mount(key=key, data={"on": on}, on_pressed_change=pressed)
