"""A slider whose value arrives while it is dragged: a native range input that stops at round numbers."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.components.v2 import component

HERE = Path(__file__)
MAX_CHARS = 40  # of a value, as in the field beside the slider
STYLE = HERE.with_suffix(".css").read_text(encoding="utf-8")  # in the page's style sheet: once, not with each slider
_mount = component(
    "stop_slider",
    js=HERE.with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,  # one page, one style: focus rings and print sizes are those of the page
)


def slider(label: str, stops: Sequence[str], value: str, ends: tuple[str, str], *, field: str) -> None:
    """Draw the slider of a field at `value`, one of the stops; the field has been drawn before it.

    Its last move, with a number, is state of the browser that every later request brings along, so that no move is
    lost; `unheard_move` gives it to the field, and the slider is told the number once the field has it. The browser
    sends one value at a time, the latest, and the next only when the answer has been drawn. A chart that draws the
    stops of `field` by itself (`live_chart.py`) does so first, and the page is asked once the hand rests. `ends` says
    what it means to go left and right.
    """
    _, number = _move(field)
    st.session_state[f"{field}_heard"] = number
    data = {"label": label, "stops": list(stops), "value": value, "ends": list(ends), "heard": number, "field": field}
    _mount(key=f"{field}_slider", data=data, on_moved_change=lambda: None)


def unheard_move(field: str) -> str | None:
    """Where the slider of a field was moved to since the field was drawn last; None where it was not."""
    text, number = _move(field)
    return None if number == st.session_state.get(f"{field}_heard", 0) else text


def _move(field: str) -> tuple[str | None, int]:
    """The slider's last move and its number; none and 0 where there was none, or nonsense was sent."""
    match (st.session_state.get(f"{field}_slider") or {}).get("moved"):
        case [str(text), int(number)] if len(text) <= MAX_CHARS:
            return text, number
    return None, 0
