"""Links in tables that open settings on another page, within the session."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.components.v2 import component

KEY = "setting_links"
_follow = component(KEY, js=Path(__file__).with_suffix(".js").read_text("utf-8"))


def follow_links(opened: Callable[[], None]) -> None:
    """Let every link that is marked with `data-opens` call `opened` where it is clicked; once on a page."""
    _follow(key=KEY, data={}, on_opened_change=opened)


def clicked_link() -> str:
    """The address of the link that was clicked, for `opened`; "" if the browser sent nonsense."""
    asked = (st.session_state.get(KEY) or {}).get("opened")
    return asked if isinstance(asked, str) else ""
