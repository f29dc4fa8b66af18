"""How the table of runs is sorted and where it begins, kept in the address."""

from typing import NamedTuple

import streamlit as st

from dpcore.runs.run_table import ORDERS
from pages.parts.shell.streamlit_internals import restoring

SORT, FIRST = "sort", "first"  # in the address; -name is downwards
DEFAULT = "-started"
KNOWN = (*ORDERS, "epsilon")


class Order(NamedTuple):
    """By what the table is sorted, and which way."""

    by: str
    descending: bool


def order_shown() -> Order:
    """How the table is sorted: as was chosen, or as the address says, which is else what was submitted last first."""
    text = _remembered(SORT, DEFAULT)
    by = text.removeprefix("-")
    return Order(by, text.startswith("-")) if by in KNOWN else Order(DEFAULT[1:], True)


def first_shown() -> int:
    """How many runs lie before the first of the table."""
    text = _remembered(FIRST, "0")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def show_in_order(by: str, *, descending: bool) -> None:
    """Sort the table from its first run on, the other way where it is sorted so already; as a callback."""
    before = order_shown()
    descending = not before.descending if before.by == by else descending
    _note(SORT, f"{'-' if descending else ''}{by}", DEFAULT)
    show_from(0)


def show_from(first: int) -> None:
    """Begin the table with the run behind so many others; as a callback."""
    _note(FIRST, str(max(first, 0)), "0")


def _remembered(name: str, default: str) -> str:
    if restoring() or _key(name) not in st.session_state:
        st.session_state[_key(name)] = st.query_params.get(name, default)
    _tell(name, st.session_state[_key(name)], default)
    return st.session_state[_key(name)]


def _note(name: str, text: str, default: str) -> None:
    st.session_state[_key(name)] = text
    _tell(name, text, default)


def _tell(name: str, text: str, default: str) -> None:
    if st.query_params.get(name, default) != text:
        st.query_params[name] = text
    if text == default and name in st.query_params:
        del st.query_params[name]


def _key(name: str) -> str:
    return f"runs_{name}"
