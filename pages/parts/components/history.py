"""The browser's history has one entry a page, whatever was set on it."""

from pathlib import Path

from streamlit.components.v2 import component

LEAVING = "leaving"  # in the address that is written while a page is left from its code: the entry stays as it is
_watch = component("one_entry_a_page", js=Path(__file__).with_suffix(".js").read_text("utf-8"))


def one_entry_a_page() -> None:
    """Let the settings of a page go into the entry that the page has, in the browser."""
    _watch(key="history", data={"leaving": LEAVING})
