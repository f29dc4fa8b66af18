"""Sentences about what was asked for in vain: why a click did nothing, and what an address names that there is not."""

from collections.abc import Sequence

import streamlit as st

from dpcore.check import verbatim
from pages.parts.controls.url_state import ARRIVED

MAX_REASON = 500  # characters of an error that are shown
TOP = "fault_top"
UNKNOWN = "unknown_choices"  # name -> what was said of its value in the address, and what is shown instead
UNDER_WAY = "This is already under way. To start it again, wait for its end, or change the seed or the number of runs."


def no_faults() -> None:
    """Begin a page: nothing is wrong with its address, and a place above its controls is kept."""
    if st.session_state.get(ARRIVED):
        st.session_state[UNKNOWN] = {}
    st.session_state[TOP] = st.container()


def say_once(key: str) -> None:
    """Draw why the last click did nothing, if the session has a sentence under this key, which ends with that."""
    if sentence := st.session_state.pop(key, None):
        (st.info if sentence == UNDER_WAY else st.error)(sentence)


def unknown(name: str, options: Sequence[str]) -> list[str]:
    """What the address says of a choice that is none of its options; before the choice is drawn."""
    return [each for each in st.query_params.get_all(name) if each.strip() and each not in options]


def say_unknown(name: str, asked: Sequence[str], options: Sequence[str], chosen: Sequence[str]) -> None:
    """Say above the page what the address asked for in vain, until something else is chosen."""
    said, shown = st.session_state.setdefault(UNKNOWN, {}), ", ".join(chosen) or "none"
    if asked:
        expected = f"Expected {verbatim(f'{name}={asked[0]}')} to be one of: {', '.join(options)}."
        said[name] = f"{expected} Showing {shown}.", shown
    if name in said and said[name][1] != shown:
        del said[name]
    elif name in said:
        st.session_state.get(TOP, st).warning(said[name][0])
