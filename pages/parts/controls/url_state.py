"""Texts of widgets, and of a page itself, that live in the session and in the address bar.

Most widgets are bound to the address by Streamlit itself. It does not carry the values of a link
that was opened and not touched since to the next page, and it writes the titles of options into the
address; both are done here. Where the reader goes back or forward, the address has all values.

A newer request may break off a run of a page. The browser then never receives the values that code
gave the widgets in that run, and sends the old ones with its next request. Streamlit takes these
for a change by the reader. So each value that code gives a widget is noted until a run has come to
its end (`assign`, `replaced_values`).

Unknown values in the address are reported here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

from dpcore.check import verbatim
from pages.parts.components.elements import LEAVING, hear, unheard_move
from pages.parts.shell.streamlit_internals import restore_address, restoring, uninterrupted

ARRIVED = "arrived"  # whether this run of the script is the first since the page was changed
PAGE = "page_shown"
# Name -> its values in the addresses by which the reader came, for pages that follow.
LINKED = "linked"
DRAWN = "drawn_here"  # keys of the fields that the page has drawn since the reader came to it
# Key -> old values that the browser may still send, and behind them the value that code gave.
REPLACED = "replaced"
UNTOLD = "\0"  # no text of a field
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
    for key, (*before, value) in list(replaced.items()):
        now = st.session_state.get(key)
        if now == value:
            continue
        if now in before:
            st.session_state[key] = value
            late.add(key)
        else:  # the reader has chosen something else since
            del replaced[key]
    return late


def assign(key: str, value: object) -> None:
    """Give a widget that comes later a value, also if the browser sends the old one again."""
    before = st.session_state.get(key)
    st.session_state[key] = value
    replaced = st.session_state.get(REPLACED)  # None if the app does not run the page
    if replaced is not None and before is not None and before != value:
        *earlier, _ = replaced.get(key, [value])
        replaced[key] = [*earlier, before, value]


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
    """The text of a field as this run of the page will draw it; the default if none is known.

    In this order: the last move of its slider, its own text, the address, its text on another page,
    an earlier address, the default. On a page where the reader has just arrived, the address and
    the other page come before its own text.
    """
    own = st.session_state.get(key)
    linked = st.query_params.get(key)
    kept = st.session_state.get(f"{key}_kept")
    earlier = st.session_state.get(LINKED, {}).get(key, [])[-1:]
    if restoring():
        known = [linked]
    elif st.session_state.get(ARRIVED):
        known = [linked, kept, own, *earlier]
    else:  # an earlier run of the page may have been broken off before it had drawn the field
        known = [own, linked, kept, *earlier]
        if own == kept:  # else the field was changed after the move
            known.insert(0, unheard_move(key))
    for text in known:
        if isinstance(text, str):
            return text
    return default


def page_texts() -> dict[str, str]:
    """The texts in this run of the page of all fields that the session or the address knows."""
    session = [key.removesuffix("_kept") for key in _strings() if not key.endswith("_good")]
    names = dict.fromkeys([*session, *st.query_params, *st.session_state.get(LINKED, {})])
    texts = {key: page_text(key, UNTOLD) for key in names}
    return {key: text for key, text in texts.items() if text != UNTOLD}


def texts_on_screen() -> dict[str, str]:
    """The texts of all fields as the browser shows them.

    For a callback, which comes before the page is run again. A callback that acts on the fields
    must read them anew: texts from when its button was drawn may be older.
    """
    st.session_state[ARRIVED] = False
    replace_again()
    return page_texts()


def ids_on_screen(key: str, options: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
    """The chosen ones of several options, in their own order, as the browser shows them.

    For a callback.
    """
    replace_again()
    chosen = st.session_state.get(key, default)
    return tuple(each for each in options if each in chosen)


def good_texts() -> dict[str, str]:
    """The last text of each field that could be read."""
    good = {}
    for key, text in _strings().items():
        if key.endswith("_good"):
            good[key.removesuffix("_good")] = text
    return good


def settle(key: str, text: str, default: str) -> None:
    """Give the bound widget that comes next its text, here and in the address."""
    if _is_new(key) or st.session_state.get(key) != text:
        assign(key, text)
    if text != default and st.query_params.get(key) != text:
        # The widget is known to this page: it tells the address itself.
        with suppress(StreamlitAPIException):
            st.query_params[key] = text


def keep(key: str, value: object) -> None:
    """Note a widget's value for other pages."""
    st.session_state[f"{key}_kept"] = value


def keep_drawn(key: str, value: object) -> None:
    """Note that a widget was drawn on this page, and its value for other pages."""
    st.session_state.get(DRAWN, set()).add(key)
    keep(key, value)


def _is_new(key: str) -> bool:
    """True if the page has not drawn a widget yet.

    Its key then still leads to the widget of the page before, not to the one about to be drawn.
    """
    return key not in st.session_state.get(DRAWN, ())


def fill(texts: Mapping[str, str]) -> None:
    """Set widgets by their keys, here and on other pages."""
    for key, text in texts.items():
        assign(key, text)
        keep(key, text)
        hear(key)


@uninterrupted
def put(key: str, value: object, default: object) -> None:
    """Set a widget that comes later, here and in the address; the page may have shown it before."""
    assign(key, value)
    hear(key)
    # The widget is known to this page: it tells the address itself.
    with suppress(StreamlitAPIException):
        if value == default:
            st.query_params.pop(key, None)
        else:
            st.query_params[key] = [*value] if isinstance(value, list | tuple) else str(value)


def recall_ids(key: str, options: Sequence[str], default: Sequence[str]) -> None:
    """Give the widget of several options that comes next its value, from ids in the address.

    In this order: its own, its value on another page, an address, the default. Where the reader
    went back or forward, the address comes first.
    """
    chosen = _recalled(key, options, default)
    if _is_new(key) or st.session_state.get(key) != chosen:
        assign(key, chosen)


def _recalled(key: str, options: Sequence[str], default: Sequence[str]) -> list[str]:
    if not restoring():
        own = st.session_state.get(key)
        if own is not None:
            return list(own)
        kept = st.session_state.get(f"{key}_kept")
        comes_along = bool(st.session_state.get(ARRIVED)) and key not in st.query_params
        if comes_along and kept is not None:
            return list(kept)
    asked = from_link(key)
    known = [each for each in options if each in asked]
    if known or asked == [""]:
        return known
    return list(default)


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


def _strings() -> dict[str, str]:
    session = st.session_state.to_dict()
    return {str(key): text for key, text in session.items() if isinstance(text, str)}


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
