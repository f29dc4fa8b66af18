"""What starts a run: a button that says what it will take, and the non-private run beside it."""

from collections.abc import Sequence

import streamlit as st

from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import marked
from dpcore.runs.expected import duration
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.results import cache
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.train import run_picker
from pages.parts.train.form import Form, baseline_of
from pages.parts.train.run_store import expected_seconds
from pages.parts.train.start_buttons import BASELINE_HELP

BESIDE = "baseline"
BESIDE_CHOSEN = "baseline_chosen"


def start_button(form: Form, store: Store | None, past: Sequence[Run]) -> None:
    """Draw the button, and under it the switch of the non-private run, or why nothing can be trained."""
    ready = store is not None and bool(form.configs)
    place = st.empty()
    beside = _beside(form, past) if form.configs else False
    configs = [*form.configs, baseline_of(form.configs[0])] if beside else list(form.configs)
    place.button(
        label_of(form, configs, store),
        key="train",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not ready,
        on_click=run_picker.start,
        args=(store, configs),
        width="stretch",
    )
    if form.obstacle:
        st.caption(f":material/info: {form.obstacle}")


def label_of(form: Form, configs: Sequence[RunConfig], store: Store | None) -> str:
    """What pressing the button takes: time, where runs like these have been here, and epsilon, where it is known."""
    pieces = ["Train"]
    seconds = [expected_seconds(store, config) for config in configs]
    known = [each for each in seconds if each is not None]
    if known and len(known) == len(configs):
        pieces.append(duration(sum(known)))
    if form.mechanism is not None and form.configs:
        spent = cache.curve(CERTIFIED, form.mechanism, form.delta)  # which the chart has asked for already
        pieces.append(f"epsilon {marked(float(spent.epsilon[-1]), spent.kind)}")
    return " · ".join(pieces)


def _beside(form: Form, past: Sequence[Run]) -> bool:
    """Draw the switch: on until one of these data has run, and from then on as it was left."""
    if not st.session_state.get(BESIDE_CHOSEN):
        data = {"dataset": form.data.dataset, "source": form.data.source}
        st.session_state[BESIDE] = not any(data.items() <= run.settings.items() for run in past)
    return st.toggle(
        "non-private run beside it", key=BESIDE, help=BASELINE_HELP, on_change=_chosen, persist_state="session"
    )


@uninterrupted
def _chosen() -> None:
    st.session_state[BESIDE_CHOSEN] = True
