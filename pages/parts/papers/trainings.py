"""The accuracies of a paper: its training runs can be started here, and are watched on the training page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from dpcore.data.catalogue import DATASETS, available, remedy
from dpcore.papers.paper import Paper
from dpcore.papers.records import recorded
from dpcore.runs.expected import duration
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.seed_summary import with_seeds
from pages.parts.controls.url_state import say_once
from pages.parts.controls.widgets import choice_by_title, number
from pages.parts.jobs import PROBLEM, expected_seconds, job_store
from pages.parts.papers.choices import names_of
from pages.parts.papers.sweeps import value_of
from pages.parts.shell import menu
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.buttons import start
from pages.parts.train.form import SEEDS

STARTED = "paper_runs"  # name of a training -> the runs that were started of it here
REPEATS = replace(SEEDS, key="repeats", default="3")  # a mean without a spread says little


class Training(NamedTuple):
    """What can be trained: an accuracy that the paper quotes, or one point of a sweep."""

    title: str
    config: RunConfig
    seconds: float | None  # that it took when it was recorded


def show_trainings(paper: Paper) -> None:
    """Draw the choice of an accuracy, and what starts its runs."""
    every = trainings_of(paper)
    if not every:
        return
    st.subheader("Train it yourself", anchor=False)
    name = choice_by_title("Accuracy", tuple(every), f"training_{paper.id}", lambda name: every[name].title)
    _start(every[name], f"{paper.id}-{name}")


def trainings_of(paper: Paper) -> dict[str, Training]:
    """All that a paper trains, by what the address calls it."""
    quoted = [(f"{each.place}: {each.quantity}", each.config) for each in paper.trained]
    swept = [
        (f"{sweep.place}: {sweep.title}, {value_of(sweep, config)}", config)
        for sweep in paper.sweeps
        for config in sweep.configs
    ]
    climbed = [(f"{ladder.place}: {name}", run) for ladder in paper.ladders for name, run in ladder.runs]
    every = []
    for title, config in (*quoted, *swept, *climbed):
        record = recorded(paper.id, config)
        every.append(Training(title, config, record and record.seconds))
    return dict(zip(names_of([each.title for each in every]), every, strict=True))


def _start(training: Training, name: str) -> None:
    config = training.config
    seeds = int(number(REPEATS))
    store, _, _ = job_store(st)
    say_once(PROBLEM)
    here = config.source in available(config.dataset)
    started = st.session_state.get(STARTED, {}).get(name, [])
    waiting = _active(store, started)
    took = expected_seconds(store, config) or training.seconds
    st.button(
        "Run it now" + (f" · {duration(took * seeds)}" if took and here else ""),
        key="run_now",
        type="primary",
        icon=":material/play_arrow:",
        disabled=store is None or not here,
        on_click=_run,
        args=(store, with_seeds(config, seeds), name),
    )
    st.caption(f"{described(config)}: {_runs(seeds)}." if here else missing(config))
    if waiting:
        st.caption(f"{_runs(waiting).capitalize()} of it that this page started {_are(waiting)} under way.")
    if started:
        menu.link(menu.page_at("train").file, f"Watch {_runs(len(started))} on the training page", {"run": started})


def missing(config: RunConfig) -> str:
    """Why a run cannot be trained here, and what to do about it."""
    dataset = DATASETS[config.dataset]
    return f":material/info: {dataset.title} in full is not on this machine: {remedy(dataset)}."


@uninterrupted
def _run(store: Store, configs: Sequence[RunConfig], name: str) -> None:
    """Queue the runs, and remember which they are; those that are under way are not queued again. As a callback."""
    if new := start(store, configs):
        started = st.session_state.setdefault(STARTED, {})
        going_on = [run.id for run in runs_of(store, started.get(name, [])) if run.active]
        started[name] = [*going_on, *new]


def _active(store: Store | None, runs: Sequence[str]) -> int:
    """How many of the runs are under way."""
    return sum(run.active for run in runs_of(store, runs)) if store and runs else 0


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"
