"""Which runs are on the charts: at most six; the address bar names them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from dpcore.check import verbatim
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import epochs_of, marked, percent
from dpcore.runs.in_words import when, with_origin
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, Status
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from dpcore.training.defaults import described
from dpcore.training.events import Evaluated
from pages.parts.jobs import outcome_unsaid, say_outcome
from pages.parts.results.costs import POLL_SECONDS, Spending, known_cost, learn, spending_of
from pages.parts.shell.streamlit_internals import restoring, uninterrupted
from pages.parts.train.run_labels import MAX_RUNS

RECENT = 50  # runs to choose from
PARAMETER = "run"
SHOWN = "runs_shown"  # the ids on the charts
DRAWN = "run_picker_drawn"  # how often they were changed from outside the widget, which is a new one each time
BEGAN = "run_picker_began"  # what the widget said at first
LINES = "run_lines"  # what the widget says of each run; it is another widget once a run has another status
MAX_LOOKED_UP = 100  # ids of an address


class Lines(NamedTuple):
    """What the widget says of the runs, the statuses that they had when it did, and how many epsilons were to come."""

    said: dict[str, str]
    statuses: dict[str, Status]
    coming: int = 0


def shown_runs() -> list[str]:
    """The ids of the runs on the charts."""
    return list(st.session_state.get(SHOWN, []))


def outdated(ids: Sequence[str]) -> bool:
    """Whether what is drawn apart from the page, for these runs, no longer agrees with what the page is to show."""
    return outcome_unsaid() or st.session_state.get(SHOWN, list(ids)) != list(ids)


def choose(past: Sequence[Run], store: Store | None = None) -> list[str]:
    """Draw the choice of runs and return the ids to show; what the address names and nobody knows is said.

    With the store each run that has ended says how accurate it was, and older ones can be shown than those given.
    """
    known = known_runs(store, past)
    settle(known)
    options = list(dict.fromkeys([*shown_runs(), *list(known)[:RECENT]]))
    labels = _lines([known[run] for run in options], store)
    key = f"shown_{st.session_state.get(DRAWN, 0)}"
    if key not in st.session_state:  # another default later would make it another widget
        st.session_state[BEGAN] = shown_runs()
    words = {"format_func": lambda run: labels[run], "placeholder": f"Choose up to {MAX_RUNS} runs"}
    look = {"default": st.session_state[BEGAN], "max_selections": MAX_RUNS, **words}
    label = "Runs in the chart (details: the current or latest one)"
    st.multiselect(label, options, key=key, on_change=_chosen, args=(key,), **look)
    return shown_runs()


def known_runs(store: Store | None, past: Sequence[Run] = ()) -> dict[str, Run]:
    """Those that the charts can show of these runs, and of those on the charts and in the address, by their ids."""
    every = {run.id: run for run in past}
    asked = [*shown_runs(), *st.query_params.get_all(PARAMETER)[:MAX_LOOKED_UP]]
    named = runs_of(store, [run for run in dict.fromkeys(asked) if run not in every]) if store else []
    return {run.id: run for run in (*past, *named) if can_be_charted(run)}


def can_be_charted(run: Run) -> bool:
    """Whether the charts can show the run."""
    return run.kind == TRAINING.name and readable(run)


def settle(known: Mapping[str, Run]) -> None:
    """Make the runs on the charts agree with the address and with what is known, and say what does not."""
    say_outcome()
    if restoring() or SHOWN not in st.session_state:  # the first look at this page, or one that is taken again
        asked = list(dict.fromkeys(st.query_params.get_all(PARAMETER)))
        for strange in (verbatim(f"run={each}") for each in asked if each not in known):
            st.warning(f"Expected {strange} to be a run on this machine; it may have been made elsewhere.")
        show([each for each in asked if each in known][:MAX_RUNS])
    if gone := [run for run in shown_runs() if run not in known]:
        st.warning(f"No longer in the run store: {', '.join(f'run {run!r}' for run in gone)}.")
        show([run for run in shown_runs() if run in known])
    if st.query_params.get_all(PARAMETER) != shown_runs():  # a click that came in between brings an older address
        st.query_params[PARAMETER] = shown_runs()


@uninterrupted
def _chosen(key: str) -> None:
    """Take on what the widget says, unless the runs were changed meanwhile: then it is not the one that is drawn."""
    if key == f"shown_{st.session_state.get(DRAWN, 0)}":
        st.session_state[SHOWN] = list(st.session_state[key])


def show(runs: Sequence[str]) -> None:
    """Put these runs on the charts.

    A widget that is told from outside what it says may be told otherwise by a browser that has not heard of it, and the
    run would be lost. So a new widget takes its place.
    """
    st.session_state[SHOWN] = list(runs)
    st.session_state[DRAWN] = st.session_state.get(DRAWN, 0) + 1


def readable(run: Run) -> bool:
    """Whether this version knows the run's settings, and has a plan for them where none is stored with the run."""
    try:
        return bool(run.config and (run.stored_plan or run.plan))
    except (ValueError, TypeError, RuntimeError):
        return False


def _lines(runs: Sequence[Run], store: Store | None) -> dict[str, str]:
    """What is said of each run. It stays while the widget does.

    The widget is a new one once a run has another status, and when all epsilons are known that it had to do without.
    """
    statuses = {run.id: run.status for run in runs}
    before: Lines = st.session_state.get(LINES) or Lines({}, {})
    spendings = [spending for run in runs if not run.active and (spending := spending_of(run, CERTIFIED))]
    if coming := learn(spendings):
        st.fragment(_wait_for, run_every=POLL_SECONDS)(spendings)
    known = before.coming and not coming
    if known or any(before.statuses.get(run, status) != status for run, status in statuses.items()):
        show(shown_runs())
        before = Lines({}, {})
    new = [run for run in runs if run.id not in before.said]
    tests = store.latest_tests([run.id for run in new]) if store else {}
    said = before.said | choices(new, tests, before.said.values())
    st.session_state[LINES] = Lines(said, before.statuses | statuses, coming)
    return said


def _wait_for(spendings: Sequence[Spending]) -> None:
    if not learn(spendings):
        st.rerun()


def choices(runs: Sequence[Run], tests: Mapping[str, Evaluated], taken: Collection[str] = ()) -> dict[str, str]:
    """A line for each run, with its latest test, and its epsilon once that is known.

    None is there twice, nor one that is taken: by it the widget knows the run.
    """
    plain = {run.id: _line(run, tests.get(run.id)) for run in runs}
    met = Counter([*plain.values(), *taken])
    return {run: f"{line}, {run}" if met[line] > 1 else line for run, line in plain.items()}


def _line(run: Run, test: Evaluated | None) -> str:
    what = f"{when(run.created, short=True)} {described(run.config)}, {epochs_of(run.config.epochs)}"
    if run.active:  # what changes with every test would change under the pointer
        return f"{what} · {run.status.value}"
    accuracy = [percent(test.accuracy)] if test else []
    spending = spending_of(run, CERTIFIED)
    cost = known_cost(spending) if spending else None
    epsilon = [f"epsilon {marked(cost.epsilon, cost.kind)}"] if cost else []
    return f"{what} · {', '.join([with_origin(run.status.value, run), *accuracy, *epsilon])}"
