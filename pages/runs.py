"""The page Runs: all runs in a table, the ticked ones compared; or one run, whole."""

import math

import streamlit as st

from dpcore.runs.record import StoreError, UnknownRun
from dpcore.runs.run_table import Wanted, counted
from dpcore.runs.store import Store
from pages.parts.jobs import opened_store
from pages.parts.layout import page_columns
from pages.parts.page_change import move_on
from pages.parts.papers.opening import open_link
from pages.parts.runs.actions import actions, paused_line
from pages.parts.runs.comparing import compare
from pages.parts.runs.examples import show_examples
from pages.parts.runs.exporting import export_box, import_box
from pages.parts.runs.listing import bound_on_epsilon, chosen_runs, ids_of, listing, wanted_runs
from pages.parts.runs.sweeps import sweep_form
from pages.parts.runs.whole import show_whole
from pages.parts.train.followed_run import redraw_when_one_begins
from pages.parts.train.run_picker import WHOLE

left, right = page_columns("Which of my runs is best, and what did each cost?", open_link)


def all_runs(store: Store) -> None:
    """Draw the table of all runs, and the comparison of those that are ticked."""
    empty = not counted(store, "status")
    with left:
        wanted = Wanted()
        bound = math.inf
        if not empty:
            wanted = wanted_runs(store)
            bound = bound_on_epsilon()
    with right, st.container(key="answer_first"):
        chosen = chosen_runs(store)
        paused_line(store)
        if empty:
            show_examples()
        else:
            listing(store, wanted, ids_of(chosen.every), bound)
            actions(store, chosen)
            if chosen.every or counted(store, "status", wanted):
                compare(store, chosen, wanted)
    with left:
        sweep_form(store, chosen)
        if chosen.charted:
            export_box(store, ids_of(chosen.charted))
        import_box(store)
    redraw_when_one_begins(store)


move_on()
store = opened_store(right)
if store is None:
    st.stop()
try:
    if WHOLE.value:
        show_whole(store, WHOLE.value, left, right)
    else:
        all_runs(store)
except (StoreError, UnknownRun) as error:
    right.error(str(error))
