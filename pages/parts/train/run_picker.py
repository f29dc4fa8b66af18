"""The choice of the runs on the charts, at most six, named in the address."""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from dpcore.check import verbatim
from dpcore.privacy.report.numbers import epochs_of, marked, percent
from dpcore.runs.in_words import name_of, when, with_origin
from dpcore.runs.kinds import FOLLOWED, TRAINING
from dpcore.runs.record import Run
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from dpcore.training.defaults import described
from dpcore.training.events import Evaluated
from pages.parts.cancelling import say_outcome
from pages.parts.controls.url_state import Remembered, from_link, taken_from_link
from pages.parts.results.costs import POLL_SECONDS, Spending, known_cost, learn, spending_of
from pages.parts.shell.streamlit_internals import restoring, uninterrupted
from pages.parts.train.run_labels import MAX_RUNS

RECENT = 50  # runs to choose from
PARAMETER = "run"
SHOWN = "runs_shown"  # the ids on the charts
DRAWN = "run_picker_drawn"  # counts changes from outside the widget; each makes a new widget
LINES = "run_lines"  # the widget's line for each run; another line makes a new widget
MAX_LOOKED_UP = 100  # ids of an address
WHOLE = Remembered("one")  # id of the run that Runs shows whole, in place of its table


def shown_runs() -> list[str]:
    return list(st.session_state.get(SHOWN, []))


def shown_whole() -> list[str]:
    """The id of the run that is shown whole, if there is one; for a callback or a fragment."""
    asked = st.session_state.get(WHOLE.key)
    return [asked] if asked else []


def choose(past: Sequence[Run], store: Store | None = None) -> list[str]:
    """Draw the choice of runs and return the ids to show; unknown ones in the address are reported.

    With the store, ended runs show their accuracy, and runs older than `past` can be shown.
    """
    known = known_runs(store, past)
    settle(known)
    options = list(dict.fromkeys([*shown_runs(), *list(known)[:RECENT]]))
    offered = [known[run] for run in options]
    labels = _lines(offered, store)
    if st.session_state.get(LINES, labels) != labels:
        show(shown_runs())
    st.session_state[LINES] = labels
    key = f"shown_{st.session_state.get(DRAWN, 0)}"
    st.multiselect(
        "Runs shown",
        options,
        default=shown_runs(),
        format_func=lambda run: labels[run],
        key=key,
        on_change=_chosen,
        args=(key,),
        max_selections=MAX_RUNS,
        placeholder=f"Choose up to {MAX_RUNS} runs",
    )
    return shown_runs()


def known_runs(store: Store | None, past: Sequence[Run] = ()) -> dict[str, Run]:
    """The runs for the charts among these, the shown ones and those in the address, by id."""
    runs = list(past)
    if store:
        known = {run.id for run in past}
        asked = dict.fromkeys([*shown_runs(), *from_link(PARAMETER)[:MAX_LOOKED_UP]])
        unknown = [run for run in asked if run not in known]
        runs += runs_of(store, unknown)
    return {run.id: run for run in runs if can_be_charted(run)}


def can_be_charted(run: Run) -> bool:
    return run.kind in (TRAINING.name, FOLLOWED.name) and readable(run)


def settle(known: Mapping[str, Run]) -> None:
    """Make the shown runs agree with the address and the known runs, and report the rest."""
    say_outcome()
    # The first run of this page, or its repetition.
    if restoring() or SHOWN not in st.session_state:
        here = []
        for each in dict.fromkeys(taken_from_link(PARAMETER)):
            if each in known:
                here.append(each)
                continue
            st.warning(
                f"This machine has no {verbatim(f'run={each}')}, or not its data. It may have"
                " been made elsewhere."
            )
        show(here[:MAX_RUNS])
    gone = []
    left = []
    for run in shown_runs():
        if run in known:
            left.append(run)
        else:
            gone.append(f"run {run}")
    if gone:
        st.warning(f"Deleted: {', '.join(gone)}.")
        show(left)
    # A click in between restores an older address.
    if st.query_params.get_all(PARAMETER) != shown_runs():
        st.query_params[PARAMETER] = shown_runs()


@uninterrupted
def _chosen(key: str) -> None:
    """Show the widget's choice, unless a change made another widget meanwhile."""
    if key == f"shown_{st.session_state.get(DRAWN, 0)}":
        st.session_state[SHOWN] = list(st.session_state[key])


def show(runs: Sequence[str]) -> None:
    """Put these runs on the charts, with a new widget.

    A browser that missed the change could reset the old widget, and the runs would be lost.
    """
    st.session_state[SHOWN] = list(runs)
    st.session_state[DRAWN] = st.session_state.get(DRAWN, 0) + 1


def put_in_place(run: str, new: str) -> None:
    """Show a new run where another one was shown."""
    charted = shown_runs() or [run]
    for place, shown in enumerate(charted):
        if shown == run:
            charted[place] = new
    show(charted)
    if shown_whole() == [run]:
        st.session_state[WHOLE.key] = new


def readable(run: Run) -> bool:
    """True if this version can read the run's settings and plan."""
    try:
        return bool(run.request and (run.stored_plan or run.plan))
    except (ValueError, TypeError, RuntimeError):
        return False


def _lines(runs: Sequence[Run], store: Store | None) -> dict[str, str]:
    """A line for each run; once the epsilons to come are known, the page is drawn again."""
    spendings = []
    for run in runs:
        if run.active:
            continue
        spending = spending_of(run)
        if spending:
            spendings.append(spending)
    if learn(spendings):
        wait = st.fragment(_wait_for, run_every=POLL_SECONDS)
        wait(spendings)
    tests = {}
    if store:
        ids = [run.id for run in runs]
        tests = store.latest_tests(ids)
    return choices(runs, tests)


def _wait_for(spendings: Sequence[Spending]) -> None:
    if not learn(spendings):
        st.rerun()


def choices(runs: Sequence[Run], tests: Mapping[str, Evaluated]) -> dict[str, str]:
    """A line for each run with its latest test and known epsilon; the widget needs unique ones."""
    lines = {run.id: _line(run, tests.get(run.id)) for run in runs}
    met = Counter(lines.values())
    for run, line in lines.items():
        if met[line] > 1:
            lines[run] = f"{line}, {run}"
    return lines


def _line(run: Run, test: Evaluated | None) -> str:
    what = f"{when(run.created, short=True)} {_what(run)}"
    if run.active:  # its status changes while the line stays
        return what
    pieces = [with_origin(run.status.value, run)]
    if test:
        pieces.append(percent(test.accuracy))
    spending = spending_of(run)
    cost = None
    if spending:
        cost = known_cost(spending)
    if cost:
        pieces.append(f"epsilon {marked(cost.value, cost.kind, cost.lower)}")
    return f"{what} · {', '.join(pieces)}"


def _what(run: Run) -> str:
    if run.followed:
        return with_origin(name_of(run), run)
    return f"{described(run.config)}, {epochs_of(run.config.epochs)}"
