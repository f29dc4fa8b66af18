"""Texts that live in the session and in the address bar: those of widgets, and those that a page keeps for itself.

Most widgets are bound to the address by Streamlit itself. It does not carry the values of a link that was opened and
not touched since to the next page, and it writes the titles of options into the address; both are done here. Where the
reader goes back or forward, the address says what all of them are.

What an address asks for in vain is said here too.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dpcore.check import verbatim
from pages.parts.components.elements import LEAVING, hear, unheard_move
from pages.parts.shell.streamlit_internals import restore_address, restoring, uninterrupted

ARRIVED = "arrived"  # whether this run of the script is the first since the page was changed
PAGE = "page_shown"
UNTOLD = "\0"  # no text of a field
MAX_REASON = 500  # characters of an error that are shown
TOP = "fault_top"
UNKNOWN = "unknown_choices"  # name -> what was said of its value in the address, and what is shown instead


def note_arrival(page: str) -> None:
    """Tell the widgets whether the reader has just come to this page; before the first of them."""
    st.session_state[ARRIVED] = st.session_state.get(PAGE) != page
    st.session_state[PAGE] = page
    if LEAVING in st.query_params:
        del st.query_params[LEAVING]
    if restoring():
        restore_address()


def page_text(key: str, default: str) -> str:
    """The text of a field as this run of the page will draw it; the default where nobody knows one.

    In this order: where its slider was moved to, what it has, what the address says, what it had on another page, the
    default. On a page where the reader has just arrived the address and the other page go before what it has.
    """
    own, linked, kept = st.session_state.get(key), st.query_params.get(key), st.session_state.get(f"{key}_kept")
    if restoring():
        known = [linked]
    elif st.session_state.get(ARRIVED):
        known = [linked, kept, own]
    else:  # an earlier run of the page may have been broken off before it had drawn the field
        moved = unheard_move(key) if own == kept else None  # what was typed since is newer than the move
        known = [moved, own, linked, kept]
    return next((text for text in known if isinstance(text, str)), default)


def page_texts() -> dict[str, str]:
    """The texts of all fields that this session or the address knows, as far as they count in this run of the page."""
    session = [key.removesuffix("_kept") for key, text in _strings().items() if not key.endswith("_good")]
    texts = {key: page_text(key, UNTOLD) for key in dict.fromkeys([*session, *st.query_params])}
    return {key: text for key, text in texts.items() if text != UNTOLD}


def good_texts() -> dict[str, str]:
    """The last text of each field that could be read."""
    return {key.removesuffix("_good"): text for key, text in _strings().items() if key.endswith("_good")}


def settle(key: str, text: str, default: str) -> None:
    """Give the bound widget that comes next its text, here and in the address."""
    if st.session_state.get(key) != text:
        st.session_state[key] = text
    if text != default and st.query_params.get(key) != text:
        with suppress(StreamlitAPIException):  # the widget is known to this page: it tells the address itself
            st.query_params[key] = text


def keep(key: str, value: object) -> None:
    """Note a widget's value for other pages."""
    st.session_state[f"{key}_kept"] = value


def fill(texts: Mapping[str, str]) -> None:
    """Set widgets by their keys, here and on other pages."""
    for key, text in texts.items():
        st.session_state[key] = text
        keep(key, text)
        hear(key)


@uninterrupted
def put(key: str, value: object, default: object) -> None:
    """Set a widget that comes later, whether or not this page has shown it, here and in the address."""
    st.session_state[key] = value
    hear(key)
    with suppress(StreamlitAPIException):  # the widget is known to this page: it tells the address itself
        if value == default:
            st.query_params.pop(key, None)
        else:
            st.query_params[key] = [*value] if isinstance(value, list | tuple) else str(value)


def recall_ids(key: str, options: Sequence[str], default: Sequence[str]) -> None:
    """Give the widget of several options that comes next its first value; their ids stand in the address.

    In this order: what it has, what it had on another page, what the address names, the default. Where the reader went
    back or forward, the address comes first.
    """
    kept = st.session_state.get(f"{key}_kept")
    comes_along = kept is not None and bool(st.session_state.get(ARRIVED)) and key not in st.query_params
    if not restoring() and (key in st.session_state or comes_along):
        st.session_state.setdefault(key, kept)
        return
    asked = st.query_params.get_all(key)
    known = [each for each in options if each in asked]
    st.session_state[key] = known if known or asked == [""] else list(default)


def write_ids(key: str, chosen: Sequence[str], default: Sequence[str]) -> None:
    """Write the ids of what was chosen into the address.

    A default is left out; nothing chosen, where something is the default, is an empty entry.
    """
    wanted = [] if sorted(chosen) == sorted(default) else [*chosen] or [""]
    if st.query_params.get_all(key) != wanted:
        st.query_params[key] = wanted


class Remembered:
    """A text that a page keeps for itself, in the session and under one name in the address.

    A link and the browser's history set it; else it is what the page has set last. `key` is its name in the session,
    where two pages use one name in the address for things of their own.
    """

    def __init__(self, name: str, default: str = "", key: str = "") -> None:
        self.name, self.default, self.key = name, default, key or name

    @property
    def value(self) -> str:
        """The text; the address is told."""
        if restoring() or self.key not in st.session_state:
            st.session_state[self.key] = st.query_params.get(self.name, self.default)
        self.set(text := st.session_state[self.key])
        return text

    def set(self, text: str) -> None:
        """Set the text, here and in the address, which names no default."""
        st.session_state[self.key] = text
        write_ids(self.name, [text], [self.default])


def _strings() -> dict[str, str]:
    return {str(key): text for key, text in st.session_state.to_dict().items() if isinstance(text, str)}


def no_faults() -> None:
    """Begin a page: nothing is wrong with its address, and a place above its controls is kept."""
    if st.session_state.get(ARRIVED):
        st.session_state[UNKNOWN] = {}
    st.session_state[TOP] = st.container()


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
