"""Settings that one page loads for another, and the change to that page."""

from collections.abc import Mapping

import streamlit as st

from pages.parts.components.elements import LEAVING
from pages.parts.controls.url_state import write
from pages.parts.shell.streamlit_internals import uninterrupted

GO = "go"  # in the session: the page to open next


@uninterrupted
def load(fields: Mapping[str, str], go: str = "") -> None:
    """Set the controls, and note the page to open next, if any; for a callback."""
    write(fields)
    st.session_state[GO] = go


def move_on() -> None:
    """Open the page that `load` has noted."""
    page = st.session_state.pop(GO, "")
    if page:
        # None would be refused: the controls hold on to the address.
        st.switch_page(page, query_params={LEAVING: "1"})
