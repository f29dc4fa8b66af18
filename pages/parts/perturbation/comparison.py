"""The comparison that is shown: the address names it, a button begins one, and it can be cancelled."""

from collections.abc import Sequence

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs import within_limits
from dpcore.runs.access import NOBODY, may_start, why_not
from dpcore.runs.expected import duration
from dpcore.runs.kinds import PERTURBATION
from dpcore.runs.record import Run, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.perturbation.request import Request
from pages.parts.controls.faults import UNDER_WAY, say_once
from pages.parts.perturbation.request_form import Asked
from pages.parts.perturbation.results import expected_seconds
from pages.parts.shell.streamlit_internals import restoring, uninterrupted
from pages.parts.visitors import current_user, may_change

PARAMETER = "comparison"
SHOWN = "comparison_shown"  # the id, empty for none
PROBLEM = "comparison_problem"
STARTED = "comparisons_started"  # ids of those that were begun here


def compare_button(asked: Asked, store: Store | None, past: Sequence[Run]) -> None:
    """Draw the button, with the time that pressing it takes where that is known, or why it cannot be pressed."""
    seconds = expected_seconds(asked.request, past) if asked.request else None
    st.button(
        f"Compare · about {duration(max(seconds, 1))}" if seconds is not None else "Compare",
        key="compare",
        type="primary",
        icon=":material/play_arrow:",
        disabled=store is None or asked.request is None,
        on_click=begin,
        args=(store, asked.request),
        width="stretch",
    )
    if asked.problem:
        st.info(asked.problem)
    elif seconds is None:
        st.caption("These data have not been compared here yet: how long that takes is not known.")


@uninterrupted
def begin(store: Store, request: Request) -> None:
    """Queue a comparison and show it; one that is shown and still under way is not begun again."""
    if not may_start(user := current_user()):
        st.session_state[PROBLEM] = NOBODY
        return
    try:
        now = _active(store)
        if now is not None and now.settings == request.to_json():
            st.session_state[PROBLEM] = UNDER_WAY
            return
        (st.session_state[SHOWN],) = within_limits.submit(store, [(request, "")], user.owner)
        if now is not None and now.id in _mine() and may_change(now):  # nobody waits for it any more
            store.cancel(now.id)
        _mine().add(st.session_state[SHOWN])
    except (StoreError, ValueError) as error:
        st.session_state[PROBLEM] = str(error)


def begun_here(run: str) -> bool:
    """Whether this session began the comparison."""
    return run in _mine()


@uninterrupted
def cancel(store: Store, run: str) -> None:
    """Ask the comparison to stop."""
    try:
        if may_change(store.run(run)):
            store.cancel(run)
        else:
            st.session_state[PROBLEM] = why_not(current_user(), "cancel")
    except (StoreError, UnknownRun) as error:
        st.session_state[PROBLEM] = str(error)


def shown(store: Store) -> Run | None:
    """The comparison to show, if there is one; what the address names in vain is said."""
    say_once(PROBLEM)
    if restoring() or SHOWN not in st.session_state:
        st.session_state[SHOWN] = st.query_params.get(PARAMETER, "")
    run, asked = None, st.session_state[SHOWN]
    if asked:
        try:
            run = store.run(asked)
        except UnknownRun:
            run = None
        except StoreError as error:
            st.error(str(error))
        if run is None or run.kind != PERTURBATION.name:
            named = verbatim(f"{PARAMETER}={asked}")
            st.warning(f"Expected {named} to be a comparison on this machine; it may have been made elsewhere.")
            st.session_state[SHOWN], run = "", None
    if run is None:
        st.query_params.pop(PARAMETER, None)
    elif st.query_params.get(PARAMETER) != run.id:
        st.query_params[PARAMETER] = run.id
    return run


def request_of(run: Run | None) -> Request | None:
    """What was compared; None for nothing, and for a comparison of another version, of which its panel speaks."""
    try:
        return run.request if run else None
    except (ValueError, TypeError):
        return None


def _mine() -> set[str]:
    return st.session_state.setdefault(STARTED, set())


def _active(store: Store) -> Run | None:
    try:
        run = store.run(st.session_state.get(SHOWN, ""))
    except UnknownRun:
        return None
    return run if run.active else None
