"""Jobs are cancelled at once if this session or the reader started them, else after a question."""

from typing import Any

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.in_words import name_of, when
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from pages.parts.jobs import PROBLEM, check_rights, problems_said, say_problem, started_here
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import current_user, may_change

ASKED = "cancel_asked"  # the store, and the job to cancel, until the reader answers
UNSAID = "cancel_unsaid"  # set until the page draws that question
NOUNS = {TRAINING.name: "a run", PERTURBATION.name: "a comparison", AUDIT.name: "an audit"}


def cancel_button(place: Any, store: Store, run: Run, name: str = "") -> None:
    """Draw the button that cancels an active job, if the reader may; its help has the name.

    A followed run has none: its own program ends it.
    """
    if not run.active or run.followed or not may_change(run):
        return
    stopping = run.cancelling and run.status is Status.RUNNING
    place.button(
        "Cancelling…" if stopping else "Cancel",
        key=f"cancel_{run.id}",
        help=f"Cancel {name}." if name else None,
        on_click=cancel,
        args=(store, run.id),
        disabled=stopping,
        width="stretch",
    )


@uninterrupted
def cancel(store: Store, run: str) -> None:
    """Cancel the job, at once if it is the reader's, else after a question. For a callback."""
    with problems_said():
        asked = store.run(run)
        check_rights(asked, "cancel")
        same_owner = asked.owner and asked.owner == current_user().owner
        if same_owner or run in started_here() or not asked.active:
            store.cancel(run)
        else:
            st.session_state[ASKED] = (store, run)
            st.session_state[UNSAID] = True


def say_outcome() -> None:
    """Draw the result of the last click: the question before a cancellation, or an error."""
    _ask_first()
    say_problem()


def outcome_unsaid() -> bool:
    """True if the page must be run again to draw such a result; once."""
    return PROBLEM in st.session_state or st.session_state.pop(UNSAID, False)


@uninterrupted
def _answer(store: Store, run: str, yes: bool) -> None:
    _forget_question()
    if yes:
        started_here().add(run)
        cancel(store, run)


def _ask_first() -> None:
    """Draw the question, if there is one, until it is answered or pointless."""
    if ASKED not in st.session_state:
        return
    store, run = st.session_state[ASKED]
    try:
        asked = store.run(run)
    except (StoreError, UnknownRun):
        asked = None
    if asked is None or not asked.active:
        del st.session_state[ASKED]
        return
    title = f"Cancel {NOUNS[asked.kind]} that you did not start here?"
    draw_dialog = st.dialog(title, on_dismiss=_forget_question)(_question)
    draw_dialog(store, asked)


def _forget_question() -> None:
    st.session_state.pop(ASKED, None)


def _question(store: Store, run: Run) -> None:
    if ASKED not in st.session_state:  # answered
        st.rerun()
    words = (
        f"**{verbatim(name_of(run))}** ({when(run.created)}) was not started in this tab. Somebody"
        " else may be waiting for it."
    )
    if run.kind == TRAINING.name:
        words += " You can resume it later from its last checkpoint."
    st.markdown(words)
    row = st.container(horizontal=True)
    noun = NOUNS[run.kind].split()[-1]
    row.button(
        f"Cancel this {noun}",
        type="primary",
        key="cancel_yes",
        on_click=_answer,
        args=(store, run.id, True),
    )
    row.button("Let it run", key="cancel_no", on_click=_answer, args=(store, run.id, False))
