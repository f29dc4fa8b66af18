"""What is shown of the ticked runs, or of all: one thing at a time."""

from typing import Any

import streamlit as st

from dpcore.runs.kinds import AUDIT, PERTURBATION
from dpcore.runs.run_table import Wanted
from dpcore.runs.store import Store
from pages.parts.controls.widgets import accountant_choice, choice_of
from pages.parts.runs.choosing import Chosen
from pages.parts.runs.classes import show_classes
from pages.parts.runs.differences import show_differences
from pages.parts.runs.sweep_result import show_sweep
from pages.parts.runs.tradeoffs import show_tradeoffs
from pages.parts.shell.menu import link
from pages.parts.train.live import watch

TICK = "Tick a run in the table: what it reached, what it spent and how it was trained is shown here."
COMPARISON = "A ticked comparison of methods has its charts on another page:"
AUDITED = "What a ticked audit found stands on another page:"
NO_CHART = (
    "Another version of this program made a ticked run: it can be renamed and deleted here, but no chart can show it."
)
VIEWS = ("progress", "classes", "settings", "accuracy and epsilon", "sweep")


def compare(store: Store, chosen: Chosen, wanted: Wanted) -> None:
    """Draw the choice of what to look at, and that."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    what = choice_of(row, "Show", VIEWS, "show", wrap=True)
    if what == "accuracy and epsilon":
        show_tradeoffs(store, wanted, _accountant(row))
    elif what == "sweep":
        show_sweep(store, wanted)
    elif not chosen.every:
        st.info(TICK)
    elif what == "settings":
        show_differences(chosen)
    else:
        _without_charts(chosen)
        if chosen.charted and what == "classes":
            show_classes(store, chosen.charted)
        elif chosen.charted:
            _progress(store, chosen, row)


def _progress(store: Store, chosen: Chosen, row: Any) -> None:
    x = choice_of(row, "Accuracy against", ("epoch", "epsilon"), "x")
    watch(store, [run.id for run in chosen.charted], _accountant(row), x)


def _accountant(row: Any) -> str:
    with row.container(width=250):
        return accountant_choice("Epsilon by", "by")


def _without_charts(chosen: Chosen) -> None:
    """Where else to look at what no chart of this page can show."""
    comparisons = [run for run in chosen.others if run.kind == PERTURBATION.name]
    if comparisons:
        st.markdown(COMPARISON)
        link("pages/perturbation.py", "Perturbation", {"comparison": comparisons[0].id})
    audits = [run for run in chosen.others if run.kind == AUDIT.name]
    if audits:
        st.markdown(AUDITED)
        link("pages/audit.py", "Audit", {"run": audits[0].id})
    if len(comparisons) + len(audits) < len(chosen.others):
        st.info(NO_CHART)
