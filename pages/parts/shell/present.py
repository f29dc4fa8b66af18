"""The "present" mode, for a projector: large type, thick lines, full screen; `?present=1` opens any page in it."""

import streamlit as st

from dpcore.figures.style import NORMAL, PRESENT, Size
from pages.parts.components.present_button import present_button
from pages.parts.controls.callbacks import whole
from pages.parts.controls.url_state import Remembered

MODE, ON = Remembered("present"), "1"


def presenting() -> bool:
    """Whether the mode is on."""
    return st.session_state.get(MODE.name) == ON


def chart_size() -> Size:
    """The size of every chart on the pages."""
    return PRESENT if presenting() else NORMAL


def present_control() -> None:
    """Draw the button, in the row of the menu, and keep the mode in the address."""
    MODE.set(ON if MODE.value == ON else "")
    with st.container(key="present_place"):
        present_button(presenting(), key="present_button", pressed=_turn)


@whole
def _turn() -> None:
    MODE.set("" if presenting() else ON)
