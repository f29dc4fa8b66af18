"""Training runs of a paper's accuracies, which start here and can be watched on the training page."""

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
from pages.parts.papers.tables import value_of
from pages.parts.shell import menu
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.buttons import start
from pages.parts.train.form import SEEDS

STARTED = "paper_runs"  # name of a training -> the runs of it that this session started
REPEATS = replace(SEEDS, key="repeats", default="3")  # a mean needs a spread


def show_trainings(paper: Paper) -> None:
    """Draw the choice of an accuracy and the button that starts its runs."""
    every = by_name(lambda each: each[0], _trainings(paper))
    if not every:
        return
    st.subheader("Train it yourself", anchor=False)
    name = choice_by_title(
        "Accuracy", tuple(every), f"training_{paper.id}", lambda name: every[name][0]
    )
    _start(paper, every[name][1], f"{paper.id}-{name}")


def _trainings(paper: Paper) -> list[tuple[str, RunConfig]]:
    """Return titles and runs of each accuracy that the paper quotes and each point of its figures."""
    quoted = [(f"{each.place}: {each.quantity}", each.config) for each in paper.trained]
    swept = [
        (f"{sweep.place}: {sweep.title}, {value_of(sweep, config)}", config)
        for sweep in paper.sweeps
        for config in sweep.configs
    ]
    climbed = [
        (f"{ladder.place}: {name}", run) for ladder in paper.ladders for name, run in ladder.runs
    ]
    return [*quoted, *swept, *climbed]


def _start(paper: Paper, config: RunConfig, name: str) -> None:
    seeds = int(number(REPEATS))
    store, _, _ = job_store(st)
    say_problem()
    config = trainable(config)
    here, dataset = config.source in available(config.dataset), DATASETS[config.dataset]
    started = st.session_state.get(STARTED, {}).get(name, [])
    waiting = sum(run.active for run in runs_of(store, started)) if store and started else 0
    record = recorded(paper.id, config)
    took = expected_seconds(store, config) or (record and record.seconds)
    st.button(
        "Run it now" + (f" · {duration(took * seeds)}" if took and here else ""),
        key="run_now",
        type="primary",
        icon=":material/play_arrow:",
        disabled=store is None or not here,
        on_click=_run,
        args=(store, with_seeds(config, seeds), name),
    )
    absent = f":material/info: {dataset.title} in full is not on this machine: {remedy(dataset)}."
    other = dataset.note if dataset.stands_in_for else ""
    st.caption(f"{described(config)}: {_runs(seeds)}. {other}" if here else absent)
    if waiting:
        are = "is" if waiting == 1 else "are"
        st.caption(f"{_runs(waiting).capitalize()} of it {are} under way.")
    if started:
        menu.link(
            menu.page_at("train").file,
            f"Watch {_runs(len(started))} on the training page",
            {"run": started},
        )


@uninterrupted
def _run(store: Store, configs: Sequence[RunConfig], name: str) -> None:
    """Queue the runs that are not under way, and remember them. As a callback."""
    if new := start(store, configs):
        started = st.session_state.setdefault(STARTED, {})
        going_on = [run.id for run in runs_of(store, started.get(name, [])) if run.active]
        started[name] = [*going_on, *new]


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"
