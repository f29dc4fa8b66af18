"""The accuracies of a paper: its training runs can be started here, and are watched on the training page."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.papers.comparison import Comparison
from dpcore.papers.entry import Trained
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.progress.seed_summary import with_seeds
from pages.parts.controls.choice import choice_by_title
from pages.parts.controls.number import number
from pages.parts.shell import menu
from pages.parts.train import run_picker
from pages.parts.train.form import SEEDS
from pages.parts.train.run_history import duration, seconds_for
from pages.parts.train.run_labels import described
from pages.parts.train.run_store import run_store

STARTED = "paper_runs"  # key of an entry -> the runs that were started of it here
REPEATS = replace(SEEDS, key="repeats", default="3")  # a mean without a spread says little


def show_trainings(found: Sequence[Comparison]) -> None:
    """Draw the choice of an accuracy, and what starts its runs."""
    every = {_key(each): each for each in found if isinstance(each.entry, Trained)}
    if not every:
        return
    st.subheader("Train it yourself", anchor=False)
    paper = next(iter(every.values())).paper
    titled = lambda key: f"{every[key].entry.place}: {every[key].entry.quantity}"  # noqa: E731
    chosen = every[choice_by_title("Accuracy", tuple(every), f"training_{paper}", titled)]
    _start(chosen)


def _start(chosen: Comparison) -> None:
    entry = chosen.entry
    assert isinstance(entry, Trained)
    config = entry.config
    seeds = int(number(REPEATS))
    store, past, _ = run_store(st)
    if problem := st.session_state.pop(run_picker.PROBLEM, None):
        st.error(problem)
    here = config.source in available(config.dataset)
    took = seconds_for(config, list(past)) or (chosen.record.seconds if chosen.record else None)
    label = "Run it now" + (f" · {duration(took * seeds)}" if took and here else "")
    configs = with_seeds(config, seeds)
    st.button(
        label,
        key="run_now",
        type="primary",
        icon=":material/play_arrow:",
        disabled=store is None or not here,
        on_click=_run,
        args=(store, configs, _key(chosen)),
    )
    st.caption(f"{described(config)}: {_runs(seeds)}." if here else missing(entry))
    if ids := st.session_state.get(STARTED, {}).get(_key(chosen)):
        page = menu.page_at("train")
        menu.link(page.file, f"Watch {_runs(len(ids))} on the training page", {"run": ids})


def missing(entry: Trained) -> str:
    """Why an accuracy cannot be trained here, and what to do about it."""
    dataset = DATASETS[entry.config.dataset]
    return (
        f":material/info: {dataset.title} in full is not on this machine: `python -m dpcore data download` fetches "
        "it, `python -m dpcore data import DIR` takes its files from a folder."
    )


def _run(store: Store, configs: Sequence[RunConfig], key: str) -> None:
    """Queue the runs, and remember which they are. As a callback."""
    before = {run.id for run in store.runs()}
    run_picker.start(store, configs)
    if new := [run for run in run_picker.shown_runs() if run not in before]:
        st.session_state.setdefault(STARTED, {})[key] = new


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"


def _key(found: Comparison) -> str:
    """What the address calls an accuracy."""
    return f"{found.entry.place}: {found.entry.quantity}".lower().replace(" ", "-")
