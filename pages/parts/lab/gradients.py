"""What a run has recorded of its gradients: how long they were, where C cuts them, and one step shown slowly."""

from collections.abc import Sequence

import streamlit as st

from dpcore.runs.record import StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.gradients.clipping import CLIPPINGS
from pages.parts.lab.step_animation import Step, step_html
from pages.parts.train.run_charts import gradient_norms
from pages.parts.train.run_history import Watched, watched_runs


def gradients(store: Store | None, ids: Sequence[str]) -> None:
    """Draw the norms of the last private run shown, and on demand one of its steps; nothing where there is none."""
    try:
        private = [each for each in watched_runs(store, ids) if each.config.private] if store is not None else []
    except (UnknownRun, StoreError):  # the chart above says so
        return
    if not private:
        return
    watched = private[-1]
    gradient_norms(watched)
    shown = st.expander("Show a step", icon=":material/animation:", key="step_shown", on_change="rerun")
    if shown.open:
        with shown:
            _slowly(watched)


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
