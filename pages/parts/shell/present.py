"""The size of charts, and the "present" mode for a projector: large type, thick lines."""

import streamlit as st

from dpcore.figures.style import NORMAL, PRESENT, Size

PRESENT_MODE, ON = "present", "1"  # the mode's name in the session and in the address, and its text where it is on
SMALL = {"displayModeBar": False}  # the settings of a small chart, which has no room for buttons over it


def presenting() -> bool:
    """Whether the mode is on."""
    return st.session_state.get(PRESENT_MODE) == ON


def chart_size() -> Size:
    """The size of every chart on the pages."""
    return PRESENT if presenting() else NORMAL
