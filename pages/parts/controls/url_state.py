"""Texts that live in the session and in the address bar: those of widgets, and those that a page
keeps for itself.

Most widgets are bound to the address by Streamlit itself. It does not carry the values of a link
that was opened and not touched since to the next page, and it writes the titles of options into the
address; both are done here. Where the reader goes back or forward, the address says what all of
them are.

A run of a page may be broken off by a newer request. The browser then never hears what the run gave
its widgets, and sends with the next request what they had before, which Streamlit takes for a
change by the reader. What code gives a widget is therefore noted until a run has come to its end
(`assign`, `replaced_values`).

What an address asks for in vain is said here too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

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
REPLACED = "replaced"  # key -> `Replacement`, until the browser has heard of it
UNTOLD = "\0"  # no text of a field
MAX_REASON = 500  # characters of an error that are shown
TOP = "fault_top"
# Name -> what was said of its value in the address, and what is shown instead.
UNKNOWN = "unknown_choices"


class Replacement(NamedTuple):
    """A value that code gave a widget, and those that the browser may still send in its place."""

    value: object
    before: list[object]


def note_arrival(page: str) -> None:
    """Tell the widgets whether the reader has just come to this page; before the first of them."""
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
    """Run a page in the block, with the values that code gave its widgets in earlier runs that were
    broken off.
    """
    st.session_state.setdefault(REPLACED, {})
    if restoring():  # the address says what all of them are
        all_told()
    replace_again()
    yield
    all_told()  # not where the block is left by a request that breaks the run off


def all_told() -> None:
    """Forget what code gave widgets: the run that drew them has come to its end, and the browser
    has heard of it.
    """
    st.session_state.get(REPLACED, {}).clear()


def replace_again() -> None:
    """Give widgets anew what code gave them where the browser, which had not heard of it, has sent
    what was before.
    """
    replaced = st.session_state.get(REPLACED, {})
    for key, (value, _) in [*replaced.items()]:
        if is_late(key):
            st.session_state[key] = value
        elif st.session_state.get(key) != value:  # the reader has chosen something else since
            del replaced[key]


def is_late(key: str) -> bool:
    """Whether the value that the browser has sent for a widget is one that code had replaced by
    then.
    """
    replaced = st.session_state.get(REPLACED, {})
    if key not in replaced:
        return False
    value, before = replaced[key]
    now = st.session_state.get(key)
    return now != value and now in before


def assign(key: str, value: object) -> None:
    """Give a widget that comes later a value, which holds until the browser has heard of it."""
    before = st.session_state.get(key)
    st.session_state[key] = value
    replaced = st.session_state.get(REPLACED)
    if replaced is None or before is None or before == value:  # None: the app does not run the page
        return
    earlier = replaced[key].before if key in replaced else []
    replaced[key] = Replacement(value, [*earlier, before])


def by_the_reader(key: str, do: Callable[[], None]) -> Callable[[], None]:
    """What to do where the reader changes a widget; not where the browser sends what code has
    replaced.
    """

    @uninterrupted
    def changed() -> None:
        late = is_late(key)
        replace_again()
        if not late:
            do()

    return changed


def from_link(name: str) -> list[str]:
    """What the address says under a name; else what the one said by which the reader came to an
    earlier page.
    """
    here = st.query_params.get_all(name)
    if here or restoring():
        return here
    return st.session_state.get(LINKED, {}).get(name, [])


def taken_from_link(name: str) -> list[str]:
    """The same, for what belongs to one page: no later page is told again what an earlier address
    said.
    """
    found = from_link(name)
    st.session_state.get(LINKED, {}).pop(name, None)
    return found


def page_text(key: str, default: str) -> str:
    """The text of a field as this run of the page will draw it; the default where nobody knows one.

    In this order: where its slider was moved to, what it has, what the address says, what it had on
    another page, what an earlier address said, the default. On a page where the reader has just
    arrived the address and the other page go before what it has.
    """
    own, linked, kept = (
        st.session_state.get(key),
        st.query_params.get(key),
        st.session_state.get(f"{key}_kept"),
    )
    earlier = st.session_state.get(LINKED, {}).get(key, [])[-1:]
    if restoring():
        known = [linked]
    elif st.session_state.get(ARRIVED):
        known = [linked, kept, own, *earlier]
    else:  # an earlier run of the page may have been broken off before it had drawn the field
        # What was typed since is newer than the move.
        moved = unheard_move(key) if own == kept else None
        known = [moved, own, linked, kept, *earlier]
    return next((text for text in known if isinstance(text, str)), default)


def page_texts() -> dict[str, str]:
    """The texts of all fields that this session or the address knows, as far as they count in this
    run of the page.
    """
    session = [
        key.removesuffix("_kept") for key, text in _strings().items() if not key.endswith("_good")
    ]
    names = dict.fromkeys([*session, *st.query_params, *st.session_state.get(LINKED, {})])
    texts = {key: page_text(key, UNTOLD) for key in names}
    return {key: text for key, text in texts.items() if text != UNTOLD}


def texts_on_screen() -> dict[str, str]:
    """The texts of all fields as the browser shows them.

    For a callback, which comes before the page is run again.

    A callback that acts on the fields must read them: what was read when its button was drawn may
    be older.
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
    return {
        key.removesuffix("_good"): text for key, text in _strings().items() if key.endswith("_good")
    }


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
    """Whether the page has not drawn a widget yet.

    Its key then still leads to the widget of the page before, and tells nothing of the one that is
    about to be drawn.
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
    """Set a widget that comes later, whether or not this page has shown it, here and in the
    address.
    """
    assign(key, value)
    hear(key)
    # The widget is known to this page: it tells the address itself.
    with suppress(StreamlitAPIException):
        if value == default:
            st.query_params.pop(key, None)
        else:
            st.query_params[key] = [*value] if isinstance(value, list | tuple) else str(value)


def recall_ids(key: str, options: Sequence[str], default: Sequence[str]) -> None:
    """Give the widget of several options that comes next its first value; their ids stand in the
    address.

    In this order: what it has, what it had on another page, what an address names, the default.
    Where the reader went back or forward, the address comes first.
    """
    chosen = _recalled(key, options, default)
    if _is_new(key) or st.session_state.get(key) != chosen:
        assign(key, chosen)


def _recalled(key: str, options: Sequence[str], default: Sequence[str]) -> list[str]:
    own, kept = st.session_state.get(key), st.session_state.get(f"{key}_kept")
    if not restoring() and own is not None:
        return list(own)
    comes_along = bool(st.session_state.get(ARRIVED)) and key not in st.query_params
    if not restoring() and comes_along and kept is not None:
        return list(kept)
    asked = from_link(key)
    known = [each for each in options if each in asked]
    return known if known or asked == [""] else list(default)


def write_ids(key: str, chosen: Sequence[str], default: Sequence[str]) -> None:
    """Write the ids of what was chosen into the address.

    A default is left out; nothing chosen, where something is the default, is an empty entry.
    """
    wanted = [] if sorted(chosen) == sorted(default) else [*chosen] or [""]
    if st.query_params.get_all(key) != wanted:
        st.query_params[key] = wanted


class Remembered:
    """A text that a page keeps for itself, in the session and under one name in the address.

    A link and the browser's history set it; else it is what the page has set last. `key` is its
    name in the session, where two pages use one name in the address for things of their own.
    """

    def __init__(self, name: str, default: str = "", key: str = "") -> None:
        self.name, self.default, self.key = name, default, key or name

    @property
    def value(self) -> str:
        """The text; the address is told."""
        if restoring() or self.key not in st.session_state:
            st.session_state[self.key] = [self.default, *taken_from_link(self.name)][-1]
        self.set(text := st.session_state[self.key])
        return text

    def set(self, text: str) -> None:
        """Set the text, here and in the address, which names no default."""
        st.session_state[self.key] = text
        write_ids(self.name, [text], [self.default])


def _strings() -> dict[str, str]:
    return {
        str(key): text for key, text in st.session_state.to_dict().items() if isinstance(text, str)
    }


def no_faults() -> None:
    """Begin a page: nothing is wrong with its address, and a place above its controls is kept."""
    if st.session_state.get(ARRIVED):
        st.session_state[UNKNOWN] = {}
    st.session_state[TOP] = st.container()


def unknown(name: str, options: Sequence[str]) -> list[str]:
    """What the address says of a choice that is none of its options; before the choice is drawn."""
    return [each for each in st.query_params.get_all(name) if each.strip() and each not in options]


def say_unknown(
    name: str, asked: Sequence[str], options: Sequence[str], chosen: Sequence[str]
) -> None:
    """Say above the page what the address asked for in vain, until something else is chosen."""
    said, shown = st.session_state.setdefault(UNKNOWN, {}), ", ".join(chosen) or "none"
    if asked:
        expected = f"Expected {verbatim(f'{name}={asked[0]}')} to be one of: {', '.join(options)}."
        said[name] = f"{expected} Showing {shown}.", shown
    if name in said and said[name][1] != shown:
        del said[name]
    elif name in said:
        st.session_state.get(TOP, st).warning(said[name][0])
