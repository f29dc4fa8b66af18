"""The "present" mode, for a projector: large type, thick lines, full screen; `?present=1` opens any page in it."""

import streamlit as st

from dpcore.figures.style import NORMAL, PRESENT, Size
from pages.parts.components.elements import present_button
from pages.parts.controls.callbacks import whole
from pages.parts.controls.url_state import restoring

NAME = "present"  # in the session, and in the address


def presenting() -> bool:
    """Whether the mode is on."""
    return bool(st.session_state.get(NAME))


def chart_size() -> Size:
    """The size of every chart on the pages."""
    return PRESENT if presenting() else NORMAL


def present_control() -> None:
    """Draw the button, in the row of the menu, and keep the mode in the address."""
    if NAME not in st.session_state or restoring():
        st.session_state[NAME] = st.query_params.get(NAME) == "1"
    if not presenting():
        st.query_params.pop(NAME, None)
    elif st.query_params.get(NAME) != "1":
        st.query_params[NAME] = "1"
    with st.container(key="present_place"):
        present_button(presenting(), key="present_button", pressed=_turn)


@whole
def _turn() -> None:
    st.session_state[NAME] = not presenting()
