"""Which runs are on the charts: at most six; the address bar names them."""

import time
from collections import Counter
from collections.abc import Sequence

import streamlit as st

from dpcore.runs.record import Run, StoreError, UnknownRun
from dpcore.runs.resume import resume
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.train.run_labels import described, numbered

MOST = 6
RECENT = 50  # runs to choose from
PARAMETER = "run"
KEY = "shown"
KEPT = "shown_kept"  # outlives the widget on another page
PROBLEM = "start_problem"


def start(store: Store, configs: Sequence[RunConfig]) -> None:
    """Queue the runs and put them on the charts, beside the others if they trained on the same data."""
    runs: list[str] = []
    others = st.session_state.get(KEY, [])
    try:
        names = numbered([described(config) for config in configs], configs)
        for config, name in zip(configs, names, strict=True):
            runs.append(store.submit(config, name))  # those before an error stay
        together = others and _overlays(store, others[0], configs[0])
    except StoreError as error:
        st.session_state[PROBLEM] = str(error)
        together = False
    if runs:
        st.session_state[KEY] = [*others, *runs][-MOST:] if together else runs
        _to_address()


def go_on(store: Store, run: str) -> None:
    """Queue the rest of a run that ended early, and show it in its place."""
    try:
        new = resume(store, run)
    except (StoreError, ValueError, OSError) as error:  # OSError: its checkpoint cannot be copied
        st.session_state[PROBLEM] = str(error)
        return
    shown = st.session_state.get(KEY, [run])
    st.session_state[KEY] = [new if each == run else each for each in shown]
    _to_address()


def cancel(store: Store, run: str) -> None:
    """Ask the run to stop."""
    try:
        store.cancel(run)
    except (StoreError, UnknownRun) as error:
        st.session_state[PROBLEM] = str(error)


def outdated(ids: Sequence[str]) -> bool:
    """Whether what is drawn apart from the page, for these runs, no longer agrees with what the page is to show."""
    return PROBLEM in st.session_state or st.session_state.get(KEY, list(ids)) != list(ids)


def choose(past: Sequence[Run]) -> list[str]:
    """Draw the choice of runs and return the ids to show; what the address names and nobody knows is said."""
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(problem)
    known = {run.id: run for run in past if _readable(run)}
    if KEY not in st.session_state:  # the first look at this page, or back from another one
        st.session_state[KEY] = _from_address(known) or st.session_state.get(KEPT, [])
    if gone := [run for run in st.session_state[KEY] if run not in known]:
        st.warning(f"No longer in the run store: {', '.join(f'run {run!r}' for run in gone)}.")
        st.session_state[KEY] = [run for run in st.session_state[KEY] if run in known]
        _to_address()
    st.session_state[KEPT] = st.session_state[KEY]
    if st.session_state[KEY] and PARAMETER not in st.query_params:
        _to_address()
    options = list(dict.fromkeys([*st.session_state[KEY], *list(known)[:RECENT]]))
    labels = _labels([known[run] for run in options])
    return st.multiselect(
        "Runs shown, in detail the one that runs or the last",
        options,
        format_func=lambda run: labels[run],
        key=KEY,
        max_selections=MOST,
        on_change=_to_address,
        placeholder="Choose up to six runs",
    )


def _from_address(known: dict[str, Run]) -> list[str]:
    named = list(dict.fromkeys(st.query_params.get_all(PARAMETER)))
    for each in named:
        if each not in known:
            st.warning(f"Expected run={each[:40]!r} to be a run on this machine; it may have been made elsewhere.")
    return [each for each in named if each in known][:MOST]


def _to_address() -> None:
    st.query_params[PARAMETER] = st.session_state[KEY]


def _overlays(store: Store, other: str, config: RunConfig) -> bool:
    """Whether a new run and the one shown belong on one chart: the same data."""
    try:
        settings = store.run(other).settings
    except UnknownRun:
        return False
    return all(settings.get(key) == getattr(config, key) for key in ("dataset", "source"))


def _readable(run: Run) -> bool:
    """Whether this version knows the run's settings, and has a plan for them where none is stored with the run."""
    try:
        return bool(run.config and (run.stored_plan or run.plan))
    except (ValueError, TypeError, RuntimeError):
        return False


def _labels(runs: Sequence[Run]) -> dict[str, str]:
    """A label for each run, no two the same: by them the widget knows what was chosen."""
    plain = {run.id: _label(run) for run in runs}
    met = Counter(plain.values())
    return {run: f"{label}, {run}" if met[label] > 1 else label for run, label in plain.items()}


def _label(run: Run) -> str:
    made, now = time.localtime(run.created), time.localtime()
    form = "%H:%M:%S" if made[:3] == now[:3] else "%Y-%m-%d %H:%M"
    return f"{time.strftime(form, made)} {described(run.config)}"
