"""The audits that were made on this machine before: any of them can be looked at again."""

from collections.abc import Sequence

import streamlit as st

from dpcore.audit.request import AuditRequest
from dpcore.runs.in_words import when
from dpcore.runs.record import Run, Status
from pages.parts.audit.shown_audit import SHOWN
from pages.parts.shell.streamlit_internals import uninterrupted

RECENT = 50  # audits to choose from
KEY = "audit_chosen"  # the key of the widget that is drawn


def request_of(run: Run | None) -> AuditRequest | None:
    """What was audited; None for nothing, and for an audit of another version."""
    try:
        return run.request if run else None
    except (ValueError, TypeError):
        return None


def earlier_audits(past: Sequence[Run], shown: Run | None) -> None:
    """Draw the choice of another audit, where there is one; another audit, or status of it, has another widget."""
    known = {run.id: run for run in (*([shown] if shown else []), *past[:RECENT]) if request_of(run)}
    if not known or (shown and list(known) == [shown.id]):
        return
    ids = list(known)
    key = f"{KEY}_{shown.id}_{shown.status}" if shown else f"{KEY}_none"
    st.session_state[KEY] = key
    st.selectbox(
        "Audit shown",
        ids,
        index=ids.index(shown.id) if shown and shown.id in known else None,
        format_func=lambda run: audit_line(known[run]),
        key=key,
        placeholder="Choose one that was made before",
        on_change=_choose,
        args=(key, ids),
    )


def audit_line(run: Run) -> str:
    """What was audited, in a line that tells it from the others."""
    ended = "" if run.status is Status.FINISHED else f", {run.status}"
    return f"{run.request.title.removeprefix('Audit of ')} ({when(run.created)}{ended})"


@uninterrupted
def _choose(key: str, ids: Sequence[str]) -> None:
    """Show what the widget says, if it is the one that is drawn, and says one of its own options."""
    chosen = st.session_state.get(key)
    if key == st.session_state.get(KEY) and chosen in ids:
        st.session_state[SHOWN] = chosen
