"""What a run has recorded of its gradients: how long they were, where C cuts them, and one step shown slowly."""

from collections.abc import Sequence

import streamlit as st

from dpcore.figures import norms_figure
from dpcore.runs.record import StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.gradients.clipping import CLIPPINGS
from pages.parts.components.live_chart import Growth, live_chart
from pages.parts.lab.step import Step, step_html
from pages.parts.shell.layout import SMALL
from pages.parts.shell.present import chart_size
from pages.parts.train.run_history import Watched, watched_runs
from pages.parts.train.run_labels import described

ALT = "Quantiles of the gradients' norms before clipping, against epoch, and the clipping norm C as a line."
READING = (
    "A gradient that lies above the line of C was shortened to it. Where the whole fan lies above the line, all are "
    "shortened, and only their directions count; where it lies below, none is, and the noise, sigma times C, is larger "
    "than it needs to be. When C is raised, the learning rate must fall."
)


def gradients(store: Store | None, ids: Sequence[str]) -> None:
    """Draw the norms of the last private run shown, and on demand one of its steps; nothing where there is none."""
    try:
        private = [each for each in watched_runs(store, ids) if each.config.private] if store is not None else []
    except (UnknownRun, StoreError):  # the chart above says so
        return
    if not private:
        return
    watched = private[-1]
    st.markdown(f"**Gradient norms before clipping**, {described(watched.config)}")
    fan, words = st.container(key="beside").columns([3, 2], gap="medium")
    with fan:
        _fan(watched)
    with words:
        st.caption(READING)
    shown = st.expander("Show a step", icon=":material/animation:", key="step_shown", on_change="rerun")
    if shown.open:
        with shown:
            _slowly(watched)


def _fan(watched: Watched) -> None:
    stepped, config = watched.history.stepped, watched.config
    across = [each.epoch for each in stepped]
    norms = [each.norms for each in stepped]
    figure = norms_figure(across, norms, config.clip_norm, end=watched.epochs, size=chart_size())
    since = (watched.run.id, watched.history.sequence)
    lines = range(5 if watched.run.active else 0)
    growths = [Growth(*since, trace=item, event="stepped", y="norms", item=item) for item in lines]
    live_chart(figure, growths, key="norms_chart", alt=ALT, config=SMALL)


def _slowly(watched: Watched) -> None:
    """One step of the run in four stages, all of its numbers recorded or planned."""
    config, stepped = watched.config, watched.history.stepped
    if not stepped:
        st.caption("The run has not reported a step yet: open this again in a moment.")
        return
    if config.clipping != "flat":
        st.caption(f"Steps are drawn for flat clipping only; here: {CLIPPINGS[config.clipping].note}")
        return
    last = stepped[-1]
    sigma = float(watched.plan.sigmas[last.step - 1])
    step = Step(last.step, config.examples, config.q, config.clip_norm, sigma, last.norms, last.clipped)
    again = st.session_state.get("step_played", 0)
    st.html(step_html(step, again))
    st.button("Play again", type="tertiary", icon=":material/replay:", key="play_step", on_click=_again)


def _again() -> None:
    st.session_state["step_played"] = st.session_state.get("step_played", 0) + 1
