"""Texts of widgets, and of a page itself, that live in the session and in the address bar.

Most widgets are bound to the address by Streamlit itself. It does not carry the values of a link
that was opened and not touched since to the next page, and it writes the titles of options into the
address; both are done here. Where the reader goes back or forward, the address has all values.

A newer request may break off a run of a page. The browser then never receives the values that code
gave the widgets in that run, and sends the old ones with its next request. Streamlit takes these
for a change by the reader. So each value that code gives a widget is noted until a run has come to
its end (`replaced_values`).

Code sets fields by `write`; `drawing` surrounds the widget of each.

Unknown values in the address are reported here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dpcore.check import verbatim
from pages.parts.components.elements import LEAVING, hear, unheard_move
from pages.parts.controls.fields import Fields
from pages.parts.shell.streamlit_internals import restore_address, restoring, uninterrupted

ARRIVED = "arrived"  # whether this run of the script is the first since the page was changed
PAGE = "page_shown"
KEPT = "fields_kept"  # key -> the value of the field on the page that drew it last
GOOD = "good_texts"  # key -> the last text of a number that could be read
# Name -> its values in the addresses by which the reader came, for pages that follow.
LINKED = "linked"
DRAWN = "drawn_here"  # keys of the fields that the page has drawn since the reader came to it
# Key -> old values that the browser may still send, though code gave the field another since.
REPLACED = "replaced"
MAX_REASON = 500  # characters of an error that are shown
TOP = "fault_top"
# Name -> the warning about its value in the address, and the value shown instead.
UNKNOWN = "unknown_choices"


def note_arrival(page: str) -> None:
    """Note whether the reader has just come to this page; before its first widget."""
    arrived = st.session_state.get(PAGE) != page
    st.session_state[ARRIVED] = arrived
    st.session_state[PAGE] = page
    if LEAVING in st.query_params:
        del st.query_params[LEAVING]
    if restoring():
        restore_address()
    if arrived:
        st.session_state[DRAWN] = set()
        linked = st.session_state.setdefault(LINKED, {})
        for name in st.query_params:
            linked[name] = st.query_params.get_all(name)


@contextmanager
def replaced_values() -> Iterator[None]:
    """Run a page in the block, with the values that code gave in earlier runs, if broken off."""
    if restoring() or REPLACED not in st.session_state:  # restoring: the address has all values
        st.session_state[REPLACED] = {}
    replace_again()
    yield
    all_told()  # not where the block is left by a request that breaks the run off


def all_told() -> None:
    """Forget the values that code gave widgets: the run has ended, and the browser has them."""
    st.session_state.get(REPLACED, {}).clear()


def replace_again() -> set[str]:
    """Replace old values that the browser has sent again; return the keys of their widgets."""
    replaced = st.session_state.get(REPLACED, {})
    late = set()
    for key, before in list(replaced.items()):
        now = st.session_state.get(key)
        if now == _kept()[key]:
            continue
        if now in before:
            st.session_state[key] = _kept()[key]
            late.add(key)
        else:  # the reader has chosen something else since
            del replaced[key]
    return late


@uninterrupted
def write(values: Mapping[str, object]) -> None:
    """Set fields by their keys, here and on other pages; those of this page are drawn later."""
    for key, value in values.items():
        _assign(key, value)
        hear(key)
        # A widget that is known to this page tells the address itself; others, when drawn.
        with suppress(StreamlitAPIException):
            st.query_params.pop(key, None)


@contextmanager
def drawing(key: str, value: Any, default: Any, options: Sequence[str] = ()) -> Iterator[None]:
    """Give the widget that is drawn in the block its value, which address and other pages get too.

    With options, those in the address that are unknown are reported.
    """
    asked = unknown(key, options) if options else []
    chosen = [value] if isinstance(value, str) else value
    _assign(key, value)
    # A widget that is known to this page tells the address itself.
    with suppress(StreamlitAPIException):
        write_ids(key, chosen, [default] if isinstance(default, str) else default)
    yield
    st.session_state.get(DRAWN, set()).add(key)
    if options:
        say_unknown(key, asked, options, chosen)


def _assign(key: str, value: object) -> None:
    """Give a widget that comes later a value, also if the browser sends the old one again."""
    before = st.session_state.get(key)
    _kept()[key] = value
    # The key of a widget that is new on this page still leads to that of the page before.
    is_new = key not in st.session_state.get(DRAWN, ())
    if is_new or before != value:
        st.session_state[key] = value
    replaced = st.session_state.get(REPLACED)  # None if the app does not run the page
    if replaced is not None and before is not None and before != value:
        replaced.setdefault(key, []).append(before)


def by_the_reader(key: str, do: Callable[[], None]) -> Callable[[], None]:
    """A callback that calls `do` if the reader has changed the widget, not for a late old value."""

    @uninterrupted
    def changed() -> None:
        if key not in replace_again():
            do()

    return changed


def from_link(name: str) -> list[str]:
    """The values of a name in the address, else in the one by which the reader came earlier."""
    here = st.query_params.get_all(name)
    if here or restoring():
        return here
    return st.session_state.get(LINKED, {}).get(name, [])


def taken_from_link(name: str) -> list[str]:
    """The same, once: no later page gets the values of an earlier address."""
    found = from_link(name)
    st.session_state.get(LINKED, {}).pop(name, None)
    return found


def page_text(key: str, default: str) -> str:
    """The text of a field as this run of the page will draw it; the default if none is known."""
    text = _text_in(st.session_state, key)
    return default if text is None else text


def _text_in(session: Mapping[Any, Any], key: str) -> str | None:
    for value in _known_values(session, key):
        text = value[-1] if isinstance(value, list) and value else value
        if isinstance(text, str):
            return text
    return None


def page_ids(key: str, options: Sequence[str], default: Sequence[str]) -> list[str]:
    """The chosen ones of several options as this run of the page will draw them."""
    for value in _known_values(st.session_state, key):
        if isinstance(value, list):
            chosen = [each for each in dict.fromkeys(value) if each in options]
            if chosen or value in ([], [""]):
                return chosen
    return list(default)


def _known_values(session: Mapping[Any, Any], key: str) -> list[Any]:
    """What is known of a field, the value that counts first.

    In this order: the last move of its slider, its own value, the address, its value on another
    page, an earlier address. On a page where the reader has just arrived, the address and the other
    page come before its own value. Where the reader went back or forward, the address has all.
    """
    linked = st.query_params.get_all(key) or None
    if restoring():
        return [linked]
    own = session.get(key)
    kept = session.get(KEPT, {}).get(key)
    earlier = session.get(LINKED, {}).get(key)
    if session.get(ARRIVED):
        return [linked, kept, own, earlier]
    # Else the field was changed after the move.
    moved = unheard_move(key) if own == kept else None
    # An earlier run of the page may have been broken off before it had drawn the field.
    return [moved, own, linked, kept, earlier]


def page_texts() -> dict[str, str]:
    """The texts in this run of the page of all fields that the session or the address knows."""
    session = st.session_state.to_dict()  # once, since each look into it takes a while
    names = [str(key) for key, value in session.items() if isinstance(value, str)]
    names += [*session.get(KEPT, {}), *st.query_params, *session.get(LINKED, {})]
    texts = {}
    for key in dict.fromkeys(names):
        text = _text_in(session, key)
        if text is not None:
            texts[key] = text
    return texts


def page_fields() -> Fields:
    """The fields in this run of the page."""
    return Fields(page_texts(), good_texts())


def fields_on_screen() -> Fields:
    """The fields as the browser shows them.

    For a callback, which comes before the page is run again. A callback that acts on the fields
    must read them anew: texts from when its button was drawn may be older.
    """
    look_again()
    return page_fields()


def look_again() -> None:
    """Let the session have what the browser shows; for a callback."""
    st.session_state[ARRIVED] = False
    replace_again()


def ids_on_screen(key: str, options: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
    """The chosen ones of several options, in their own order, as the browser shows them.

    For a callback.
    """
    replace_again()
    chosen = st.session_state.get(key, default)
    return tuple(each for each in options if each in chosen)


def good_texts() -> dict[str, str]:
    """The last text of each number that could be read."""
    return st.session_state.setdefault(GOOD, {})


def _kept() -> dict[str, Any]:
    return st.session_state.setdefault(KEPT, {})


def write_ids(key: str, chosen: Sequence[str], default: Sequence[str]) -> None:
    """Write the chosen ids into the address: nothing for the default, an empty entry for none."""
    wanted = list(chosen) or [""]
    if sorted(chosen) == sorted(default):
        wanted = []
    if st.query_params.get_all(key) != wanted:
        st.query_params[key] = wanted


class Remembered:
    """A text that a page keeps for itself, in the session and under one name in the address.

    A link, the browser's history or the page sets it. `key` is its name in the session, where two
    pages use one name in the address for different things.
    """

    def __init__(self, name: str, default: str = "", key: str = "") -> None:
        self.name = name
        self.default = default
        self.key = key or name

    @property
    def value(self) -> str:
        """The text, which is then in the address too."""
        followed = bool(st.session_state.get(ARRIVED)) and self.name in st.query_params
        if followed or restoring() or self.key not in st.session_state:
            st.session_state[self.key] = [self.default, *taken_from_link(self.name)][-1]
        text = st.session_state[self.key]
        self.set(text)
        return text

    def set(self, text: str) -> None:
        """Set the text, here and in the address, which names no default."""
        st.session_state[self.key] = text
        write_ids(self.name, [text], [self.default])


def no_faults() -> None:
    """Begin a page: nothing is wrong with its address, and a place above its controls is kept."""
    if st.session_state.get(ARRIVED):
        st.session_state[UNKNOWN] = {}
    st.session_state[TOP] = st.container()


def unknown(name: str, options: Sequence[str]) -> list[str]:
    """The values in the address that are no option of a choice; before the choice is drawn."""
    return [each for each in st.query_params.get_all(name) if each.strip() and each not in options]


def say_unknown(
    name: str, asked: Sequence[str], options: Sequence[str], chosen: Sequence[str]
) -> None:
    """Warn above the page of an unknown value in the address, until something else is chosen."""
    warnings = st.session_state.setdefault(UNKNOWN, {})
    shown = ", ".join(chosen) or "none"
    if asked:
        expected = f"Expected {verbatim(f'{name}={asked[0]}')} to be one of: {', '.join(options)}."
        warnings[name] = (f"{expected} Showing {shown}.", shown)
    if name not in warnings:
        return
    warning, shown_then = warnings[name]
    if shown == shown_then:
        st.session_state.get(TOP, st).warning(warning)
    else:
        del warnings[name]
