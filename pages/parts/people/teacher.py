"""What the teacher of a classroom does: pause the queue, show everybody a run, set limits, clear the store."""

import streamlit as st

from dpcore.runs.editing import clear
from dpcore.runs.in_words import name_of, when, with_origin
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from pages.parts.people.by_teacher import by_teacher
from pages.parts.people.limits_form import limits_form
from pages.parts.people.sayings import said
from pages.parts.serving.board import PAUSED, PROJECTED
from pages.parts.train.run_picker import readable

RECENT = 30  # runs to choose from
CHOSEN, WORD_TYPED = "run_to_project", "word_to_clear"  # keys of widgets
WORD = "clear"


def teacher_panel(store: Store, board: dict[str, str]) -> None:
    """Draw the controls."""
    st.markdown("**You are the teacher**: every run is yours.")
    pause = "Let the queue go on" if board[PAUSED] else "Pause the queue"
    st.button(pause, key="pause", on_click=_pause, args=(store, not board[PAUSED]), width="stretch")
    _choice(store.runs(limit=RECENT), store, board[PROJECTED])
    with st.expander("Limits for everybody", key="limits"):
        limits_form(store.home)
    st.text_input(f'Type "{WORD}" to stop and delete every run of everybody', key=WORD_TYPED, max_chars=20)
    st.button("Clear the store", key="clear", on_click=_clear, args=(store,), width="stretch")


def _choice(past: list[Run], store: Store, shown: str) -> None:
    """What run everybody is to see."""
    lines = {run.id: _line(run) for run in past if readable(run)}
    if lines:
        st.selectbox("A run to show", list(lines), format_func=lambda run: lines[run], key=CHOSEN)
        st.button("Show it to everybody", key="project", on_click=_project, args=(store,), width="stretch")
    if shown:
        st.button("Show it no longer", key="unproject", on_click=_unproject, args=(store,), width="stretch")


def _line(run: Run) -> str:
    return f"{when(run.created)} {with_origin(name_of(run), run)}, {run.id}"


@by_teacher
def _pause(store: Store, on: bool) -> None:
    store.post(PAUSED, "1" if on else None)


@by_teacher
def _project(store: Store) -> None:
    if run := st.session_state.get(CHOSEN):
        store.post(PROJECTED, run)


@by_teacher
def _unproject(store: Store) -> None:
    store.post(PROJECTED, None)


@by_teacher
def _clear(store: Store) -> None:
    typed = str(st.session_state.get(WORD_TYPED) or "").strip().lower()
    st.session_state[WORD_TYPED] = ""
    if typed != WORD:
        said(f'Nothing was deleted: type "{WORD}" first.')
        return
    store.post(PROJECTED, None)
    gone, running = clear(store)
    later = f" {len(running)} of them still run: they stop, and can be deleted then." if running else ""
    said(f"{gone} runs were deleted.{later}")
