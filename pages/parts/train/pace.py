"""Pause, play and step: a run of one's own waits between two steps, and takes one at a click."""

from typing import Any

import streamlit as st

from dpcore.runs.holding import MAX_SECONDS, can_be_held, hold, let_go, steps_granted
from dpcore.runs.record import Run, Status, StoreError
from dpcore.runs.store import Store
from pages.parts.jobs import PROBLEM
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import may_change

STOPS = "The run keeps its state and waits. Waiting costs no privacy."
GOES_ON = f"Without a click the run goes on by itself after {MAX_SECONDS / 60:.0f} minutes."


def pace_buttons(place: Any, store: Store, run: Run) -> None:
    """Draw the buttons that pause a run, let it go on and let it take one step, where it trains and is one's own."""
    if run.status is not Status.RUNNING or run.cancelling or not can_be_held(store, run.id) or not may_change(run):
        return
    held = steps_granted(store, run.id) is not None
    row = place.container(horizontal=True, gap="xsmall", wrap=False)
    icon, label, act, help = ("play_arrow", "Play", let_go, GOES_ON) if held else ("pause", "Pause", hold, STOPS)
    row.button(
        "",
        key=f"pace_{run.id}",
        icon=f":material/{icon}:",
        help=f"{label}. {help}",
        on_click=_do,
        args=(act, store, run.id),
    )
    step = {"disabled": not held, "help": "Take one step.", "on_click": _do, "args": (hold, store, run.id)}
    row.button("", key=f"step_{run.id}", icon=":material/skip_next:", **step)


@uninterrupted
def _do(act: Any, store: Store, run: str) -> None:
    try:
        act(store, run)
    except StoreError as error:
        st.session_state[PROBLEM] = str(error)
