"""The pages of the app, and the way back to them from a page that was opened without the app."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

TITLE = "Private deep learning, explored"
SEEN = "menu_shown"


def menu() -> st.Page:
    """The chosen page, with the menu drawn above it."""
    st.set_page_config(page_title=TITLE, page_icon="🛡️", layout="wide")
    st.session_state[SEEN] = True
    return st.navigation(
        [
            st.Page("pages/accountants.py", title="Accountants", icon=":material/ssid_chart:", default=True),
            st.Page("pages/train.py", title="Train", icon=":material/model_training:", url_path="train"),
            st.Page("pages/tradeoff.py", title="Trade-off", icon=":material/balance:", url_path="tradeoff"),
            st.Page("pages/calibrate.py", title="Calibrate", icon=":material/tune:", url_path="calibrate"),
        ],
        position="top",
    )


def link(file: str, label: str, query: Mapping[str, str] | None = None) -> None:
    """A link to another page, with what was chosen or asked; a page that was opened without the app has none."""
    if SEEN in st.session_state:
        st.page_link(file, label=label, icon=":material/arrow_forward:", query_params=query)


def through_the_app() -> None:
    """Start over through the app where a page was opened without it.

    Streamlit takes a folder named pages for its older kind of app until `st.navigation` has been called once, so the
    first link into a fresh server runs the page's file alone. A url_path that differs from the file's name would not
    help: Streamlit then says "Page not found" over the right page.
    """
    context = get_script_run_ctx()
    if SEEN not in st.session_state and context and Path(context.main_script_path).name == "app.py":
        menu()
        st.rerun()
    if SEEN not in st.session_state:
        st.set_page_config(page_title=TITLE, page_icon="🛡️", layout="wide")
