"""The buttons that start and resume training runs, and put them on the charts."""

from collections.abc import Callable, Sequence

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import marked
from dpcore.runs.expected import duration
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.settings import SETTINGS
from pages.parts import jobs
from pages.parts.controls.data import choose, nearest_here
from pages.parts.jobs import expected_seconds
from pages.parts.results import cache
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train.form import Form, baseline_of
from pages.parts.train.run_labels import MAX_RUNS, numbered
from pages.parts.train.run_picker import show, shown_runs

BESIDE = "baseline"
KNOWN = " (trained already)"


@uninterrupted
def start(store: Store, configs: Sequence[RunConfig], known: Sequence[str] = ()) -> list[str]:
    """Queue the runs and chart them with the ended runs `known`, beside others on the same data;
    the new ids.

    What is shown already and under way, as after a reload, is not queued again.
    """
    others = shown_runs()
    named = lambda missing: numbered([described(config) for config in missing], missing)  # noqa: E731
    runs = jobs.start(store, configs, named, also=others)
    if runs:
        first = _settings_of(store, others[0]) if others else {}
        together = all(first.get(key) == getattr(configs[0], key) for key in ("dataset", "source"))
        new = sorted(
            [*runs, *known], key=lambda run: not _settings_of(store, run).get("private", True)
        )
        show(list(dict.fromkeys([*(others if together else ()), *new]))[-MAX_RUNS:])
    return runs


def _settings_of(store: Store, run: str) -> dict[str, object]:
    try:
        return store.run(run).settings
    except (UnknownRun, StoreError):  # the chart reports it
        return {}


@uninterrupted
def resume(store: Store, run: str) -> None:
    """Queue the rest of a run, and show it in its place."""
    if new := jobs.resume_run(store, run):
        show([new if each == run else each for each in shown_runs() or [run]])


def start_buttons(form: Form, store: Store, on_screen: Callable[[], Form]) -> None:
    """Draw the buttons of the page Train, a private run and one without privacy, or why nothing can
    be trained.

    `on_screen` reads the form that the fields show when a button is pressed.
    """
    started = {"on_click": _start_shown, "width": "stretch", "disabled": not form.configs}
    st.button("Train with these settings", type="primary", args=(store, on_screen, True), **started)
    st.button("Train without privacy", args=(store, on_screen, False), **started)
    if form.obstacle and not form.problem:
        (st.error if form.data.here else st.info)(form.obstacle)
        offer_data(form)


@uninterrupted
def _start_shown(store: Store, on_screen: Callable[[], Form], private: bool) -> None:
    configs = on_screen().configs
    if not private:
        configs = [baseline_of(config) for config in configs]
    if configs:
        start(store, configs)


def start_button(
    form: Form, store: Store | None, past: Sequence[Run], on_screen: Callable[[], Form]
) -> None:
    """Draw the button of the Lab and the switch of its baseline, or why nothing can be trained.

    `on_screen` reads the form that the fields show when the button is pressed.
    """
    ready = store is not None and bool(form.configs)
    place = st.empty()
    configs = []
    if form.configs:
        label = f"non-private run beside it{KNOWN if _known_baseline(form, past) else ''}"
        beside = st.toggle(
            label, value=True, key=BESIDE, help=help_on("baseline"), persist_state="session"
        )
        configs, _ = _runs_of(form, past, beside)
    pressed = {
        "on_click": _start_lab,
        "args": (store, on_screen, past),
        "disabled": not ready,
        "width": "stretch",
    }
    place.button(
        label_of(form, configs, store),
        key="train",
        type="primary",
        icon=":material/play_arrow:",
        **pressed,
    )
    if form.obstacle:
        st.caption(f":material/info: {form.obstacle}")
        offer_data(form)


@uninterrupted
def _start_lab(store: Store, on_screen: Callable[[], Form], past: Sequence[Run]) -> None:
    form = on_screen()
    if form.configs:
        configs, known = _runs_of(form, past, st.session_state[BESIDE])
        start(store, configs, known)


def _known_baseline(form: Form, past: Sequence[Run]) -> list[str]:
    """The id of a finished run that is the baseline of the form, if there is one."""
    baseline = baseline_of(form.configs[0])
    return [run.id for run in past if run.status is Status.FINISHED and alike(run, baseline)][:1]


def _runs_of(form: Form, past: Sequence[Run], beside: bool) -> tuple[list[RunConfig], list[str]]:
    """The runs that the Lab starts, and the ids of those that it only shows beside them."""
    configs = list(form.configs)
    if not beside:
        return configs, []
    known = _known_baseline(form, past)
    if known:
        return configs, known
    return [baseline_of(configs[0]), *configs], []  # the baseline is faster


def offer_data(form: Form) -> None:
    """Offer the installed data of nearly as many examples, where the chosen number is of none."""
    if not form.data.here:
        near = nearest_here(form.data.n)
        words = f"Train on {DATASETS[near.dataset].title}, {near.source} of {near.n:,}"
        st.button(words, key="offered_data", on_click=choose, args=(near.n,), width="stretch")


def label_of(form: Form, configs: Sequence[RunConfig], store: Store | None) -> str:
    """The label of the button, with the expected time and epsilon if they are known."""
    pieces = ["Train"]
    if (seconds := expected_seconds(store, *configs)) is not None:
        pieces.append(duration(seconds))
    if form.mechanism is not None and form.configs:
        spent = cache.curve(CERTIFIED, form.mechanism, form.delta).last  # known from the chart
        pieces.append(f"epsilon {marked(spent.value, spent.kind, spent.lower)}")
    return " · ".join(pieces)


def alike(run: Run, config: RunConfig) -> bool:
    """Return whether a run has these settings, except for the seed and settings without effect."""
    used = {name for name, setting in SETTINGS.items() if setting.is_used(config)} - {"seed"}
    return all(run.settings.get(name) == getattr(config, name) for name in {*used, "private"})
