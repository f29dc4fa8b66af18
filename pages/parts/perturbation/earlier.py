"""The comparisons that were made on this machine before: any of them can be looked at again."""

from collections.abc import Sequence

import streamlit as st

from dpcore.data.tabular import TABLES
from dpcore.runs.in_words import when
from dpcore.runs.record import Run, Status
from dpcore.training.perturbation.models import MODELS
from pages.parts.perturbation.comparison import SHOWN, request_of
from pages.parts.shell.streamlit_internals import uninterrupted

RECENT = 50  # comparisons to choose from
KEY = "comparison_chosen"  # the key of the widget that is drawn


def earlier_comparisons(past: Sequence[Run], shown: Run | None) -> None:
    """Draw the choice of another comparison, where there is one.

    Another comparison, and another status of it, has a widget of its own: what a browser says that has not heard of the
    change is then not taken for a choice.
    """
    known = {run.id: run for run in (*([shown] if shown else []), *past[:RECENT]) if request_of(run)}
    if not known or (shown and list(known) == [shown.id]):
        return
    ids = list(known)
    key = f"{KEY}_{shown.id}_{shown.status}" if shown else f"{KEY}_none"
    st.session_state[KEY] = key
    st.selectbox(
        "Comparison shown",
        ids,
        index=ids.index(shown.id) if shown and shown.id in known else None,
        format_func=lambda run: line_of(known[run]),
        key=key,
        placeholder="Choose one that was made before",
        on_change=_choose,
        args=(key, ids),
    )


def line_of(run: Run) -> str:
    """What was compared, in a line that tells it from the others."""
    request = run.request
    data = TABLES[request.dataset].title
    pair = f" ({' or '.join(request.classes)})" if request.classes else ""
    count = len(request.methods)
    methods = f"{count} methods" if count > 1 else "one method"
    low, high = min(request.epsilons), max(request.epsilons)
    epsilons = f"epsilon {low:g} to {high:g}" if high > low else f"epsilon {low:g}"
    ended = "" if run.status is Status.FINISHED else f", {run.status}"
    return f"{data}{pair}, {MODELS[request.model].title.lower()}, {methods}, {epsilons} ({when(run.created)}{ended})"


@uninterrupted
def _choose(key: str, ids: Sequence[str]) -> None:
    """Show what the widget says, if it is the one that is drawn, and says one of its own options."""
    chosen = st.session_state.get(key)
    if key == st.session_state.get(KEY) and chosen in ids:
        st.session_state[SHOWN] = chosen
