"""A slider whose value arrives while it is dragged: a native range input that stops at round numbers."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st
from streamlit.components.v2 import component

HERE = Path(__file__)
LONGEST = 40  # characters of a value, as in the field beside the slider
STYLE = HERE.with_suffix(".css").read_text(encoding="utf-8")  # in the page's style sheet: once, not with each slider
_mount = component(
    "stop_slider",
    js=HERE.with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,  # one page, one style: focus rings and print sizes are those of the page
)


def slider(
    label: str,
    stops: Sequence[str],
    value: str,
    ends: tuple[str, str],
    *,
    field: str,
    key: str,
    moved: Callable[[], None],
) -> None:
    """Draw the slider at `value`, one of the stops; where the reader moves it, `moved` is called before the next run.

    The browser sends one value at a time, the latest, and the next only when the answer has been drawn: the page is
    never asked for stops that were only passed. A chart that draws the stops of `field` by itself (`live_chart.py`)
    does so first, and the page is asked once the hand rests. `ends` says what it means to go left and right.
    """
    heard = st.session_state.get(f"{key}_heard", 0)
    data = {"label": label, "stops": list(stops), "value": value, "ends": list(ends), "heard": heard, "field": field}
    _mount(key=key, data=data, on_moved_change=moved)


def moved_to(key: str) -> str | None:
    """Where the slider was moved to, for `moved`; the slider is told that it was heard. None if it sent nonsense."""
    match st.session_state[key].get("moved"):
        case [str(text), int(message)] if len(text) <= LONGEST:
            st.session_state[f"{key}_heard"] = message
            return text
    return None
