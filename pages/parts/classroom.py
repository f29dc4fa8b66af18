"""The bar above every page of a classroom: rights, the teacher's controls, the projected run."""

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
from dpcore.runs.lesson_answers import answers, csv_of_answers, forget
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
# Keys of widgets.
GIVEN = "teacher_key"
CHOSEN = "run_to_project"
WORD_TYPED = "word_to_clear"
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
    run = board[PROJECTED]
    if run:
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
    """Make the action an uninterrupted callback for the teacher alone, which says its errors."""

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
    sentence = st.session_state.get(ANSWER)
    if sentence:
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
    given = str(st.session_state.get(GIVEN) or "").strip()
    user = current_user()
    st.session_state[GIVEN] = ""
    if not user.owner:
        _say(NOBODY)
        return
    if not given:
        _say(EMPTY)
        return
    try:
        right = sign_in(state_directory(), user.owner, given)
    except (OSError, ValueError):
        _say(NO_KEY)
        return
    _say("" if right else WRONG)


@uninterrupted
def _sign_out() -> None:
    _say("")
    try:
        sign_out(state_directory(), current_user().owner)
    except OSError:
        _say("Signing out failed. The terminal of the server says why.")


def _teacher_panel(store: Store, board: dict[str, str]) -> None:
    st.markdown("**You are the teacher.** You can change every run.")
    if board[PAUSED]:
        _button("Continue the queue", "pause", _post, store, PAUSED, None)
    else:
        _button("Pause the queue", "pause", _post, store, PAUSED, "1")
    lines = {}
    for run in store.runs(limit=RECENT_RUNS):
        if readable(run):
            lines[run.id] = f"{when(run.created)} {with_origin(name_of(run), run)}, {run.id}"
    if lines:
        st.selectbox("Run to show", list(lines), format_func=lines.__getitem__, key=CHOSEN)
        _button("Show it to everybody", "project", _project, store)
    if board[PROJECTED]:
        _button("Stop showing it", "unproject", _post, store, PROJECTED, None)
    _lesson_answers(store)
    with st.expander("Limits for everybody", key="limits"):
        _limits_form(store.home)
    st.text_input(
        f'Type "{WORD}" to stop and delete all runs of everybody', key=WORD_TYPED, max_chars=20
    )
    _button("Clear the store", "clear", _clear, store)


def _lesson_answers(store: Store) -> None:
    """Offer what the class answered in the lesson "Spot the fault"."""
    given = answers(store)
    if not given:
        return
    st.download_button(
        f"{len(given)} answers to “Spot the fault” as CSV",
        csv_of_answers(given),
        "spot-the-fault.csv",
        "text/csv",
        key="class_answers",
        on_click="ignore",
        width="stretch",
    )
    _button("Forget these answers", "forget_answers", _forget, store)


def _button(label: str, key: str, action: Callable[..., None], *args: object) -> None:
    st.button(label, key=key, on_click=action, args=args, width="stretch")


@by_teacher
def _post(store: Store, name: str, text: str | None) -> None:
    store.post(name, text)


@by_teacher
def _project(store: Store) -> None:
    run = st.session_state.get(CHOSEN)
    if run:
        store.post(PROJECTED, run)


@by_teacher
def _forget(store: Store) -> None:
    forget(store)


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

    A field accepts zero, which `Limits` refuses with a sentence; a browser would just ignore it.
    """
    try:
        now = limits_of(home)
    except StoreError as error:
        st.warning(f"{error} Set the limits to replace the file.")
        now = usual()
    keys = {name: f"limit_{name}_{value}" for name, value in asdict(now).items()}
    with st.form("limits_form", border=False):
        for each in fields(Limits):
            title = each.metadata["title"]
            label = title[:1].upper() + title[1:]
            value = getattr(now, each.name)
            key = keys[each.name]
            st.number_input(label, 0, each.metadata["most"], value, step=1, key=key)
        st.form_submit_button("Set the limits", on_click=_set_limits, args=(home, keys))


@by_teacher
def _set_limits(home: Path, keys: dict[str, str]) -> None:
    limits = {name: st.session_state[key] for name, key in keys.items()}
    write(home, Limits(**limits))
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
    name = name_of(watched[0].run)
    if name != described(watched[0].config):  # the bar says that
        st.text(name)
    progress_of(watched[0], "projected_bar")
    accuracy_chart(watched, CERTIFIED, "epoch", "projected_chart", CHART_HEIGHT)
