"""The table of all runs: filters, order, pages, ticks, and the best run."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from dpcore.check import verbatim
from dpcore.data.catalogue import DATASETS
from dpcore.data.tabular import TABLES
from dpcore.privacy import words_in
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import Reading
from dpcore.privacy.report.numbers import marked, percent, value_text
from dpcore.runs import run_table
from dpcore.runs.expected import duration, start_of
from dpcore.runs.in_words import name_of, state_of, status_of, steps_of
from dpcore.runs.kinds import AUDIT, PERTURBATION, TRAINING
from dpcore.runs.record import Run, Status
from dpcore.runs.run_table import Wanted, runs_of
from dpcore.runs.store import Store
from dpcore.runs.sweeps import can_be_read
from dpcore.training.events import Evaluated, Finished, Preparing
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.components.elements import Row, runs_table, text_sent, ticks
from pages.parts.controls.url_state import Remembered, assign, keep, page_text, write_ids
from pages.parts.controls.widgets import choice_of, several, text_field
from pages.parts.results import costs
from pages.parts.results.costs import (
    Spending,
    drawn_until_known,
    known_cost,
    learn,
    spending_of,
    told_later,
)
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train import run_picker
from pages.parts.train.run_labels import MAX_RUNS
from pages.parts.visitors import current_user

WORDS = words_in(Path(__file__).with_name("words.toml"))
MAX_FIND_CHARS = 200
ALL = ""
ANY, BOUNDS = "any", ("any", "1", "2", "4", "8")  # epsilons that the best run may have at most
STAR = "★"
SORT, FIRST = Remembered("sort", "-started"), Remembered("first", "0")  # "-" means descending
KNOWN = (*run_table.ORDERS, "epsilon")
OTHERS = "runs_not_charted"  # ids of the ticked runs without a chart
HEARD = "runs_ticked_last"  # number of the last tick that counted
KEY = "runs_table"
AT_ONCE = 25  # rows
CHANGED = "runs_changed"  # set once a run has started or ended
LEFT = "runs_costs_left"  # whether epsilons are still being computed
MAX_RUNS_JUDGED = 500  # finished ones, the latest: among them is the best
READING = (
    f"Epsilon is certified, at each run's own delta. Tick up to {MAX_RUNS} runs to compare them."
)
LATER = "once it has ended"  # in place of an epsilon that takes long to compute
NOTHING = "No run matches. Remove a filter to see the others."
FULL = f"You can compare {MAX_RUNS} runs at once. Untick one first."
MODELS, COLUMNS = WORDS["models"], WORDS["columns"]
OTHER_JOBS = {PERTURBATION.name: "comparison", AUDIT.name: "audit"}
ONE_RUN, BEST_OF = "Epsilon as one run", COLUMNS["best"]["title"]


def wanted_runs(store: Store) -> Wanted:
    """Draw the filters and return them."""
    text = text_field(
        st, "Find", "find", MAX_FIND_CHARS, placeholder="name, tag, note, setting or id"
    )
    pills = st.container()
    tag = _one_of("Tag", "tag", run_table.tags_of(store), str)
    sweeps = run_table.sweeps_of(store)
    sweep = _one_of("Sweep", "sweep", list(sweeps), lambda each: sweeps[each])
    owner = _one_of("Owner", "owner", run_table.owners_of(store), owner_told)
    wanted = Wanted(text, (), tag, sweep, owner)
    counts = run_table.counted(store, "status", wanted)
    title = lambda each: f"{each} {counts.get(each, 0):,}"  # noqa: E731
    return replace(
        wanted,
        statuses=several(pills, "Status", [each.value for each in Status], "status", (), title),
    )


def owner_told(owner: str) -> str:
    """The owner of a run: "you" or a part of the id; empty with a single user."""
    return "you" if owner and owner == current_user().owner else owner[:6]


def _one_of(label: str, key: str, options: Sequence[str], said: Callable[[str], str]) -> str:
    """Draw the choice of one option or all, if there are options."""
    asked = [each for each in st.query_params.get_all(key) if each]
    if not options and not asked:
        return ALL
    if asked and asked[0] not in options:
        st.caption(f"No run here has {verbatim(f'{key}={asked[0]}')}.")
    wanted = page_text(key, ALL)
    assign(key, wanted if wanted in options else ALL)  # its last run may be gone
    titles = {ALL: "all", **{each: said(each) for each in options}}
    shown = lambda each: titles.get(each, "") or verbatim(each)  # noqa: E731
    chosen = st.selectbox(label, [*titles], key=key, format_func=shown, persist_state="session")
    write_ids(key, [chosen] if chosen else [], [])
    keep(key, chosen)
    return chosen


class Order(NamedTuple):
    """The column that sorts the table, and the direction."""

    by: str
    descending: bool


def order_shown() -> Order:
    """The chosen order of the table, or else the newest runs first."""
    by = SORT.value.removeprefix("-")
    return Order(by, SORT.value.startswith("-")) if by in KNOWN else Order(SORT.default[1:], True)


def show_from(first: int) -> None:
    """Start the table after so many runs; as a callback."""
    FIRST.set(str(max(first, 0)))


class Chosen(NamedTuple):
    """The ticked runs."""

    charted: list[Run]
    others: list[Run]  # other kinds of jobs, or of another version

    @property
    def every(self) -> list[Run]:
        return [*self.charted, *self.others]


def chosen_runs(store: Store) -> Chosen:
    """The ticked runs as they are now; unknown ones in the address are reported."""
    run_picker.settle(known := run_picker.known_runs(store))
    others = runs_of(store, st.session_state.get(OTHERS, []))
    st.session_state[OTHERS] = [run.id for run in others]  # without deleted ones
    return Chosen([known[run] for run in run_picker.shown_runs()], others)


def ticked_now(store: Store) -> Chosen:
    """The runs that are ticked by now, of those that are still there; for a callback."""
    known = run_picker.known_runs(store)
    charted = [known[run] for run in run_picker.shown_runs() if run in known]
    return Chosen(charted, runs_of(store, st.session_state.get(OTHERS, [])))


@uninterrupted
def take_ticks(store: Store) -> None:
    """Tick what is ticked in the table; as a callback."""
    number, runs = ticks(KEY)
    if number > st.session_state.get(HEARD, 0):
        st.session_state[HEARD] = number
        tick_only(runs_of(store, runs[:MAX_RUNS]))


def tick_only(runs: Sequence[Run]) -> None:
    run_picker.show([run.id for run in runs if run_picker.can_be_charted(run)])
    st.session_state[OTHERS] = [run.id for run in runs if not run_picker.can_be_charted(run)]


def bound_on_epsilon() -> float:
    """Draw the choice of the epsilon that the best run may have."""
    bound = choice_of(st, "Best run at epsilon up to", BOUNDS, "within")
    return math.inf if bound == ANY else float(bound)


def listing(store: Store, wanted: Wanted, ticked: Sequence[str], bound: float) -> None:
    """Draw the best runs and the table; active runs keep up, and epsilons come as they are
    computed.
    """
    drawn_until_known(LEFT, _drawn, store, wanted, tuple(ticked), bound)


def _drawn(store: Store, wanted: Wanted, ticked: tuple[str, ...], bound: float) -> int:
    now = (*run_picker.shown_runs(), *st.session_state.get(OTHERS, []))
    if now != ticked or st.session_state.pop(CHANGED, False):  # the page is out of date
        st.rerun()
    order = order_shown()
    runs, total, left = _runs(store, wanted, order)
    if not total:
        st.info(NOTHING)
        return left
    finished = run_table.ended(store, wanted, MAX_RUNS_JUDGED)
    best, coming = _best(finished, bound)
    among = f", among the latest {MAX_RUNS_JUDGED} runs" if len(finished) == MAX_RUNS_JUDGED else ""
    st.header(f"{said_of_best(best, bound)}{among}", anchor=False)
    tests = store.latest_tests([run.id for run in runs if not isinstance(run.last, Finished)])
    starts = {run.id: start_of(store, run.id) for run in runs if run.position}
    stars = {each.id for each, _ in best.values()}
    price = _price(runs_of(store, ticked))
    rows = [
        row(run, tests.get(run.id), starts.get(run.id, ""), best=run.id in stars) for run in runs
    ]
    for each in filter(lambda each: each.id in ticked and price, rows):
        each.cells["best"] = price
    ticking = {
        "ticked": ticked,
        "most": MAX_RUNS,
        "full": FULL,
        "heard": st.session_state.get(HEARD, 0),
    }
    changed = lambda: st.session_state.update({CHANGED: True})  # noqa: E731
    calls = {"ticked": partial(take_ticks, store), "sorted": _sort, "changed": changed}
    runs_table(columns_of(runs, order, best=bool(price)), rows, key=KEY, ticking=ticking, **calls)
    _turning(total, left, run_table.counted(store, "kind", wanted))
    if price:
        st.caption(WORDS["together"])
    return left + coming


def _price(ticked: Sequence[Run]) -> str:
    """The epsilon of the ticked runs together; "" unless several private ones have ended."""
    if len(ticked) < 2 or any(
        run.active or run.kind != TRAINING.name or not can_be_read(run) for run in ticked
    ):
        return ""
    cost = costs.cost_of_choosing(ticked, min(run.config.delta for run in ticked))
    return marked(cost.value, cost.kind) if cost else ""


def _best(finished: Sequence[Run], bound: float) -> tuple[dict[str, tuple[Run, Reading]], int]:
    """The best private run of each data set with a finite epsilon up to the bound, and the epsilons
    to come.
    """
    private = [(each, spending) for each in finished if (spending := spending_of(each))]
    left = learn(spending for _, spending in private)
    best: dict[str, tuple[Run, Reading]] = {}
    for each, spending in private:
        cost, data = known_cost(spending), each.settings.get("dataset", "")
        within = cost and math.isfinite(cost.value) and cost.value <= bound
        if (
            cost
            and within
            and (data not in best or each.last.accuracy > best[data][0].last.accuracy)
        ):
            best[data] = each, cost
    return best, left


def said_of_best(best: Mapping[str, tuple[Run, Reading]], bound: float) -> str:
    """The answer to the page's question, one part for each data set."""
    if not best:
        return (
            "No private run has finished"
            if math.isinf(bound)
            else f"No private run has epsilon {bound:g} or less"
        )
    parts = [
        f"{percent(each.last.accuracy)} on {_title(data)} at epsilon"
        f" {marked(cost.value, cost.kind)}"
        for data, (each, cost) in best.items()
    ]
    return f"{STAR} Best private run{'s' * (len(best) > 1)}: {', '.join(parts)}"


def row(run: Run, test: Evaluated | None, starts: str, *, best: bool = False) -> Row:
    """A run as it stands now, with its latest test; `starts` says when a queued one should begin."""
    accuracy = getattr(run.last, "accuracy", test.accuracy if test else None)
    took = ""
    if run.started is not None and not isinstance(run.last, Preparing):
        took = duration(max((run.ended or time.time()) - run.started, 0))
    shown = "" if accuracy is None else f"{f'{STAR} ' * best}{percent(accuracy)}"
    cells = {"name": name_of(run), "status": status_of(run), **_settings(run), "accuracy": shown}
    cells |= {
        "epsilon": _epsilon(run),
        "duration": took,
        "tags": ", ".join(run.tags),
        "owner": owner_told(run.owner),
    }
    return Row(
        run.id, cells, run.sequence, state_of(run, steps_of(run), starts) if run.active else None
    )


def _settings(run: Run) -> dict[str, str]:
    """The settings that have a column, as stored, since another version may have others."""
    stored = run.settings
    model, optimizer = str(stored.get("model", "")), stored.get("optimizer", "")
    cells = {
        "dataset": _title(str(stored.get("dataset", ""))),
        "model": MODELS.get(model, model.capitalize()),
    }
    if run.kind not in (TRAINING.name, AUDIT.name):
        return cells
    cells["optimizer"] = OPTIMIZERS[optimizer].title if optimizer in OPTIMIZERS else str(optimizer)
    for name in ("sigma", "batch", "epochs"):
        cells[name] = "" if stored.get(name) is None else value_text(stored[name])
    return cells if stored.get("private", True) else cells | {"sigma": "no privacy"}


def _title(dataset: str) -> str:
    known = {**TABLES, **DATASETS}
    return known[dataset].title if dataset in known else dataset


def _epsilon(run: Run) -> str:
    spending = spending_of(run)
    if spending is None:
        return ""
    if cost := known_cost(spending):
        return marked(cost.value, cost.kind, cost.lower)
    return LATER if told_later(spending) else ""


def _runs(store: Store, wanted: Wanted, order: Order) -> tuple[list[Run], int, int]:
    """The runs on this page of the table, the number of all wanted ones, and the number of unknown
    epsilons.
    """
    if order.by == "epsilon":
        return _by_epsilon(store, wanted, order)
    ask = lambda: run_table.found(
        store, wanted, order.by, descending=order.descending, limit=AT_ONCE, offset=_offset()
    )  # noqa: E731
    runs, total = ask()
    if not runs and total:  # there are fewer now
        show_from(0)
        runs, total = ask()
    return runs, total, learn(filter(None, (spending_of(run) for run in runs)))


def _by_epsilon(store: Store, wanted: Wanted, order: Order) -> tuple[list[Run], int, int]:
    """Price all runs and sort them, since epsilon is no column of the store; runs without epsilon
    come last.
    """
    listed = run_table.priced(store, wanted)
    asked = {each.id: Spending(CERTIFIED, *each[1:]) for each in listed if each.plan}
    left = learn(asked.values())
    prices = {run: cost.value for run, each in asked.items() if (cost := known_cost(each))}
    way = -1 if order.descending else 1
    # Among equals the newest first if the order descends.
    ids = [each.id for each in listed][::-way]
    ids.sort(key=lambda run: (run not in prices, way * prices.get(run, 0.0)))
    first = min(_offset(), max(len(ids) - 1, 0) // AT_ONCE * AT_ONCE)
    return runs_of(store, ids[first : first + AT_ONCE]), len(ids), left


def _offset() -> int:
    text = FIRST.value
    return int(text) // AT_ONCE * AT_ONCE if text.isdecimal() and len(text) < 10 else 0


def columns_of(runs: Sequence[Run], order: Order, *, best: bool = False) -> list[dict[str, object]]:
    empty = {
        "best": not best,
        "tags": not any(run.tags for run in runs),
        "owner": not any(run.owner for run in runs),
    }
    columns = []
    for name in (name for name in COLUMNS if not empty.get(name)):
        way = ("descending" if order.descending else "ascending") if order.by == name else ""
        title = {"title": ONE_RUN} if best and name == "epsilon" else {}
        columns.append({"id": name, **COLUMNS[name], **title, "sorted": way})
    return columns


@uninterrupted
def _sort() -> None:
    """Sort the table from its first run on; a second click reverses the order."""
    asked, before = text_sent(KEY, "sorted"), order_shown()
    if asked in COLUMNS and COLUMNS[asked]["sorts"]:
        descending = (
            not before.descending if before.by == asked else "number" in COLUMNS[asked]["kind"]
        )
        SORT.set(f"{'-' if descending else ''}{asked}")
        show_from(0)


def _turning(total: int, left: int, kinds: Mapping[str, int]) -> None:
    """Draw how many runs there are, by kind, and the buttons that turn to others."""
    first = _offset()
    last = min(first + AT_ONCE, total)
    row = st.container(horizontal=True, vertical_alignment="center")
    pages = math.ceil(total / AT_ONCE)
    others = [
        f"{kinds[kind]:,} {noun}{'s' * (kinds[kind] > 1)}"
        for kind, noun in OTHER_JOBS.items()
        if kind in kinds
    ]
    among = f", {' and '.join(others)} among them" if others else ""
    coming = f" {left:,} epsilon{'s' * (left > 1)} still to come." if left else ""
    row.caption(f"Runs {first + 1:,} to {last:,} of {total:,}{among}.{coming} {READING}")
    if pages > 1:
        row.button(
            "Previous",
            key="runs_before",
            on_click=show_from,
            args=(first - AT_ONCE,),
            disabled=first == 0,
        )
        row.button(
            "Next", key="runs_after", on_click=show_from, args=(last,), disabled=last >= total
        )
