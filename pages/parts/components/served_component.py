"""Components whose modules this server's own routes serve, and whether they can be used here."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components import v2

from pages.parts.serving import files
from pages.parts.serving.files import served

HERE = Path(__file__).parent
FAILED = "charts_cannot_follow"  # in the session: what its browser said


def charts_follow() -> bool:
    """Whether charts follow runs by themselves here; if not, the page must be drawn again while a run is active."""
    return served() and FAILED not in st.session_state


def mount(name: str, key: str, data: dict[str, Any], *tells: str, **calls: Callable[[], None]) -> None:
    """Show the component `<name>.js` with this data.

    `tells` are the triggers by which it runs the page again, `calls` those that call something before they do so.
    """
    data = data | {"module": files.address(f"{name}.js")}
    triggers = dict.fromkeys(tells, nothing) | calls
    callbacks = {f"on_{each}_change": call for each, call in triggers.items()}
    component(name)(key=key, data=data, on_failed_change=lambda: note_failure(key), **callbacks)


def note_failure(key: str) -> None:
    """Remember for this session that its browser cannot follow runs."""
    st.session_state[FAILED] = st.session_state[key].get("failed")


@cache
def component(name: str) -> Any:
    """The component, registered with Streamlit once."""
    js, css = (HERE / "served.js").read_text(encoding="utf-8"), (HERE / f"{name}.css").read_text(encoding="utf-8")
    return v2.component(name, css=css, js=js, isolate_styles=False)


def nothing() -> None:
    """A trigger needs a callback; that the page runs again is all it is for."""
