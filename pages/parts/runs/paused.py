"""The line that says that the queue is paused, for whoever may let it go on.

In a classroom its teacher pauses it, above every page. A server that is started later for one person has no classroom,
and the queue of its store is paused still.
"""

import streamlit as st

from dpcore.runs.access import NOT_TEACHER, may_rule
from dpcore.runs.record import StoreError
from dpcore.runs.store import PAUSED, Store
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.run_picker import PROBLEM
from pages.parts.visitors import current_user


def paused_line(store: Store) -> None:
    """Draw it with its button; nothing while the queue goes on, or for who may not change that."""
    if not store.board(PAUSED) or not may_rule(current_user()):
        return
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(":material/pause: **The queue is paused**: what is queued waits until it goes on.")
    row.button("Let the queue go on", key="queue_goes_on", on_click=_let_go_on, args=(store,))


@uninterrupted
def _let_go_on(store: Store) -> None:
    if not may_rule(current_user()):
        st.session_state[PROBLEM] = NOT_TEACHER
        return
    try:
        store.post(PAUSED, None)
    except StoreError as error:
        st.session_state[PROBLEM] = str(error)
