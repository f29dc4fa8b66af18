"""The audit that is shown: the address names it, a button begins one, and it can be cancelled."""

from collections.abc import Sequence

import streamlit as st

from dpcore.audit.request import AuditRequest
from dpcore.check import verbatim
from dpcore.runs import within_limits
from dpcore.runs.access import NOBODY, may_start, why_not
from dpcore.runs.expected import duration
from dpcore.runs.kinds import AUDIT, TRAINING
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from pages.parts.audit.audit_results import expected_seconds
from pages.parts.audit.audited_run import take_settings_of
from pages.parts.audit.request_form import Asked
from pages.parts.controls.faults import say_once
from pages.parts.shell.streamlit_internals import restoring, uninterrupted
from pages.parts.visitors import current_user, may_change

PARAMETER = "run"
SHOWN = "audit_shown"  # the id, empty for none
PROBLEM = "audit_problem"
STARTED = "audits_started"  # ids of those that were begun here
ANOTHER = "An audit goes on: wait for its end, or cancel it."


def audit_button(asked: Asked, store: Store | None, past: Sequence[Run]) -> None:
    """Draw the button, with the time that pressing it takes where that is known, or why it cannot be pressed."""
    seconds = expected_seconds(asked.request, past) if asked.request else None
    busy = store is not None and _active(store) is not None
    st.button(
        f"Audit · about {duration(max(seconds, 1))}" if seconds is not None else "Audit",
        key="audit",
        type="primary",
        icon=":material/policy:",
        disabled=store is None or asked.request is None or busy,
        on_click=begin,
        args=(store, asked.request),
        width="stretch",
    )
    if asked.problem:
        st.error(asked.problem)
    elif busy:
        st.caption(ANOTHER)


@uninterrupted
def begin(store: Store, request: AuditRequest) -> None:
    """Queue an audit and show it. While one goes on no other is begun, as the page says beside the button."""
    if _active(store) is not None:
        return
    if not may_start(user := current_user()):
        st.session_state[PROBLEM] = NOBODY
        return
    try:
        (st.session_state[SHOWN],) = within_limits.submit(store, [(request, "")], user.owner)
        _mine().add(st.session_state[SHOWN])
    except (StoreError, ValueError) as error:
        st.session_state[PROBLEM] = str(error)


def begun_here(run: str) -> bool:
    """Whether this session began the audit."""
    return run in _mine()


@uninterrupted
def cancel(store: Store, run: str) -> None:
    """Ask the audit to stop."""
    try:
        if may_change(store.run(run)):
            store.cancel(run)
        else:
            st.session_state[PROBLEM] = why_not(current_user(), "cancel")
    except (StoreError, UnknownRun) as error:
        st.session_state[PROBLEM] = str(error)


def shown(store: Store) -> Run | None:
    """The audit to show, if there is one; of a finished training run that the address names the settings are taken."""
    say_once(PROBLEM)
    if restoring() or SHOWN not in st.session_state:
        st.session_state[SHOWN] = st.query_params.get(PARAMETER, "")
    run = _found(store, st.session_state[SHOWN])
    if run is None:
        st.session_state[SHOWN] = ""
        st.query_params.pop(PARAMETER, None)
    elif st.query_params.get_all(PARAMETER) != [run.id]:
        st.query_params[PARAMETER] = run.id
    return run


def _found(store: Store, asked: str) -> Run | None:
    if not asked:
        return None
    run = None
    try:
        run = store.run(asked)
    except UnknownRun:
        pass
    except StoreError as error:
        st.error(str(error))
    if run is not None and run.kind == AUDIT.name:
        return run
    if run is not None and run.kind == TRAINING.name and run.status is Status.FINISHED:
        take_settings_of(run.id)
        return None
    named = verbatim(f"{PARAMETER}={asked}")
    st.warning(
        f"Expected {named} to be an audit on this machine, or a finished training run to audit; it may have been made "
        "elsewhere."
    )
    return None


def _mine() -> set[str]:
    return st.session_state.setdefault(STARTED, set())


def _active(store: Store) -> Run | None:
    """The audit that is shown, or was begun here, and goes on."""
    for name in (st.session_state.get(SHOWN, ""), *_mine()):
        try:
            run = store.run(name)
        except (UnknownRun, StoreError):
            continue
        if run.active and run.kind == AUDIT.name:
            return run
    return None
