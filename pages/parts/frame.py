"""What every page begins with."""

import streamlit as st

from pages.parts.controls import ARRIVED
from pages.parts.menu import through_the_app

PAGE = "page_shown"
SMALL = {"displayModeBar": False}  # a small chart has no room for buttons over it
FILLED = "#2f70c4"  # behind white text: 4.96:1, and 3.65:1 on the dark paper
STYLE = """<style>
.stMainBlockContainer {padding-top: 4.2rem; padding-bottom: 3rem}
[data-stale="true"] {opacity: 1 !important; transition: none !important}  /* fading repaints the whole page */
[data-testid="stCaptionContainer"] {color: inherit; opacity: .8}  /* the theme's grey is too faint for small print */
[data-testid="stBaseButton-primary"]:enabled, [data-testid="stMultiSelect"] [data-tag]
  {background-color: FILLED; border-color: FILLED}  /* white on the dark theme's own colour is too faint */
</style>""".replace("FILLED", FILLED)


def frame(question: str) -> None:
    """The page's question as its title, close to the top."""
    through_the_app()
    st.session_state[ARRIVED] = st.session_state.get(PAGE) != question
    st.session_state[PAGE] = question
    st.html(STYLE)
    st.title(question, anchor=False)
