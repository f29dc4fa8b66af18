"""Which runs are on the charts: at most six; the address bar names them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from dpcore.check import verbatim
from dpcore.privacy.accountants import CERTIFIED
from dpcore.runs import within_limits
from dpcore.runs.access import NOBODY, may_start, why_not
from dpcore.runs.in_words import when
from dpcore.runs.kinds import TRAINING
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.described import described
from pages.parts.controls.faults import UNDER_WAY, say_once
from pages.parts.runs.coming import EVERY
from pages.parts.runs.costs import Spending, learn, spending_of
from pages.parts.shell.streamlit_internals import restoring, uninterrupted
from pages.parts.train.run_choices import choices
from pages.parts.train.run_labels import MAX_RUNS, numbered
from pages.parts.visitors import current_user, may_change

RECENT = 50  # runs to choose from
PARAMETER = "run"
SHOWN = "runs_shown"  # the ids on the charts
DRAWN = "run_picker_drawn"  # how often they were changed from outside the widget, which is a new one each time
BEGAN = "run_picker_began"  # what the widget said at first
PROBLEM = "start_problem"
LINES = "run_lines"  # what the widget says of each run; it is another widget once a run has another status
STARTED = "runs_started"  # ids of the runs that were started here
ASKED = "cancel_asked"  # the run that is to be cancelled, and its store, until the reader has said yes or no
UNSAID = "cancel_unsaid"  # set until the page has drawn that question
LOOKED_UP = 100  # ids of an address


class Lines(NamedTuple):
    """What the widget says of the runs, the statuses that they had when it did, and how many epsilons were to come."""

    said: dict[str, str]
    statuses: dict[str, Status]
    coming: int = 0


@uninterrupted
def start(store: Store, configs: Sequence[RunConfig]) -> None:
    """Queue the runs and put them on the charts, beside the others if they trained on the same data.

    Those that this session began and that are still under way count: a second click on the same settings adds none.
    """
    if not may_start(user := current_user()):
        st.session_state[PROBLEM] = NOBODY
        return
    runs: list[str] = []
    others = shown_runs()
    try:
        configs = list((Counter(configs) - Counter(run.config for run in under_way(store))).elements())
        if not configs:
            st.session_state[PROBLEM] = UNDER_WAY
            return
        names = numbered([described(config) for config in configs], configs)
        runs = within_limits.submit(store, list(zip(configs, names, strict=True)), user.owner)
        note_started(runs)
        together = others and _overlays(store, others[0], configs[0])
    except (RuntimeError, ValueError) as error:  # RuntimeError: the accountant to stop by has no answer; StoreError
        st.session_state[PROBLEM] = str(error)
        together = False
    if runs:
        show([*others, *runs][-MAX_RUNS:] if together else runs)


def under_way(store: Store) -> list[Run]:
    """The runs that this session began and that go on, without those that are being cancelled."""
    return [run for run in runs_of(store, sorted(_mine())) if run.active and not run.cancelling]


def note_started(runs: Iterable[str]) -> None:
    """Note that this session began these runs."""
    _mine().update(runs)


def shown_runs() -> list[str]:
    """The ids of the runs on the charts."""
    return list(st.session_state.get(SHOWN, []))


@uninterrupted
def go_on(store: Store, run: str) -> None:
    """Queue the rest of a run that ended early, and show it in its place; say so where this session did that before."""
    try:
        if any(each.parent == run for each in under_way(store)):
            st.session_state[PROBLEM] = UNDER_WAY
            return
        if not allowed(store.run(run), "resume"):
            return
        new = within_limits.submit_rest(store, run)
    except (StoreError, ValueError, OSError) as error:  # OSError: its checkpoint cannot be copied
        st.session_state[PROBLEM] = str(error)
        return
    note_started([new])
    show([new if each == run else each for each in shown_runs() or [run]])


@uninterrupted
def cancel(store: Store, run: str) -> None:
    """Ask the run to stop, at once where it was started here; else the reader is asked first."""
    try:
        asked = store.run(run)
        if not allowed(asked, "cancel"):
            return
        if run in _mine() or not asked.active or (asked.owner and asked.owner == current_user().owner):
            store.cancel(run)
        else:
            st.session_state[ASKED], st.session_state[UNSAID] = (store, run), True
    except (StoreError, UnknownRun) as error:
        st.session_state[PROBLEM] = str(error)


def allowed(run: Run, verb: str) -> bool:
    """Whether who uses this page may do this with the run; if not, the page says so. In a callback."""
    if may_change(run):
        return True
    st.session_state[PROBLEM] = why_not(current_user(), verb)
    return False


def _mine() -> set[str]:
    return st.session_state.setdefault(STARTED, set())


@uninterrupted
def _answer(store: Store, run: str, yes: bool) -> None:
    st.session_state.pop(ASKED, None)
    if yes:
        _mine().add(run)
        cancel(store, run)


def _ask_first() -> None:
    """Draw the question, if there is one, until it is answered or has no point any more."""
    if ASKED not in st.session_state:
        return
    store, run = st.session_state[ASKED]
    try:
        asked = store.run(run)
    except (StoreError, UnknownRun):
        asked = None
    if asked is None or not asked.active:
        del st.session_state[ASKED]
        return
    dismissed = lambda: st.session_state.pop(ASKED, None)  # noqa: E731
    st.dialog("Cancel a run of somebody else?", on_dismiss=dismissed)(_question)(store, asked)


def _question(store: Store, run: Run) -> None:
    if ASKED not in st.session_state:  # answered
        st.rerun()
    st.markdown(
        f"**{described(run.config)}** ({when(run.created)}) was not started in this tab: somebody else may be waiting "
        "for it. Once cancelled, it can be resumed from its last checkpoint."
    )
    row = st.container(horizontal=True)
    row.button("Cancel this run", type="primary", key="cancel_yes", on_click=_answer, args=(store, run.id, True))
    row.button("Let it run", key="cancel_no", on_click=_answer, args=(store, run.id, False))


def outdated(ids: Sequence[str]) -> bool:
    """Whether what is drawn apart from the page, for these runs, no longer agrees with what the page is to show."""
    return (
        PROBLEM in st.session_state
        or st.session_state.pop(UNSAID, False)
        or st.session_state.get(SHOWN, list(ids)) != list(ids)
    )


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
    st.multiselect(
        "Runs shown, in detail the one that runs or the last",
        options,
        default=st.session_state[BEGAN],
        format_func=lambda run: labels[run],
        key=key,
        max_selections=MAX_RUNS,
        on_change=_chosen,
        args=(key,),
        placeholder=f"Choose up to {MAX_RUNS} runs",
    )
    return shown_runs()


def known_runs(store: Store | None, past: Sequence[Run] = ()) -> dict[str, Run]:
    """Those that the charts can show of these runs, and of those on the charts and in the address, by their ids."""
    every = {run.id: run for run in past}
    asked = [*shown_runs(), *st.query_params.get_all(PARAMETER)[:LOOKED_UP]]
    named = runs_of(store, [run for run in dict.fromkeys(asked) if run not in every]) if store else []
    return {run.id: run for run in (*past, *named) if can_be_charted(run)}


def can_be_charted(run: Run) -> bool:
    """Whether the charts can show the run."""
    return run.kind == TRAINING.name and readable(run)


def settle(known: Mapping[str, Run]) -> None:
    """Make the runs on the charts agree with the address and with what is known, and say what does not."""
    _ask_first()
    say_once(PROBLEM)
    if restoring() or SHOWN not in st.session_state:  # the first look at this page, or one that is taken again
        show(_from_address(known))
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


def _from_address(known: Mapping[str, Run]) -> list[str]:
    asked = list(dict.fromkeys(st.query_params.get_all(PARAMETER)))
    for each in asked:
        if each not in known:
            named = verbatim(f"run={each}")
            st.warning(f"Expected {named} to be a run on this machine; it may have been made elsewhere.")
    return [each for each in asked if each in known][:MAX_RUNS]


def _overlays(store: Store, other: str, config: RunConfig) -> bool:
    """Whether a new run and the one shown belong on one chart: the same data."""
    try:
        settings = store.run(other).settings
    except UnknownRun:
        return False
    return all(settings.get(key) == getattr(config, key) for key in ("dataset", "source"))


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
        st.fragment(_wait_for, run_every=EVERY)(spendings)
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
