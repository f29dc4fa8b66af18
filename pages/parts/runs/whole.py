"""One run, whole: its progress, measurements, settings and origin, in place of the table."""

from typing import Any

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.plain_text import escaped
from dpcore.runs.record import Status, UnknownRun
from dpcore.runs.store import Store
from pages.parts.cancelling import say_outcome
from pages.parts.runs.comparing import (
    link_elsewhere,
    names_in_table,
    show_differences,
    show_mistakes,
    show_progress,
)
from pages.parts.runs.exporting import export_box
from pages.parts.runs.listing import Chosen
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.run_history import watched_runs
from pages.parts.train.run_picker import WHOLE, can_be_charted, shown_whole


def show_whole(store: Store, asked: str, left: Any, right: Any) -> None:
    """Draw all that is known of the run with this id, in the two columns of the page."""
    left.button("All runs", icon=":material/arrow_back:", key="all_runs", on_click=_close)
    with right:
        say_outcome()
        try:
            run = store.run(asked)
        except UnknownRun:
            named = verbatim(f"{WHOLE.name}={asked}")
            st.warning(f"This machine has no {named}. It may have been deleted, or made elsewhere.")
            return
        row = st.container(horizontal=True, vertical_alignment="center")
        names = names_in_table(store, [run])
        row.header(escaped(names[run.id]), anchor=False)
        if not can_be_charted(run):
            others = Chosen([], [run])
            link_elsewhere(others)
            show_differences(others, names)
            return
        show_progress(store, [run.id], row, shown_whole)
        if run.status is Status.FINISHED and not run.followed:
            st.subheader("Mistakes on the test set", anchor=False)
            show_mistakes(watched_runs(store, [run.id])[0])
        show_differences(Chosen([run], []), names)
    with left:
        export_box(store, [run.id])


@uninterrupted
def _close() -> None:
    """Show the table of all runs again. As a callback."""
    WHOLE.set("")
