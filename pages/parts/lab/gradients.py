"""What a run has recorded of its gradients: how long they were, where C cuts them, and one step shown slowly."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dpcore.figures.training import NORM_WORDS
from dpcore.privacy.report.numbers import nearest, percent
from dpcore.runs.record import StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.gradients.clipping import CLIPPINGS
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


WIDEST = 4  # times C, or the noise, that a bar can show
DRAWN = 100  # squares of the first stage, each for as many examples
FILLED = "#2469a6"
NOISE = "#ce7a4a"


class Step(NamedTuple):
    """What is known of a step: norms are the quantiles of `NORM_WORDS`, of the gradients since the last report."""

    step: int
    n: int
    q: float
    clip_norm: float
    sigma: float
    norms: Sequence[float]
    clipped: float

    @property
    def noise(self) -> float:
        """Standard deviation of the noise on each coordinate of the sum."""
        return self.sigma * self.clip_norm

    @property
    def scale(self) -> float:
        """What a bar of full width stands for: gradients may be hundreds of times longer than C, and their bars end."""
        return min(max(*self.norms, self.clip_norm, self.noise), WIDEST * max(self.clip_norm, self.noise))


def step_html(step: Step, played: int = 0) -> str:
    """The four stages; with another `played` the browser plays them again."""
    stages = (_batch(step), _lengths(step), _clipped(step), _noise(step))
    items = "".join(f'<li style="--turn:{turn}">{stage}</li>' for turn, stage in enumerate(stages))
    return f'<ol class="step-shown" data-played="{played}" aria-label="Step {step.step:,} of the run">{items}</ol>'


def _batch(step: Step) -> str:
    drawn = round(DRAWN * step.q)
    squares = "".join(f"<i{' class=in' if place < drawn else ''}></i>" for place in range(DRAWN))
    chance, expected = nearest(step.q), f"{step.q * step.n:,.0f}"
    drawing = f"each of {step.n:,} examples joins with probability q = {chance}: about {expected} do"
    return f"<b>A batch is drawn.</b> Step {step.step:,}: {drawing}.<div class=squares aria-hidden=true>{squares}</div>"


def _lengths(step: Step) -> str:
    bars = "".join(_bar(step, norm, norm, word) for norm, word in zip(step.norms, NORM_WORDS, strict=True))
    return f"<b>One gradient an example.</b> Their lengths, as the run reported them last:{bars}"


def _clipped(step: Step) -> str:
    cut = (min(norm, step.clip_norm) for norm in step.norms)
    bars = "".join(_bar(step, short, norm, word) for short, norm, word in zip(cut, step.norms, NORM_WORDS, strict=True))
    share = percent(step.clipped, 0)
    return f"<b>Clipped to C = {nearest(step.clip_norm)}.</b> Longer ones are shortened: {share} of them were.{bars}"


def _noise(step: Step) -> str:
    most = _bar(step, step.clip_norm, step.clip_norm, "what one example can add to the sum, C")
    noise = _bar(step, step.noise, 0.0, "standard deviation of the noise, sigma C", NOISE)
    product = f"sigma C = {nearest(step.sigma)} times {nearest(step.clip_norm)} = {nearest(step.noise)}"
    hides = "It hides whether any one took part."
    return f"<b>Noise is added</b> to each coordinate of their sum: {product}. {hides}{most}{noise}"


def _bar(step: Step, length: float, before: float, word: str, color: str = FILLED) -> str:
    """A bar that begins as long as it was before."""
    ends = f"--to:{min(length / step.scale, 1):.4f};--from:{min(before / step.scale, 1):.4f};--color:{color}"
    words = f"{nearest(length, 3)}{' →' if length > step.scale else ''} · {word}"
    return f'<div class=bar style="{ends}"><span></span><small>{words}</small></div>'
