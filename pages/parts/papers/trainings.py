"""Training runs of a paper's accuracies, which start here and can be watched on the page Runs."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.data.catalogue import DATASETS, available, remedy
from dpcore.papers.paper import Paper
from dpcore.papers.records import recorded, trainable
from dpcore.runs.expected import duration
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.seed_summary import with_seeds
from pages.parts.controls.widgets import choice_by_title, number
from pages.parts.jobs import expected_seconds, job_store, say_problem
from pages.parts.papers.opening import by_name
from pages.parts.shell import menu
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.buttons import start
from pages.parts.train.form import SEEDS
from pages.parts.train.run_picker import WHOLE

STARTED = "paper_runs"  # name of a training -> the runs of it that this session started
REPEATS = replace(SEEDS, key="repeats", default="3")  # a mean needs a spread


def show_trainings(paper: Paper) -> None:
    """Draw the choice of an accuracy and the button that starts its runs."""
    runs = paper.printed_runs + paper.figure_runs
    every = by_name([run.label for run in runs], runs)
    if not every:
        return
    with st.expander(f"Train it yourself ({len(every)})", key="fold_trainings"):
        name = choice_by_title(
            "Accuracy", tuple(every), f"training_{paper.id}", lambda name: every[name].label
        )
        _start(paper, every[name].config, f"{paper.id}-{name}")


def _start(paper: Paper, config: RunConfig, name: str) -> None:
    """Draw the number of runs, the button that starts them, and those under way."""
    seeds = int(number(REPEATS))
    store, _, _ = job_store(st)
    say_problem()
    config = trainable(config)
    dataset = DATASETS[config.dataset]
    here = config.source in available(config.dataset)
    record = recorded(paper.id, config)
    seconds = expected_seconds(store, config) or (record and record.seconds)
    label = "Run it now"
    if seconds and here:
        label += f" · {duration(seconds * seeds)}"
    st.button(
        label,
        key="run_now",
        type="primary",
        icon=":material/play_arrow:",
        disabled=store is None or not here,
        on_click=_run,
        args=(store, with_seeds(config, seeds), name),
    )
    if here:
        note = dataset.note if dataset.stands_in_for else ""
        st.caption(f"{described(config)}: {_runs(seeds)}. {note}")
    else:
        st.caption(
            f":material/info: {dataset.title} in full is not on this machine: {remedy(dataset)}."
        )
    _started(store, st.session_state.get(STARTED, {}).get(name, []))


def _started(store: Store | None, started: Sequence[str]) -> None:
    """Draw how many of the started runs are under way, and a link to them."""
    if not started:
        return
    waiting = sum(run.active for run in runs_of(store, started)) if store else 0
    if waiting:
        are = "is" if waiting == 1 else "are"
        st.caption(f"{_runs(waiting).capitalize()} of it {are} under way.")
    query = {"run": started, WHOLE.name: ""}
    menu.link("pages/runs.py", f"Watch {_runs(len(started))} on the page Runs", query)


@uninterrupted
def _run(store: Store, configs: Sequence[RunConfig], name: str) -> None:
    """Queue the runs that are not under way, and remember them. As a callback."""
    new = start(store, configs)
    if new:
        started = st.session_state.setdefault(STARTED, {})
        going_on = [run.id for run in runs_of(store, started.get(name, [])) if run.active]
        started[name] = [*going_on, *new]


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"
