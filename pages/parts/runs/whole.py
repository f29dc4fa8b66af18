"""One run, whole: its progress, measurements, settings and origin, in place of the table."""

from typing import Any

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.in_words import name_of
from dpcore.runs.plain_text import escaped
from dpcore.runs.record import Run, Status, UnknownRun
from dpcore.runs.store import Store
from pages.parts.jobs import say_outcome
from pages.parts.runs.comparing import (
    link_elsewhere,
    show_differences,
    show_mistakes,
    show_progress,
)
from pages.parts.runs.exporting import export_box
from pages.parts.runs.listing import Chosen
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.run_history import watched_runs
from pages.parts.train.run_picker import WHOLE, can_be_charted, shown_whole


def whole_run(store: Store) -> Run | None:
    """The run to show whole, if any; an unknown one in the address is reported."""
    asked = WHOLE.value
    if not asked:
        return None
    try:
        return store.run(asked)
    except UnknownRun:
        named = verbatim(f"{WHOLE.name}={asked}")
        st.warning(f"This machine has no {named}. It may have been deleted, or made elsewhere.")
        WHOLE.set("")
        return None


def show_whole(store: Store, run: Run, left: Any, right: Any) -> None:
    """Draw all that is known of a run, in the two columns of the page."""
    charted = can_be_charted(run)
    with left:
        st.button("All runs", icon=":material/arrow_back:", key="all_runs", on_click=_close)
        if charted:
            export_box(store, [run.id])
    with right:
        say_outcome()
        row = st.container(horizontal=True, vertical_alignment="center")
        row.header(escaped(name_of(run)), anchor=False)
        chosen = Chosen([run], []) if charted else Chosen([], [run])
        if charted:
            show_progress(store, [run.id], row, shown_whole)
        else:
            link_elsewhere(chosen)
        if charted and run.status is Status.FINISHED:
            show_mistakes(watched_runs(store, [run.id])[0])
        show_differences(chosen)


@uninterrupted
def _close() -> None:
    """Show the table of all runs again. As a callback."""
    WHOLE.set("")
