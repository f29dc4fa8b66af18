"""The limits that bind what everybody asks for, as the teacher sets them."""

from dataclasses import asdict, fields
from pathlib import Path

import streamlit as st

from dpcore.runs.limits import FILE, Limits, limits_of, usual, write
from dpcore.runs.record import StoreError
from pages.parts.people.by_teacher import by_teacher
from pages.parts.people.sayings import said


def limits_form(home: Path) -> None:
    """Draw the limits as they are. A field is another one once its limit has changed, elsewhere perhaps.

    A field takes a zero, which `Limits` refuses in a sentence: refused by the browser, it would go unheard.
    """
    try:
        now = limits_of(home)
    except StoreError as error:
        st.warning(f"{error} Saving replaces it.")
        now = usual()
    keys = {name: f"limit_{name}_{value}" for name, value in asdict(now).items()}
    with st.form("limits_form", border=False):
        for each in fields(Limits):
            title, value = each.metadata["title"], getattr(now, each.name)
            st.number_input(title[:1].upper() + title[1:], 0, each.metadata["most"], value, step=1, key=keys[each.name])
        st.form_submit_button("Set the limits", on_click=_set, args=(home, keys))


@by_teacher
def _set(home: Path, keys: dict[str, str]) -> None:
    try:
        wanted = Limits(**{name: st.session_state[key] for name, key in keys.items()})
    except ValueError as error:
        said(str(error))
        return
    write(home, wanted)
    said(f"The limits are set, for what is asked for from now on; {FILE} keeps them.")
