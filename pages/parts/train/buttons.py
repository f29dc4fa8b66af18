"""The buttons that start and resume training runs, and put them on the charts."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import marked, outward, plain
from dpcore.privacy.report.statement import seed_warning
from dpcore.privacy.sampling.base import Poisson
from dpcore.runs.expected import duration
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.plan import steps_of, unbounded
from dpcore.training.settings import SETTINGS
from pages.parts import jobs
from pages.parts.controls.data import choose, nearest_here
from pages.parts.controls.url_state import write
from pages.parts.jobs import expected_seconds
from pages.parts.results import cache
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.form import Form, baseline_of
from pages.parts.train.run_charts import WORDS
from pages.parts.train.run_labels import MAX_RUNS, numbered
from pages.parts.train.run_picker import put_in_place, show, shown_runs

BESIDE = "baseline"
KNOWN = " (trained already)"


@uninterrupted
def start(store: Store, configs: Sequence[RunConfig], known: Sequence[str] = ()) -> list[str]:
    """Queue the runs and chart them with the ended runs `known`; return the new ids.

    Runs on the same data stay on the charts. A run that is shown and under way, as after a reload,
    is not queued again.
    """
    others = shown_runs()
    runs = jobs.start(store, configs, _names_of, also=others)
    if not runs:
        return runs
    charted = []
    if others:
        first = _settings_of(store, others[0])
        same_dataset = first.get("dataset") == configs[0].dataset
        if same_dataset and first.get("source") == configs[0].source:
            charted = list(others)
    charted += sorted([*runs, *known], key=lambda run: not _is_private(store, run))
    show(list(dict.fromkeys(charted))[-MAX_RUNS:])
    return runs


def _names_of(configs: Sequence[RunConfig]) -> list[str]:
    names = [described(config) for config in configs]
    return numbered(names, configs)


def _is_private(store: Store, run: str) -> bool:
    return bool(_settings_of(store, run).get("private", True))


def _settings_of(store: Store, run: str) -> dict[str, object]:
    try:
        return store.run(run).settings
    except (UnknownRun, StoreError):  # the chart reports it
        return {}


@uninterrupted
def resume(store: Store, run: str) -> None:
    """Queue the rest of a run, and show it in its place."""
    new = jobs.resume_run(store, run)
    if new:
        put_in_place(run, new)


def start_button(
    form: Form,
    store: Store | None,
    past: Sequence[Run],
    on_screen: Callable[[], Form],
    settings: Any,
) -> None:
    """Draw the button that starts runs, or the obstacle, and the switch of their baseline in the
    place of `settings`.

    `on_screen` reads the form anew when the button is pressed.
    """
    configs = []
    if form.configs:
        label = "non-private run beside it"
        if _known_baseline(form, past):
            label += KNOWN
        beside = settings.toggle(
            label, value=True, key=BESIDE, help=help_on("baseline"), persist_state="session"
        )
        configs, _ = _runs_of(form, past, beside)
    st.button(
        label_of(form, configs, store),
        key="train",
        type="primary",
        icon=":material/play_arrow:",
        on_click=_start_shown,
        args=(store, on_screen, past),
        disabled=store is None or not form.configs,
        width="stretch",
    )
    _say_more(form.configs)
    if form.obstacle:
        st.caption(f":material/info: {form.obstacle}")
        offer_data(form)


def baseline_button(form: Form, store: Store | None, on_screen: Callable[[], Form]) -> None:
    """Draw the button that starts the runs without privacy alone."""
    st.button(
        "Train without privacy",
        key="train_baseline",
        on_click=_start_baselines,
        args=(store, on_screen),
        disabled=store is None or not form.configs,
        width="stretch",
    )


def smaller_delta(n: int) -> None:
    """Draw the button that sets a delta well below 1/n: n^-1.1, as is usual, rounded down."""
    delta = plain(float(outward(n**-1.1, math.floor, 2)))
    st.button(
        f"1/n^1.1 ≈ {delta}",
        type="tertiary",
        key="smaller_delta",
        help=f"Use {delta}: well below 1/n, for n = {n:,}",
        on_click=write,
        args=({"delta": delta},),
    )


@uninterrupted
def _start_baselines(store: Store, on_screen: Callable[[], Form]) -> None:
    configs = [baseline_of(config) for config in on_screen().configs]
    if configs:
        start(store, configs)


def _say_more(configs: Sequence[RunConfig]) -> None:
    """Draw what the button does not say of the runs: batches, their number and fixed seeds."""
    if not configs:
        return
    if configs[0].sampler != Poisson.name:
        st.caption(_drawn(configs[0]))
    if len(configs) > 1:
        st.caption(WORDS["several"].format(runs=len(configs)))
    fixed_seeds = [config.seed for config in configs if config.seed is not None]
    warning = seed_warning(fixed_seeds)
    if warning:
        st.warning(warning)


def _drawn(config: RunConfig) -> str:
    """The number of steps of a run with other batches than Poisson's, or why nothing is proven.

    The page says beside it what is proven.
    """
    return unbounded(config) or f"{steps_of(config):,} steps with these batches."


@uninterrupted
def _start_shown(store: Store, on_screen: Callable[[], Form], past: Sequence[Run]) -> None:
    form = on_screen()
    if form.configs:
        configs, known = _runs_of(form, past, st.session_state[BESIDE])
        start(store, configs, known)


def _known_baseline(form: Form, past: Sequence[Run]) -> list[str]:
    """The id of a finished run that is the baseline of the form, if there is one."""
    baseline = baseline_of(form.configs[0])
    for run in past:
        if run.status is Status.FINISHED and alike(run, baseline):
            return [run.id]
    return []


def _runs_of(form: Form, past: Sequence[Run], beside: bool) -> tuple[list[RunConfig], list[str]]:
    """The runs that the Lab starts, and the ids of those that it only shows beside them."""
    configs = list(form.configs)
    if not beside:
        return configs, []
    known = _known_baseline(form, past)
    if known:
        return configs, known
    return [*configs, baseline_of(configs[0])], []


def offer_data(form: Form) -> None:
    """Offer the installed data of nearly as many examples, if none has the chosen number."""
    if not form.data.here:
        near = nearest_here(form.data.n)
        words = f"Train on {DATASETS[near.dataset].title}, {near.source} of {near.n:,}"
        st.button(words, key="offered_data", on_click=choose, args=(near.n,), width="stretch")


def label_of(form: Form, configs: Sequence[RunConfig], store: Store | None) -> str:
    """The label of the button, with the expected time, and epsilon if the batches are Poisson's.

    A run that draws Poisson batches though others are chosen says so: this epsilon is its own.
    """
    poisson = bool(form.configs) and form.configs[0].sampler == Poisson.name
    pieces = ["Train"]
    if poisson and form.sampler != Poisson.name:
        pieces = ["Train with Poisson batches"]
    seconds = expected_seconds(store, *configs)
    if seconds is not None:
        pieces.append(duration(seconds))
    if form.mechanism is not None and poisson:
        spent = cache.curve(CERTIFIED, form.mechanism, form.delta).last  # known from the chart
        pieces.append(f"epsilon {marked(spent.value, spent.kind, spent.lower)}")
    return " · ".join(pieces)


def alike(run: Run, config: RunConfig) -> bool:
    """True if a run has these settings, except for the seed and settings without effect."""
    for name, setting in SETTINGS.items():
        has_effect = name == "private" or setting.is_used(config)
        same = run.settings.get(name) == getattr(config, name)
        if name != "seed" and has_effect and not same:
            return False
    return True
