"""What every page begins with."""

from typing import Any

import streamlit as st

from pages.parts.components.elements import one_entry_a_page
from pages.parts.controls.faults import no_faults, say_unknown
from pages.parts.controls.url_state import note_arrival
from pages.parts.serving.routes import served
from pages.parts.shell.garbage import set_modules_aside
from pages.parts.shell.menu import PAGES, through_the_app, unknown_page
from pages.parts.shell.present import present_control, presenting
from pages.parts.shell.style import style_sheet
from pages.parts.shell.threads import one_thread_for_products

SMALL = {"displayModeBar": False}  # a small chart has no room for buttons over it


def page_columns(question: str) -> list[Any]:
    """The page's question as its title, close to the top; the column of its controls and that of its answers."""
    one_thread_for_products()
    if served():
        set_modules_aside()
    through_the_app()
    one_entry_a_page()
    note_arrival(question)
    present_control()
    st.html(style_sheet(present=presenting()))
    st.title(question, anchor=False)
    no_faults()
    say_unknown("page", unknown_page(), [page.title for page in PAGES], [PAGES[0].title])
    return st.container(key="page").columns([1, 3], gap="medium")
