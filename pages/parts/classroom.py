"""The bar above every page of a classroom: the visitor's rights, the teacher's controls, and the
projected run.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, fields
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import streamlit as st

from dpcore.privacy.accountants import CERTIFIED
from dpcore.runs import pool
from dpcore.runs.editing import clear
from dpcore.runs.in_words import name_of, when, with_origin
from dpcore.runs.limits import (
    FILE,
    NOBODY,
    NOT_TEACHER,
    Limits,
    User,
    limits_of,
    may_rule,
    shared,
    usual,
    write,
)
from dpcore.runs.record import StoreError, UnknownRun, state_directory
from dpcore.runs.store import PAUSED, Store
from dpcore.runs.teacher_key import sign_in, sign_out
from dpcore.training.defaults import described
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.live import progress_of
from pages.parts.train.run_charts import accuracy_chart
from pages.parts.train.run_history import watched_runs
from pages.parts.train.run_picker import readable
from pages.parts.visitors import current_user

P = ParamSpec("P")
ANSWER = "classroom_answer"  # in the session: the result of the last click
GIVEN, CHOSEN, WORD_TYPED = "teacher_key", "run_to_project", "word_to_clear"  # keys of widgets
MAX_KEY_CHARS = 200
RECENT_RUNS = 30  # to choose from
BOARD_SECONDS = 3.0  # between two looks at it
# The name on the store's board, beside PAUSED, of the run that is shown to all.
PROJECTED = "projected"
CHART_HEIGHT = 240  # pixels: the page below the chart stays in sight
WORD = "clear"
YOURS = (
    "Runs that you start belong to this browser. Only you and the teacher can cancel, resume,"
    " rename and delete them. You can look at the runs of others."
)
WRONG = "That is not the teacher's key."
EMPTY = "Type the teacher's key. The terminal of the server showed it at the first start."
NO_KEY = "Nobody can sign in as the teacher now. The terminal of the server says why."
TITLE = "The teacher shows everybody this run"


def classroom() -> None:
    """Draw the bar if several people share the server."""
    if not shared():
        return
    try:
        store = pool.ensure_pool().store
        board = on_board(store)
    except StoreError:  # the page reports it
        return
    user = current_user()
    st.fragment(_watch_board, run_every=BOARD_SECONDS)(store, board)
    with st.container(key="classroom", horizontal=True, vertical_alignment="center", gap="small"):
        title = "Classroom (teacher)" if user.teacher else "Classroom"
        with st.popover(title, icon=":material/groups:", type="tertiary"):
            _panel(store, user, board)
        if board[PAUSED]:
            st.caption(":material/pause: The teacher paused the queue. Queued runs wait.")
    if run := board[PROJECTED]:
        with st.expander(TITLE, expanded=True, icon=":material/cast:", key=f"projected_{run}"):
            st.fragment(_projected)(store, run)


def on_board(store: Store) -> dict[str, str]:
    """The teacher's notes at present; "" where there is none."""
    return {name: store.board(name) or "" for name in (PAUSED, PROJECTED)}


def _watch_board(store: Store, known: dict[str, str]) -> None:
    """Run the page again once the teacher's notes have changed."""
    with suppress(StoreError):
        if on_board(store) != known:
            st.rerun()


def by_teacher(action: Callable[P, None]) -> Callable[P, None]:
    """Make the action an uninterrupted callback, which refuses anybody but the teacher, and says
    its errors.
    """

    @uninterrupted
    @wraps(action)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if not may_rule(current_user()):
            _say(NOT_TEACHER)
            return
        _say("")
        try:
            action(*args, **kwargs)
        except (StoreError, ValueError) as error:
            _say(str(error))

    return run


def _say(sentence: str) -> None:
    """Let the panel say the result of the last click until the next one."""
    st.session_state[ANSWER] = sentence


def _panel(store: Store, user: User, board: dict[str, str]) -> None:
    if sentence := st.session_state.get(ANSWER):
        st.warning(sentence)
    st.markdown(YOURS if user.owner else NOBODY)
    if user.teacher:
        _teacher_panel(store, board)
        st.button("Sign out", key="sign_out", on_click=_sign_out)
        return
    with st.form("sign_in", clear_on_submit=True, border=False):
        st.text_input(
            "Teacher's key", type="password", key=GIVEN, max_chars=MAX_KEY_CHARS, autocomplete="off"
        )
        st.form_submit_button("Sign in as the teacher", on_click=_sign_in)


@uninterrupted
def _sign_in() -> None:
    given, user = str(st.session_state.get(GIVEN) or "").strip(), current_user()
    st.session_state[GIVEN] = ""
    if not user.owner:
        _say(NOBODY)
    elif not given:
        _say(EMPTY)
    else:
        try:
            _say("" if sign_in(state_directory(), user.owner, given) else WRONG)
        except (OSError, ValueError):
            _say(NO_KEY)


@uninterrupted
def _sign_out() -> None:
    _say("")
    try:
        sign_out(state_directory(), current_user().owner)
    except OSError:
        _say("Signing out failed. The terminal of the server says why.")


def _teacher_panel(store: Store, board: dict[str, str]) -> None:
    st.markdown("**You are the teacher.** You can change every run.")
    pause = "Continue the queue" if board[PAUSED] else "Pause the queue"
    paused = None if board[PAUSED] else "1"
    st.button(pause, key="pause", on_click=_post, args=(store, PAUSED, paused), width="stretch")
    lines = {
        run.id: f"{when(run.created)} {with_origin(name_of(run), run)}, {run.id}"
        for run in store.runs(limit=RECENT_RUNS)
        if readable(run)
    }
    if lines:
        st.selectbox("Run to show", list(lines), format_func=lambda run: lines[run], key=CHOSEN)
        st.button(
            "Show it to everybody", key="project", on_click=_project, args=(store,), width="stretch"
        )
    if board[PROJECTED]:
        st.button(
            "Stop showing it",
            key="unproject",
            on_click=_post,
            args=(store, PROJECTED, None),
            width="stretch",
        )
    with st.expander("Limits for everybody", key="limits"):
        _limits_form(store.home)
    st.text_input(
        f'Type "{WORD}" to stop and delete all runs of everybody', key=WORD_TYPED, max_chars=20
    )
    st.button("Clear the store", key="clear", on_click=_clear, args=(store,), width="stretch")


@by_teacher
def _post(store: Store, name: str, text: str | None) -> None:
    store.post(name, text)


@by_teacher
def _project(store: Store) -> None:
    if run := st.session_state.get(CHOSEN):
        store.post(PROJECTED, run)


@by_teacher
def _clear(store: Store) -> None:
    typed = str(st.session_state.get(WORD_TYPED) or "").strip().lower()
    st.session_state[WORD_TYPED] = ""
    if typed != WORD:
        raise ValueError(f'Nothing was deleted. Type "{WORD}" first.')
    store.post(PROJECTED, None)
    gone, running = clear(store)
    later = f" {len(running)} are still stopping. Delete them afterwards." if running else ""
    _say(f"{gone} runs were deleted.{later}")


def _limits_form(home: Path) -> None:
    """Draw the present limits; a changed limit gets a new field.

    A field accepts zero, which `Limits` refuses with a sentence, where a browser would ignore it
    silently.
    """
    try:
        now = limits_of(home)
    except StoreError as error:
        st.warning(f"{error} Set the limits to replace the file.")
        now = usual()
    keys = {name: f"limit_{name}_{value}" for name, value in asdict(now).items()}
    with st.form("limits_form", border=False):
        for each in fields(Limits):
            title, value = each.metadata["title"], getattr(now, each.name)
            st.number_input(
                title[:1].upper() + title[1:],
                0,
                each.metadata["most"],
                value,
                step=1,
                key=keys[each.name],
            )
        st.form_submit_button("Set the limits", on_click=_set_limits, args=(home, keys))


@by_teacher
def _set_limits(home: Path, keys: dict[str, str]) -> None:
    write(home, Limits(**{name: st.session_state[key] for name, key in keys.items()}))
    _say(f"The limits are set for new runs. {FILE} keeps them.")


def _projected(store: Store, run: str) -> None:
    """Draw the name, the progress and the growing accuracy of the run that the teacher shows."""
    try:
        watched = watched_runs(store, [run])
    except UnknownRun:
        st.caption("This run was deleted.")
        return
    except StoreError as error:
        st.error(str(error))
        return
    except (ValueError, TypeError, RuntimeError):
        st.caption("Another version of this program made this run, or its data are not here.")
        return
    if (name := name_of(watched[0].run)) != described(watched[0].config):  # the bar says that
        st.text(name)
    progress_of(watched[0], "projected_bar")
    accuracy_chart(watched, CERTIFIED, "epoch", "projected_chart", CHART_HEIGHT)
