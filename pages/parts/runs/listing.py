"""The table of all runs: a page of it at a time, sorted, with its boxes to tick."""

import math
import time
from collections.abc import Mapping, Sequence

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import marked, percent, value_text
from dpcore.runs.editing import done_by
from dpcore.runs.expected import duration, start_of
from dpcore.runs.in_words import name_of, state_of, status_of
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run
from dpcore.runs.run_table import Wanted, found, priced, runs_of
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated, Finished
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.components.elements import Column, Row, runs_table, text_sent
from pages.parts.results.costs import Spending, drawn_until_known, known_cost, learn, spending_of, told_later
from pages.parts.runs import choosing
from pages.parts.runs.choosing import Order, order_shown, owner_told, show_from, take_ticks
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.run_labels import MAX_RUNS

KEY = "runs_table"
AT_ONCE = 25  # rows
CHANGED = "runs_changed"  # set where a run has begun or ended
LEFT = "runs_costs_left"  # whether epsilons are still to be computed
READING = f"Epsilon is the certified one, at the delta of each run. Tick up to {MAX_RUNS} to compare them."
LATER = "once it has ended"  # told of an epsilon that takes long to compute
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
    drawn_until_known(LEFT, _drawn, store, wanted, tuple(ticked))


def _drawn(store: Store, wanted: Wanted, ticked: tuple[str, ...]) -> int:
    if tuple(choosing.ticked_ids()) != ticked or st.session_state.pop(
        CHANGED, False
    ):  # the rest of the page is out of date
        st.rerun()
    order = order_shown()
    runs, total, left = _runs(store, wanted, order)
    if not total:
        st.info(_nothing(wanted))
        return left
    tests = store.latest_tests([run.id for run in runs if not isinstance(run.last, Finished)])
    starts = {run.id: start_of(store, run.id) for run in runs if run.position}
    runs_table(
        _columns(runs, order),
        [row(run, tests.get(run.id), run.id in ticked, starts.get(run.id, "")) for run in runs],
        key=KEY,
        most=MAX_RUNS,
        elsewhere=len(set(ticked) - {run.id for run in runs}),
        full=FULL,
        heard=st.session_state.get(choosing.HEARD, 0),
        ticked=lambda: take_ticks(store, KEY),
        sorted_by=_sort,
        changed=lambda: st.session_state.update({CHANGED: True}),
    )
    _turning(total, left)
    return left


def row(run: Run, test: Evaluated | None, ticked: bool, starts: str) -> Row:
    """A run in words as it stands now, with its latest test; `starts` says when a queued one is expected to begin."""
    cells = {"name": name_of(run), "status": status_of(run), **_settings(run)}
    accuracy = getattr(run.last, "accuracy", test.accuracy if test else None)
    took = "" if run.started is None else duration(max((run.ended or time.time()) - run.started, 0))
    cells |= {"accuracy": "" if accuracy is None else percent(accuracy), "epsilon": _epsilon(run)}
    cells |= {"duration": took, "tags": ", ".join(run.tags), "owner": owner_told(run.owner)}
    state = state_of(run, starts) if run.active else None
    return Row(run.id, cells, ticked, run.sequence, done_by(run) or 0, _steps(run), state)


def _steps(run: Run) -> int:
    try:
        return run.plan.steps if run.kind == TRAINING.name else 0
    except (ValueError, TypeError, KeyError, RuntimeError):
        return 0


def _settings(run: Run) -> dict[str, str]:
    """The settings that have a column, as they are stored: another version may have others."""
    stored: Mapping[str, object] = run.settings
    dataset, optimizer = stored.get("dataset", ""), stored.get("optimizer", "")
    cells = {"dataset": DATASETS[dataset].title if dataset in DATASETS else str(dataset)}
    cells["model"] = str(stored.get("model", ""))
    if run.kind != TRAINING.name:
        return cells
    cells["optimizer"] = OPTIMIZERS[optimizer].title if optimizer in OPTIMIZERS else str(optimizer)
    for name in ("sigma", "batch", "epochs"):
        cells[name] = "" if stored.get(name) is None else value_text(stored[name])
    return cells if stored.get("private", True) else cells | {"sigma": "no privacy"}


def _epsilon(run: Run) -> str:
    spending = spending_of(run, CERTIFIED)
    if spending is None:
        return ""
    if cost := known_cost(spending):
        return marked(cost.epsilon, cost.kind)
    return LATER if told_later(spending) else ""


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
    return choosing.first_shown() // AT_ONCE * AT_ONCE


def _columns(runs: Sequence[Run], order: Order) -> list[Column]:
    """Those that say something of these runs."""
    empty = {"tags": not any(run.tags for run in runs), "owner": not any(run.owner for run in runs)}
    return [_column(name, order) for name in TITLES if not empty.get(name)]


def _column(name: str, order: Order) -> Column:
    kinds = ["number"] * (name in NUMBERS) + ["minor"] * (name not in ALWAYS)
    way = ("descending" if order.descending else "ascending") if order.by == name else ""
    return Column(name, TITLES[name], " ".join(kinds), sorts=name != "tags", sorted=way)


@uninterrupted
def _sort() -> None:
    asked = text_sent(KEY, "sorted")
    if asked in TITLES and asked != "tags":
        choosing.show_in_order(asked, descending=asked in NUMBERS)


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
