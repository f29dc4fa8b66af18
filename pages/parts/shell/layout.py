"""What every page begins with."""

from typing import Any

import streamlit as st

from pages.parts.controls.number import ARRIVED
from pages.parts.shell.menu import through_the_app

PAGE = "page_shown"
SMALL = {"displayModeBar": False}  # a small chart has no room for buttons over it
FILLED = "#2f70c4"  # behind white text: 4.96:1, and 3.65:1 on the dark paper
INNER = '[data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"]'
STYLE = """<style>
.stMainBlockContainer {padding-top: 4.2rem; padding-bottom: 3rem}
[data-stale="true"] {opacity: 1 !important; transition: none !important}  /* fading repaints the whole page */
[data-testid="stCaptionContainer"] {color: inherit; opacity: .8}  /* the theme's grey is too faint for small print */
[data-testid="stBaseButton-primary"]:enabled, [data-testid="stMultiSelect"] [data-tag]
  {background-color: FILLED; border-color: FILLED}  /* white on the dark theme's own colour is too faint */
[data-testid="stColumn"] {min-width: min(100%, 17rem)}  /* narrower ones go below each other */
.st-key-beside > INNER {min-width: min(100%, 24rem)}  /* charts with labels at their right */
.st-key-halves > INNER, [class*="st-key-progress"] > INNER {min-width: 0}
@media (max-width: 1100px) {.st-key-page > INNER {min-width: 100%}}
</style>""".replace("FILLED", FILLED).replace("INNER", INNER)


def frame(question: str) -> list[Any]:
    """The page's question as its title, close to the top; the column of its controls and that of its answers."""
    through_the_app()
    st.session_state[ARRIVED] = st.session_state.get(PAGE) != question
    st.session_state[PAGE] = question
    st.html(STYLE)
    st.title(question, anchor=False)
    return st.container(key="page").columns([1, 3], gap="medium")
