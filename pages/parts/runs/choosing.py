"""Which runs are ticked in the table: those on the charts, which the address names, and those without a chart."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dpcore.runs.record import Run
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from pages.parts.components.elements import ticks
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train import run_picker

OTHERS = "runs_not_charted"  # ids of the ticked runs that have no place on the charts
HEARD = "runs_ticked_last"  # number of the last tick that was taken note of


class Chosen(NamedTuple):
    """The ticked runs."""

    charted: list[Run]
    others: list[Run]  # jobs of another kind, or of another version of this program

    @property
    def every(self) -> list[Run]:
        """All of them."""
        return [*self.charted, *self.others]

    @property
    def ids(self) -> list[str]:
        """Their ids."""
        return [run.id for run in self.every]


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
