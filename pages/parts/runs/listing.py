"""The table of all runs: a page of it at a time, sorted, with its boxes to tick."""

import math
from collections.abc import Sequence

import streamlit as st

from dpcore.privacy.accountants import CERTIFIED
from dpcore.runs.expected import start_of
from dpcore.runs.record import Run
from dpcore.runs.run_table import Wanted, found, priced, runs_of
from dpcore.runs.store import Store
from dpcore.training.events import Finished
from pages.parts.components.elements import Column, runs_table, sort_asked
from pages.parts.results.costs import Spending, drawn_until_known, known_cost, learn, spending_of
from pages.parts.runs.choosing import (
    HEARD,
    Order,
    first_shown,
    order_shown,
    show_from,
    show_in_order,
    take_ticks,
    ticked_ids,
)
from pages.parts.runs.run_rows import rows
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.run_labels import MAX_RUNS

KEY = "runs_table"
AT_ONCE = 25  # rows
CHANGED = "runs_changed"  # set where a run has begun or ended
LEFT = "runs_costs_left"  # whether epsilons are still to be computed
READING = f"Epsilon is the certified one, at the delta of each run. Tick up to {MAX_RUNS} to compare them."
FULL = f"{MAX_RUNS} runs are ticked, as many as can be compared: take one out first."
TITLES = {
    "name": "Run", "status": "Status", "accuracy": "Accuracy", "epsilon": "Epsilon", "dataset": "Data",
    "model": "Model", "optimizer": "Optimizer", "sigma": "Sigma", "batch": "Batch", "epochs": "Epochs",
    "duration": "Time", "tags": "Tags", "owner": "Owner",
}  # fmt: skip
NUMBERS = ("accuracy", "epsilon", "sigma", "batch", "epochs", "duration")
ALWAYS = ("name", "status", "accuracy", "epsilon")  # on a narrow screen too


def listing(store: Store, wanted: Wanted, ticked: Sequence[str]) -> None:
    """Draw the table; its active runs keep up, and epsilons that were not known yet come as they are computed."""
    drawn_until_known(LEFT, _listed, store, wanted, tuple(ticked))


def _listed(store: Store, wanted: Wanted, ticked: tuple[str, ...]) -> int:
    if tuple(ticked_ids()) != ticked or st.session_state.pop(CHANGED, False):  # the rest of the page is out of date
        st.rerun()
    order = order_shown()
    runs, total, left = _runs(store, wanted, order)
    if not total:
        st.info(_nothing(wanted))
        return left
    tests = store.latest_tests([run.id for run in runs if not isinstance(run.last, Finished)])
    starts = {run.id: start_of(store, run.id) for run in runs if run.position}
    runs_table(
        "Runs",
        _columns(runs, order),
        rows(runs, tests, ticked, starts),
        key=KEY,
        most=MAX_RUNS,
        elsewhere=len(set(ticked) - {run.id for run in runs}),
        full=FULL,
        heard=st.session_state.get(HEARD, 0),
        ticked=lambda: take_ticks(store, KEY),
        sorted_by=_sort,
        changed=_note_change,
    )
    _turning(total, left)
    return left


def _runs(store: Store, wanted: Wanted, order: Order) -> tuple[list[Run], int, int]:
    """The runs of this page of the table, how many are wanted in all, and how many epsilons are still unknown."""
    if order.by == "epsilon":
        return _by_epsilon(store, wanted, order)
    ask = lambda: found(store, wanted, order.by, descending=order.descending, limit=AT_ONCE, offset=_offset())  # noqa: E731
    runs, total = ask()
    if not runs and total:  # fewer than there were
        show_from(0)
        runs, total = ask()
    return runs, total, learn(filter(None, (spending_of(run, CERTIFIED) for run in runs)))


def _by_epsilon(store: Store, wanted: Wanted, order: Order) -> tuple[list[Run], int, int]:
    """Epsilon is no column of the store: it follows from the plan and the steps, so all are priced and then sorted.

    Runs that have none, or none that is known yet, come last.
    """
    listed = priced(store, wanted)
    asked = {each.id: Spending(CERTIFIED, *each[1:]) for each in listed if each.plan}
    left = learn(asked.values())
    costs = {run: cost.epsilon for run, each in asked.items() if (cost := known_cost(each))}
    way = -1 if order.descending else 1
    ids = [each.id for each in listed][::-way]  # among equals the newest first where the order descends
    ids.sort(key=lambda run: (run not in costs, way * costs.get(run, 0.0)))
    first = min(_offset(), max(len(ids) - 1, 0) // AT_ONCE * AT_ONCE)
    return runs_of(store, ids[first : first + AT_ONCE]), len(ids), left


def _offset() -> int:
    return first_shown() // AT_ONCE * AT_ONCE


def _columns(runs: Sequence[Run], order: Order) -> list[Column]:
    """Those that say something of these runs."""
    empty = {"tags": not any(run.tags for run in runs), "owner": not any(run.owner for run in runs)}
    return [_column(name, order) for name in TITLES if not empty.get(name)]


def _column(name: str, order: Order) -> Column:
    kinds = ["number"] * (name in NUMBERS) + ["minor"] * (name not in ALWAYS)
    way = ("descending" if order.descending else "ascending") if order.by == name else ""
    return Column(name, TITLES[name], " ".join(kinds), sorts=name != "tags", sorted=way)


def _note_change() -> None:
    st.session_state[CHANGED] = True


@uninterrupted
def _sort() -> None:
    asked = sort_asked(KEY)
    if asked in TITLES and asked != "tags":
        show_in_order(asked, descending=asked in NUMBERS)


def _nothing(wanted: Wanted) -> str:
    if wanted != Wanted():
        return "No run is like that. Take back a filter, and the others are listed again."
    return "There is no run here yet. Start one on the page Train or in the Lab: it is listed here at once."


def _turning(total: int, left: int) -> None:
    """How many runs there are, and the buttons that turn to others."""
    first = _offset()
    last = min(first + AT_ONCE, total)
    row = st.container(horizontal=True, vertical_alignment="center")
    pages = math.ceil(total / AT_ONCE)
    coming = f" {left:,} epsilons are still computed." if left else ""
    row.caption(f"Runs {first + 1:,} to {last:,} of {total:,}.{coming} {READING}")
    if pages > 1:
        row.button("Previous", key="runs_before", on_click=show_from, args=(first - AT_ONCE,), disabled=first == 0)
        row.button("Next", key="runs_after", on_click=show_from, args=(last,), disabled=last >= total)
