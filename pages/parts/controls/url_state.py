"""What widgets remember: over pages in the session, for links and reloads in the address bar.

Most widgets are bound to the address by Streamlit itself. It does not carry the values of a link that was opened and
not touched since to the next page, and it writes the titles of options into the address; both are done here. Where the
reader goes back or forward, the address says what all of them are.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts.components.elements import LEAVING
from pages.parts.controls.callbacks import whole

ARRIVED = "arrived"  # whether this run of the script is the first since the page was changed
PAGE = "page_shown"


def note_arrival(page: str) -> None:
    """Tell the widgets whether the reader has just come to this page; before the first of them."""
    st.session_state[ARRIVED] = st.session_state.get(PAGE) != page
    st.session_state[PAGE] = page
    if LEAVING in st.query_params:
        del st.query_params[LEAVING]
    if restoring():
        _whole_address()


def restoring() -> bool:
    """Whether the reader went back or forward in the browser's history: then the address goes before all else."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def _whole_address() -> None:
    """Give the widgets all of the address that the reader went back to.

    Streamlit takes out what the page that was left has a widget of the same name for.
    """
    if context := get_script_run_ctx():
        with context.session_state.query_params() as address:
            address.set_initial_query_params(context.query_string)
            address.populate_from_query_string(context.query_string)
            for key in address:
                if widget := address.get_binding_for_param(key):
                    address.unbind_widget(widget.widget_id)  # until it is drawn
            address.update({key: address.get_all(key) for key in address})


def recall(key: str, default: object) -> None:
    """Give the bound widget that comes next the value that it had on the page where the reader has just come from."""
    if _comes_along(key):
        st.session_state[key] = kept = _kept(key)
        if kept != default:
            with suppress(StreamlitAPIException):  # the widget is known to this page: it tells the address itself
                st.query_params[key] = kept


def keep(key: str, value: object) -> None:
    """Note a widget's value for `recall` and `recall_ids`."""
    st.session_state[f"{key}_kept"] = value


@whole
def put(key: str, value: object, default: object) -> None:
    """Set a widget that comes later, whether or not this page has shown it, here and in the address."""
    st.session_state[key] = value
    with suppress(StreamlitAPIException):  # the widget is known to this page: it tells the address itself
        if value == default:
            st.query_params.pop(key, None)
        else:
            st.query_params[key] = [*value] if isinstance(value, list | tuple) else str(value)


def recall_ids(key: str, options: Sequence[str], default: Sequence[str], *, several: bool = False) -> None:
    """Give the widget that comes next its first value, for options whose ids stand in the address.

    In this order: what it has, what it had on another page, what the address names, the default. Where the reader went
    back or forward, the address comes first.
    """
    if not restoring() and (key in st.session_state or _comes_along(key)):
        st.session_state.setdefault(key, _kept(key))
        return
    asked = st.query_params.get_all(key)
    known = [each for each in options if each in asked]
    if not known and asked != [""]:
        known = list(default)
    st.session_state[key] = known if several else (known or default)[0]


def write_ids(key: str, chosen: Sequence[str], default: Sequence[str]) -> None:
    """Write the ids of what was chosen into the address.

    A default is left out; nothing chosen, where something is the default, is an empty entry.
    """
    wanted = [] if sorted(chosen) == sorted(default) else [*chosen] or [""]
    if st.query_params.get_all(key) != wanted:
        st.query_params[key] = wanted


def _kept(key: str) -> Any:
    return st.session_state.get(f"{key}_kept")


def _comes_along(key: str) -> bool:
    """Whether the value that another page kept is to be used; what the address says goes first."""
    arrived = bool(st.session_state.get(ARRIVED)) and not restoring()
    return _kept(key) is not None and arrived and key not in st.query_params
