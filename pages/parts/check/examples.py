"""Claims that papers and libraries print, each a click away."""

from functools import partial

import streamlit as st

from dpcore.claims.worked import EXAMPLES, WorkedExample
from dpcore.privacy.report import glossary
from pages.parts.check.entered import fill_in
from pages.parts.explain.terms import linked

HEAD = "Printed claims, a click away"


def show_examples() -> None:
    """Draw a button for each example, and what they come from."""
    st.html(f"<h2 class=part>{HEAD}</h2>")
    row = st.container(horizontal=True, gap="small")
    for each in EXAMPLES:
        source = glossary.linked(_where(each))
        row.button(each.title, key=f"example_{each.name}", on_click=partial(fill_in, each.claim), help=source)
    with st.expander("Where they stand"):
        items = "".join(f"<li><b>{linked(each.title)}</b>: {linked(_where(each))}</li>" for each in EXAMPLES)
        st.html(f"<ul class=remarks>{items}</ul>")


def _where(example: WorkedExample) -> str:
    return f"{example.source}, {example.place}. {example.note}".strip()
