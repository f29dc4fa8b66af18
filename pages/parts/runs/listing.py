"""The table of all runs: filters, order, pages, ticks, and the best run."""

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from dpcore.audit.broken_trainers import OWN, TRAINERS
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
from dpcore.runs.kinds import AUDIT, FOLLOWED, PERTURBATION, TRAINING
from dpcore.runs.record import Run, Status
from dpcore.runs.run_table import Wanted, runs_of
from dpcore.runs.store import Store
from dpcore.runs.sweeps import can_be_read
from dpcore.training.defaults import described, phrase, unusual_of
from dpcore.training.events import Evaluated, Finished, Preparing
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.components.elements import Row, runs_table, text_sent, ticks
from pages.parts.controls.url_state import Remembered, drawing, page_text
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
ANY = "any"
BOUNDS = (ANY, "1", "2", "4", "8")  # epsilons that the best run may have at most
STAR = "★"
SORT = Remembered("sort", "-started")  # "-" means descending
FIRST = Remembered("first", "0")  # number of the first row shown, counted from 0
KNOWN = (*run_table.ORDERS, "epsilon")
OTHERS = "runs_not_charted"  # ids of the ticked runs without a chart
HEARD = "runs_ticked_last"  # number of the last tick that counted
KEY = "runs_table"
AT_ONCE = 25  # rows
CHANGED = "runs_changed"  # set once a run has started or ended
LEFT = "runs_costs_left"  # whether epsilons are still being computed
MAX_RUNS_JUDGED = 500  # finished ones, the latest: among them is the best
READING = (
    f"{STAR}: no other run is as good in accuracy and in epsilon, and better in one. Epsilon is"
    f" certified, at each run's own delta. Tick up to {MAX_RUNS} runs to compare them, or click a"
    " name to see one whole."
)
LATER = "once it has ended"  # in place of an epsilon that takes long to compute
NOTHING = "No run matches. Remove a filter to see the others."
FULL = f"You can compare {MAX_RUNS} runs at once. Untick one first."
MODELS = WORDS["models"]
COLUMNS = WORDS["columns"]
OTHER_JOBS = {
    PERTURBATION.name: "comparison",
    AUDIT.name: "audit",
    FOLLOWED.name: "followed training",
}
NOUNS = {PERTURBATION.name: "Comparison", AUDIT.name: "Audit"}
ONE_RUN = "Epsilon alone"
BEST_OF = "As the best"


def wanted_runs(store: Store) -> Wanted:
    """Draw the filters and return them; of the statuses those that some run has."""
    text = text_field(
        st, "Find", "find", MAX_FIND_CHARS, placeholder="name, tag, note, setting or id"
    )
    pills = st.container()
    tag = _one_of("Tag", "tag", run_table.tags_of(store), str)
    sweeps = run_table.sweeps_of(store)
    sweep = _one_of("Sweep", "sweep", list(sweeps), sweeps.__getitem__)
    owner = _one_of("Owner", "owner", run_table.owners_of(store), owner_told)
    wanted = Wanted(text, (), tag, sweep, owner)
    counts = run_table.counted(store, "status", wanted)

    def title(status: str) -> str:
        return f"{status} {counts.get(status, 0):,}"

    asked = st.query_params.get_all("status")
    every = [each.value for each in Status if counts.get(each.value) or each.value in asked]
    return replace(wanted, statuses=several(pills, "Status", every, "status", (), title))


def owner_told(owner: str) -> str:
    """The owner of a run: "you" or a part of the id; empty with a single user."""
    if owner and owner == current_user().owner:
        return "you"
    return owner[:6]


def _one_of(label: str, key: str, options: Sequence[str], said: Callable[[str], str]) -> str:
    """Draw the choice of one option or all, if there are options."""
    asked = [each for each in st.query_params.get_all(key) if each]
    if not options and not asked:
        return ALL
    if asked and asked[0] not in options:
        st.caption(f"No run here has {verbatim(f'{key}={asked[0]}')}.")
    chosen = page_text(key, ALL)
    if chosen not in options:  # its last run may be gone
        chosen = ALL
    titles = {ALL: "all"}
    for each in options:
        titles[each] = said(each)

    def shown(option: str) -> str:
        return titles.get(option, "") or verbatim(option)

    with drawing(key, chosen, ALL):
        st.selectbox(label, [*titles], key=key, format_func=shown, persist_state="session")
    return chosen


class Order(NamedTuple):
    """The column that sorts the table, and the direction."""

    by: str
    descending: bool


def order_shown() -> Order:
    """The chosen order of the table, or else the newest runs first."""
    chosen = SORT.value
    if chosen.removeprefix("-") not in KNOWN:
        chosen = SORT.default
    return Order(chosen.removeprefix("-"), chosen.startswith("-"))


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


def ids_of(runs: Sequence[Run]) -> list[str]:
    return [run.id for run in runs]


def chosen_runs(store: Store) -> Chosen:
    """The ticked runs as they are now; unknown ones in the address are reported."""
    known = run_picker.known_runs(store)
    run_picker.settle(known)
    others = runs_of(store, st.session_state.get(OTHERS, []))
    st.session_state[OTHERS] = ids_of(others)  # without deleted ones
    charted = [known[run] for run in run_picker.shown_runs()]
    return Chosen(charted, others)


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
    charted = []
    others = []
    for run in runs:
        kind = charted if run_picker.can_be_charted(run) else others
        kind.append(run.id)
    run_picker.show(charted)
    st.session_state[OTHERS] = others


def bound_on_epsilon() -> float:
    """Draw the choice of the epsilon that the best run may have."""
    bound = choice_of(st, "Best up to epsilon", BOUNDS, "within")
    return math.inf if bound == ANY else float(bound)


def listing(store: Store, wanted: Wanted, ticked: Sequence[str], bound: float) -> None:
    """Draw the best runs and the table, again and again until all epsilons are known."""
    drawn_until_known(LEFT, _drawn, store, wanted, tuple(ticked), bound)


def _drawn(store: Store, wanted: Wanted, ticked: tuple[str, ...], bound: float) -> int:
    """Draw the best runs and a page of the table; return the number of unknown epsilons."""
    now = (*run_picker.shown_runs(), *st.session_state.get(OTHERS, []))
    opened = run_picker.shown_whole()
    # The page is out of date.
    if opened or now != ticked or st.session_state.pop(CHANGED, False):
        st.rerun()
    order = order_shown()
    runs, total, left = _runs(store, wanted, order)
    if not total:
        st.info(NOTHING)
        return left
    starred, coming = _draw_best(store, wanted, bound)
    unfinished = []
    starts = {}
    for run in runs:
        if not isinstance(run.last, Finished):
            unfinished.append(run.id)
        if run.position:
            starts[run.id] = start_of(store, run.id)
    tests = store.latest_tests(unfinished)
    numbers = run_table.numbers_of(store, ids_of(runs))
    rows = table_rows(runs, tests=tests, starts=starts, starred=starred, numbers=numbers)
    ticking = {
        "ticked": ticked,
        "most": MAX_RUNS,
        "full": FULL,
        "heard": st.session_state.get(HEARD, 0),
    }
    runs_table(
        columns_of(runs, order),
        rows,
        key=KEY,
        ticking=ticking,
        ticked=partial(take_ticks, store),
        opened=_open,
        sorted=_sort,
        changed=_note_change,
    )
    price = _price(runs_of(store, ticked))
    reading = READING
    if price:
        reading = WORDS["together"].format(count=len(ticked), price=price)
    _turning(total, left, run_table.counted(store, "kind", wanted), reading)
    return left + coming


@uninterrupted
def _open() -> None:
    """Show the run whole whose name was clicked. As a callback."""
    run_picker.WHOLE.set(text_sent(KEY, "opened"))


def _note_change() -> None:
    st.session_state[CHANGED] = True


def _draw_best(store: Store, wanted: Wanted, bound: float) -> tuple[set[str], int]:
    """Draw the best run of each data set; return the ids of all that no other run beats.

    The number is that of the epsilons that may change them.
    """
    finished = run_table.ended(store, wanted, MAX_RUNS_JUDGED)
    fronts, coming = _fronts(finished, bound)
    best = {data: front[-1] for data, front in fronts.items()}
    among = ""
    if len(finished) == MAX_RUNS_JUDGED:
        among = f", among the latest {MAX_RUNS_JUDGED} runs"
    st.header(f"{said_of_best(best, bound)}{among}", anchor=False)
    return {run.id for front in fronts.values() for run, _ in front}, coming


def table_rows(
    runs: Sequence[Run],
    *,
    tests: Mapping[str, Evaluated],
    starts: Mapping[str, str],
    starred: Collection[str],
    numbers: Mapping[str, int],
) -> list[Row]:
    """Rows of the table: `starred` are ids of runs, and the mappings are by them."""
    rows = []
    names = short_names(runs, numbers)
    for run, name in zip(runs, names, strict=True):
        made = row(run, tests.get(run.id), starts.get(run.id, ""), starred=run.id in starred)
        made.cells["name"] = name
        rows.append(made)
    return rows


def _price(ticked: Sequence[Run]) -> str:
    """The epsilon of the ticked runs together; "" unless several private ones have ended."""
    if len(ticked) < 2:
        return ""
    for run in ticked:
        trains = run.kind == TRAINING.name or run.followed
        if run.active or not trains or not can_be_read(run):
            return ""
    cost = costs.cost_of_choosing(ticked, min(run.request.delta for run in ticked))
    return marked(cost.value, cost.kind) if cost else ""


def short_names(runs: Sequence[Run], numbers: Mapping[str, int]) -> list[str]:
    """A name for each run, no two alike: its own, or its number and what no column says of it."""
    names = [_own_name(run) or _numbered(run, numbers.get(run.id, 0)) for run in runs]
    often = Counter(names)
    alike = {name for name in names if often[name] > 1}
    for place, run in enumerate(runs):
        if names[place] in alike:
            names[place] = f"{names[place]} ({numbers.get(run.id, place + 1)})"
    return names


def _own_name(run: Run) -> str:
    """The name that somebody gave the run; "" for a description of its settings."""
    name = name_of(run)
    if run.kind in NOUNS and not run.name:
        return ""
    if run.kind != TRAINING.name:
        return name
    try:
        words = described(run.config)
    except (ValueError, TypeError, KeyError):  # of another version
        return name
    return "" if name == words or name.startswith(f"{words}, run ") else name


def _numbered(run: Run, number: int) -> str:
    if run.kind in NOUNS:
        title = f"{NOUNS[run.kind]} {number}"
        trainer = TRAINERS.get(run.settings.get("trainer", ""), OWN)
        return title if trainer is OWN else f"{title}: {trainer.title.lower()}"
    unusual = [phrase(name, run.config) for name in unusual_of(run.config) if name not in COLUMNS]
    return ", ".join([f"Run {number}", *unusual])


# The private runs of a data set that no other beats in both, by rising epsilon and accuracy.
Front = list[tuple[Run, Reading]]


def _fronts(finished: Sequence[Run], bound: float) -> tuple[dict[str, Front], int]:
    """The front of each data set, of runs with a finite epsilon up to the bound.

    The number is that of the epsilons still to come.
    """
    private: list[tuple[Run, Spending]] = []
    for run in finished:
        spending = spending_of(run)
        if spending:
            private.append((run, spending))
    left = learn(spending for _, spending in private)
    priced: Front = []
    for run, spending in private:
        cost = known_cost(spending)
        if cost is not None and math.isfinite(cost.value) and cost.value <= bound:
            priced.append((run, cost))
    priced.sort(key=lambda each: (each[1].value, -final_accuracy(each[0])))
    fronts: dict[str, Front] = {}
    for run, cost in priced:
        front = fronts.setdefault(run.settings.get("dataset", ""), [])
        if not front or _adds(run, cost, *front[-1]):
            front.append((run, cost))
    return fronts, left


def _adds(run: Run, cost: Reading, last: Run, spent: Reading) -> bool:
    """True if the run belongs behind the last of a front: it is more accurate, or its equal."""
    accuracy = final_accuracy(run)
    equal = accuracy == final_accuracy(last) and cost.value == spent.value
    return equal or accuracy > final_accuracy(last)


def final_accuracy(run: Run) -> float:
    """The test accuracy of a finished run."""
    assert isinstance(run.last, Finished), "a finished run has said so last"
    return run.last.accuracy


def said_of_best(best: Mapping[str, tuple[Run, Reading]], bound: float) -> str:
    """The answer to the page's question, one part for each data set."""
    if not best and math.isinf(bound):
        return "No private run has finished"
    if not best:
        return f"No private run has epsilon {bound:g} or less"
    parts = []
    for data, (run, cost) in best.items():
        accuracy = percent(final_accuracy(run))
        parts.append(f"{accuracy} on {_title(data)} at epsilon {marked(cost.value, cost.kind)}")
    within = "" if math.isinf(bound) else f" up to epsilon {bound:g}"
    return f"{STAR} Best private run{'s' * (len(best) > 1)}{within}: {', '.join(parts)}"


def row(run: Run, test: Evaluated | None, starts: str, *, starred: bool = False) -> Row:
    """A run as it stands now, with its latest test; `starts` says when a queued one will begin."""
    accuracy = getattr(run.last, "accuracy", test.accuracy if test else None)
    measured = ""
    if accuracy is not None:
        measured = percent(accuracy)
        if starred:
            measured = f"{STAR} {measured}"
    took = ""
    if run.started is not None and not isinstance(run.last, Preparing):
        took = duration(seconds_of(run, run.started))
    cells = {
        "name": name_of(run),
        "status": status_of(run),
        **_settings(run),
        "accuracy": measured,
        "epsilon": _epsilon(run),
        "duration": took,
        "tags": ", ".join(run.tags),
        "owner": owner_told(run.owner),
    }
    state = state_of(run, steps_of(run), starts) if run.active else None
    return Row(run.id, cells, run.sequence, state)


def seconds_of(run: Run, started: float) -> float:
    """How long a run took until now: a finished one without its wait for the images' features."""
    if isinstance(run.last, Finished):
        return run.last.seconds
    return max((run.ended or time.time()) - started, 0)


def _settings(run: Run) -> dict[str, str]:
    """The settings that have a column, as stored, since another version may have others."""
    stored = run.settings
    model = str(stored.get("model", ""))
    cells = {
        "dataset": _title(str(stored.get("dataset", ""))),
        "model": MODELS.get(model, model.capitalize()),
    }
    if run.followed:
        cells["sigma"] = value_text(stored["sigma"])
        cells["batch"] = f"{stored['batch']:g}"
        return cells
    if run.kind not in (TRAINING.name, AUDIT.name):
        return cells
    optimizer = stored.get("optimizer", "")
    cells["optimizer"] = OPTIMIZERS[optimizer].title if optimizer in OPTIMIZERS else str(optimizer)
    for name in ("sigma", "batch", "epochs"):
        value = stored.get(name)
        cells[name] = "" if value is None else value_text(value)
    if not stored.get("private", True):
        cells["sigma"] = "no privacy"
    return cells


def _title(dataset: str) -> str:
    known = {**TABLES, **DATASETS}
    return known[dataset].title if dataset in known else dataset


def _epsilon(run: Run) -> str:
    spending = spending_of(run)
    if spending is None:
        return ""
    cost = known_cost(spending)
    if cost:
        return marked(cost.value, cost.kind, cost.lower)
    return LATER if told_later(spending) else ""


def _runs(store: Store, wanted: Wanted, order: Order) -> tuple[list[Run], int, int]:
    """The runs on this page of the table, the number of all, and that of unknown epsilons."""
    if order.by == "epsilon":
        return _by_epsilon(store, wanted, order)
    runs, total = _found(store, wanted, order)
    if not runs and total:  # there are fewer now
        show_from(0)
        runs, total = _found(store, wanted, order)
    return runs, total, learn(filter(None, map(spending_of, runs)))


def _found(store: Store, wanted: Wanted, order: Order) -> tuple[list[Run], int]:
    return run_table.found(
        store,
        wanted,
        order.by,
        descending=order.descending,
        limit=AT_ONCE,
        offset=_offset(),
    )


def _by_epsilon(store: Store, wanted: Wanted, order: Order) -> tuple[list[Run], int, int]:
    """Price all runs and sort them, since epsilon is no column of the store.

    Runs without epsilon come last.
    """
    listed = run_table.priced(store, wanted)
    spendings = {each.id: Spending(CERTIFIED, *each[1:]) for each in listed if each.plan}
    left = learn(spendings.values())
    prices: dict[str, float] = {}
    for run, spending in spendings.items():
        cost = known_cost(spending)
        if cost:
            prices[run] = cost.value
    way = -1 if order.descending else 1
    # Among equals the newest first if the order descends.
    ids = [each.id for each in listed][::-way]
    ids.sort(key=lambda run: (run not in prices, way * prices.get(run, 0.0)))
    last_page = max(len(ids) - 1, 0) // AT_ONCE * AT_ONCE
    first = min(_offset(), last_page)
    return runs_of(store, ids[first : first + AT_ONCE]), len(ids), left


def _offset() -> int:
    text = FIRST.value
    if not text.isdecimal() or len(text) >= 10:
        return 0
    return int(text) // AT_ONCE * AT_ONCE


def columns_of(runs: Sequence[Run], order: Order) -> list[dict[str, object]]:
    """The columns that have something to show; ticking moves none of them."""
    shown = {
        "tags": any(run.tags for run in runs),
        "owner": any(run.owner for run in runs),
    }
    columns = []
    for name, words in COLUMNS.items():
        if not shown.get(name, True):
            continue
        column = {"id": name, **words, "sorted": ""}
        if order.by == name:
            column["sorted"] = "descending" if order.descending else "ascending"
        columns.append(column)
    return columns


@uninterrupted
def _sort() -> None:
    """Sort the table from its first run on; a second click reverses the order."""
    asked = text_sent(KEY, "sorted")
    before = order_shown()
    if asked not in COLUMNS or not COLUMNS[asked]["sorts"]:
        return
    descending = "number" in COLUMNS[asked]["kind"]
    if before.by == asked:
        descending = not before.descending
    SORT.set(f"-{asked}" if descending else asked)
    show_from(0)


def _turning(total: int, left: int, kinds: Mapping[str, int], reading: str) -> None:
    """Draw how many runs there are, by kind, `reading`, and the buttons that turn to others."""
    first = _offset()
    last = min(first + AT_ONCE, total)
    row = st.container(horizontal=True, vertical_alignment="center")
    row.caption(
        f"Runs {first + 1:,} to {last:,} of {total:,}{_others_among(kinds)}."
        f"{still_to_come(left)} {reading}"
    )
    if total <= AT_ONCE:
        return
    row.button(
        "Previous",
        key="runs_before",
        on_click=show_from,
        args=(first - AT_ONCE,),
        disabled=first == 0,
    )
    row.button("Next", key="runs_after", on_click=show_from, args=(last,), disabled=last >= total)


def _others_among(kinds: Mapping[str, int]) -> str:
    """The number of other jobs in the table, as the end of a sentence."""
    counts = []
    for kind, noun in OTHER_JOBS.items():
        if kind in kinds:
            counts.append(f"{kinds[kind]:,} {noun}{'s' * (kinds[kind] > 1)}")
    return f", {' and '.join(counts)} among them" if counts else ""


def still_to_come(epsilons: int) -> str:
    """The number of epsilons that are still unknown, as a sentence after others."""
    return f" {epsilons:,} epsilon{'s' * (epsilons > 1)} still to come." if epsilons else ""
