"""The choice of runs: those that the table shows, in which order, and those that are ticked."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.record import Run, Status
from dpcore.runs.run_table import ORDERS, Wanted, counted, owners_of, runs_of, sweeps_of, tags_of
from dpcore.runs.store import Store
from pages.parts.components.elements import ticks
from pages.parts.controls.url_state import Remembered, keep, page_text, write_ids
from pages.parts.controls.widgets import several, text_field
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train import run_picker
from pages.parts.visitors import current_user

MAX_FIND_CHARS = 200
ALL = ""
SORT, FIRST = Remembered("sort", "-started"), Remembered("first", "0")  # -name is downwards
KNOWN = (*ORDERS, "epsilon")
OTHERS = "runs_not_charted"  # ids of the ticked runs that have no place on the charts
HEARD = "runs_ticked_last"  # number of the last tick that was taken note of


def wanted_runs(store: Store) -> Wanted:
    """Draw what the runs can be narrowed by, and return what is wanted."""
    text = text_field(st, "Find", "find", MAX_FIND_CHARS, placeholder="name, tag, note, setting or id")
    counts = counted(store)
    title = lambda each: f"{each} {counts.get(each, 0):,}"  # noqa: E731
    statuses = several(st, "Status", [each.value for each in Status], "status", (), title)
    tag = _one_of("Tag", "tag", tags_of(store), str)
    sweeps = sweeps_of(store)
    sweep = _one_of("Sweep", "sweep", list(sweeps), lambda each: sweeps[each])
    owner = _one_of("Owner", "owner", owners_of(store), owner_told)
    return Wanted(text, statuses, tag, sweep, owner)


def owner_told(owner: str) -> str:
    """Who asked for a run: the reader, or somebody by a part of the id; empty where there is a single user."""
    return "you" if owner and owner == current_user().owner else owner[:6]


def _one_of(label: str, key: str, options: Sequence[str], said: Callable[[str], str]) -> str:
    """One of what others have made up, or all; nothing is drawn where there is nothing to choose."""
    asked = [each for each in st.query_params.get_all(key) if each]
    if not options and not asked:
        return ALL
    if asked and asked[0] not in options:
        st.caption(f"No run here has {verbatim(f'{key}={asked[0]}')}.")
    wanted = page_text(key, ALL)
    st.session_state[key] = wanted if wanted in options else ALL  # the last run that had it may be gone
    titles = {ALL: "all", **{each: said(each) for each in options}}
    shown = lambda each: titles.get(each, "") or verbatim(each)  # noqa: E731
    chosen = st.selectbox(label, [*titles], key=key, format_func=shown, persist_state="session")
    write_ids(key, [chosen] if chosen else [], [])
    keep(key, chosen)
    return chosen


class Order(NamedTuple):
    """By what the table is sorted, and which way."""

    by: str
    descending: bool


def order_shown() -> Order:
    """How the table is sorted: as was chosen, or as the address says, which is else what was submitted last first."""
    by = SORT.value.removeprefix("-")
    return Order(by, SORT.value.startswith("-")) if by in KNOWN else Order(SORT.default[1:], True)


def first_shown() -> int:
    """How many runs lie before the first of the table."""
    text = FIRST.value
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def show_in_order(by: str, *, descending: bool) -> None:
    """Sort the table from its first run on, the other way where it is sorted so already; as a callback."""
    before = order_shown()
    descending = not before.descending if before.by == by else descending
    SORT.set(f"{'-' if descending else ''}{by}")
    show_from(0)


def show_from(first: int) -> None:
    """Begin the table with the run behind so many others; as a callback."""
    FIRST.set(str(max(first, 0)))


class Chosen(NamedTuple):
    """The ticked runs."""

    charted: list[Run]
    others: list[Run]  # jobs of another kind, or of another version of this program

    @property
    def every(self) -> list[Run]:
        """All of them."""
        return [*self.charted, *self.others]


def chosen_runs(store: Store) -> Chosen:
    """The ticked runs as they are now; what the address names and nobody knows is said."""
    run_picker.settle(known := run_picker.known_runs(store))
    others = runs_of(store, st.session_state.get(OTHERS, []))
    st.session_state[OTHERS] = [run.id for run in others]  # those that are gone are no longer ticked
    return Chosen([known[run] for run in run_picker.shown_runs()], others)


def ticked_ids() -> list[str]:
    """The ids of the ticked runs, as far as this session knows."""
    return [*run_picker.shown_runs(), *st.session_state.get(OTHERS, [])]


@uninterrupted
def take_ticks(store: Store, key: str) -> None:
    """Take note of what was ticked in the table of this key; as a callback."""
    ids = ticked_ids()
    heard = st.session_state.get(HEARD, 0)
    for tick in sorted(ticks(key)):
        if tick.number <= heard:
            continue
        heard = tick.number
        ids = [run for run in ids if run != tick.run]
        if tick.on and len(ids) < run_picker.MAX_RUNS:
            ids.append(tick.run)
    st.session_state[HEARD] = heard
    tick_only(runs_of(store, ids))


def tick_only(runs: Sequence[Run]) -> None:
    """Tick these runs and no others."""
    run_picker.show([run.id for run in runs if run_picker.can_be_charted(run)])
    st.session_state[OTHERS] = [run.id for run in runs if not run_picker.can_be_charted(run)]
