"""What stands above every page of a classroom: who one is here, what the teacher does, and what the teacher shows."""

import streamlit as st

from dpcore.runs import pool
from dpcore.runs.access import NOBODY, User, shared
from dpcore.runs.keys import LONGEST, SHORTEST, guessable
from dpcore.runs.record import StoreError, state_directory
from dpcore.runs.store import Store
from dpcore.runs.teachers import sign_in, sign_out
from pages.parts.components.elements import watch_board
from pages.parts.controls.callbacks import whole
from pages.parts.people.attempts import Attempts
from pages.parts.people.projected import projected
from pages.parts.people.sayings import answer, said
from pages.parts.people.teacher import teacher_panel
from pages.parts.people.visitor import address, current_user
from pages.parts.serving.board import ADDRESS, PAUSED, PROJECTED, on_board

GIVEN = "teacher_key"  # the key of the field
YOURS = (
    "What you start belongs to this browser: you alone, and the teacher, can cancel, resume, rename and delete it. "
    "What others start can be looked at."
)
WRONG = "That is not the teacher's key."
EMPTY = f"Expected the teacher's key to have {SHORTEST} to {LONGEST} characters."
LATER = "Too many attempts: wait a minute, then try again."
NO_KEY = "Nobody can sign in as the teacher at present: the terminal of the server says why."
ATTEMPTS = Attempts()


def classroom() -> None:
    """Draw it where several people share the server, else nothing."""
    if not shared():
        return
    try:
        store = pool.ensure_pool().store
        board = on_board(store)
    except StoreError:  # the page says what is wrong with it
        return
    user = current_user()
    watch_board(board, ADDRESS)
    with st.container(key="classroom", horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover(_title(user), icon=":material/groups:", type="tertiary"):
            _panel(store, user, board)
        if board[PAUSED]:
            st.caption(":material/pause: The teacher has paused the queue: what is queued waits.")
    if board[PROJECTED]:
        projected(store, board[PROJECTED])


def _title(user: User) -> str:
    return "Classroom (teacher)" if user.teacher else "Classroom"


def _panel(store: Store, user: User, board: dict[str, str]) -> None:
    answer()
    st.markdown(YOURS if user.owner else NOBODY)
    if user.teacher:
        teacher_panel(store, board)
        st.button("Sign out", key="sign_out", on_click=_sign_out)
        return
    with st.form("sign_in", clear_on_submit=True, border=False):
        st.text_input("Teacher's key", type="password", key=GIVEN, max_chars=LONGEST, autocomplete="off")
        st.form_submit_button("Sign in as the teacher", on_click=_sign_in)


@whole
def _sign_in() -> None:
    """Take the key that was typed. As a callback."""
    given, user = str(st.session_state.get(GIVEN) or "").strip(), current_user()
    st.session_state[GIVEN] = ""
    if not user.owner:
        said(NOBODY)
    elif not given:
        said(EMPTY)
    else:
        try:
            said(_signed_in(user.owner, given))
        except (OSError, ValueError):
            said(NO_KEY)


def _signed_in(owner: str, given: str) -> str:
    """Make this owner the teacher if that is the key; what is wrong, "" where nothing is.

    A key that was made here takes any number of attempts: a limit would only let some shut out the others.
    """
    home = state_directory()
    if guessable(home) and not ATTEMPTS.another(address()):
        return LATER
    return "" if sign_in(home, owner, given) else WRONG


@whole
def _sign_out() -> None:
    """Be a visitor as others again. As a callback."""
    said("")
    try:
        sign_out(state_directory(), current_user().owner)
    except OSError:
        said("Signing out failed: the terminal of the server says why.")
