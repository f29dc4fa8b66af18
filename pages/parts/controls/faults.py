"""What is wrong with a value, told under the control that it names; what an address asks in vain, above the page."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages.parts.controls.url_state import ARRIVED

LONGEST = 40  # characters of an address that are told
REASON = 500  # characters of an error that are told
PLACES = "fault_places"  # name of a control -> where sentences about it stand, on the page as it is drawn now
TOP = "fault_top"
UNKNOWN = "unknown_choices"  # name -> what was said of its value in the address, and what is shown instead
NAMED = re.compile(r"Expected (\w+)(?: k)?=")
OTHERWISE = {"epochs": "steps", "batch": "q"}  # the control that may stand in place of another
UNDER_WAY = "This is already under way. To start it again, wait for its end, or change the seed or the number of runs."
T = TypeVar("T")


def no_faults() -> None:
    """Begin a page: nothing is wrong with its controls, and a place above them is kept."""
    st.session_state[PLACES] = {}
    if st.session_state.get(ARRIVED):
        st.session_state[UNKNOWN] = {}
    st.session_state[TOP] = st.container()


def place_of(name: str) -> Any:
    """A place for what is wrong with the control of this name, which has just been drawn."""
    place = st.container()
    st.session_state.setdefault(PLACES, {})[name] = place
    return place


def say(sentence: str) -> None:
    """Draw what is wrong under the control that the sentence names, or here."""
    place = _control_in(sentence)
    (st if place is None else place).error(sentence)


def say_once(key: str) -> None:
    """Draw why the last click did nothing, if the session has a sentence under this key, which ends with that."""
    if sentence := st.session_state.pop(key, None):
        (st.info if sentence == UNDER_WAY else st.error)(sentence)


def noted_at_control(sentence: str) -> None:
    """Draw why nothing can be trained under the control that the sentence names, if any: its value is no mistake."""
    if (place := _control_in(sentence)) is not None:
        place.caption(f":material/info: {sentence}")


def _control_in(sentence: str) -> Any:
    found = NAMED.match(sentence)
    places = st.session_state.get(PLACES, {})
    name = found[1] if found else ""
    return places.get(name, places.get(OTHERWISE.get(name, "")))


def or_said(control: Callable[[], T], otherwise: T) -> tuple[T, str]:
    """What a control says; where its values do not go together that is said under it, and something else returned."""
    try:
        return control(), ""
    except ValueError as error:
        say(str(error))
        return otherwise, str(error)


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


def verbatim(text: str, longest: int = LONGEST) -> str:
    """A text from outside, cut and as it is: nothing in it is taken for Markdown.

    >>> verbatim("run=[a](//b)`c`")
    "`run=[a](//b)'c'`"
    """
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain if len(plain) <= longest else plain[:longest] + '…'}`"
