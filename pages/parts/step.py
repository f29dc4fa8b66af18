"""One private step in pictures: the noise beside its slider, and the four stages of a step."""

from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures.style import GREY, PRIVATE
from dpcore.figures.training import NORM_WORDS
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import nearest, percent
from dpcore.training.pictured_step import PicturedStep, pictured_step
from pages.parts.components.elements import follows, mount
from pages.parts.controls import mechanism as controls
from pages.parts.images import image_html
from pages.parts.train.form import Form
from pages.parts.train.run_history import Watched

PIXELS = 56  # of an image's side
SQUARES = 100  # of a batch, each for as many examples
MAX_TIMES = 4  # C, or the noise, that a bar can show
SPREAD = 2.5  # standard deviations of the noise from grey to black
FILLED, NOISE = PRIVATE, GREY
ONE_STEP = (
    "This is what one step learns about the class {label} from {batch} examples of the sample, in a linear layer that "
    "begins at zero. One step is mostly noise. Many steps together still learn, because their noise averages out."
)


def pictured(form: Form) -> PicturedStep | None:
    """A step at the form's batch and clipping norm; None for data without a bundled sample of grey images."""
    dataset = DATASETS.get(form.data.dataset)
    if dataset is None or not (dataset.sampled and dataset.grey):
        return None
    return pictured_step(dataset.name, form.q * form.data.n, form.clip_norm)


def noise_beside(form: Form) -> None:
    """Show the gradient of a batch as an image without and with noise, which follows the slider of sigma."""
    step = pictured(form)
    if step is None or not follows():
        return
    data = {
        "sum": _numbers(step.clipped_sum),
        "noise": _numbers(step.noise),
        "shape": step.shape,
        "sigma": form.sigma,
        "clip_norm": form.clip_norm,
        "field": controls.SIGMA.key,
        "words": ONE_STEP.format(label=_class_of(form, step), batch=step.batch),
    }
    mount("noise", "noise_beside", data)


def _class_of(form: Form, step: PicturedStep) -> str:
    return DATASETS[form.data.dataset].classes[step.label]


def _numbers(values: FloatArray) -> str:
    return b64encode(values.astype(np.float32).tobytes()).decode()


class Recorded(NamedTuple):
    """What a run has reported of a step: norms are the quantiles of `NORM_WORDS` since its report before."""

    step: int
    clip_norm: float
    noise: float  # standard deviation on each coordinate of the sum
    norms: Sequence[float]
    clipped: float

    @property
    def scale(self) -> float:
        """What a bar of full width stands for: gradients may be hundreds of times longer than C, and their bars end."""
        return min(max(*self.norms, self.clip_norm, self.noise), MAX_TIMES * max(self.clip_norm, self.noise))


def step_shown(form: Form, watched: Watched | None) -> None:
    """Draw a step of the settings in four pictures, on demand, with what a private run has reported of its last one."""
    step = pictured(form)
    if step is None and watched is None:
        return
    shown = st.expander("See one step", icon=":material/animation:", key="step_shown", on_change="rerun")
    if not shown.open:
        return
    with shown:
        played = st.session_state.get("step_played", 0)
        st.html(step_html(form, step, _recorded(watched), played))
        again = lambda: st.session_state.update(step_played=played + 1)  # noqa: E731
        st.button("Play again", type="tertiary", icon=":material/replay:", key="play_step", on_click=again)
        if step:
            st.caption(ONE_STEP.format(label=_class_of(form, step), batch=step.batch))


def _recorded(watched: Watched | None) -> Recorded | None:
    """The last step that a run has reported; None before, and for clipping that has no single C."""
    if watched is None or not watched.history.stepped or watched.config.clipping != "flat":
        return None
    last, clip_norm = watched.history.stepped[-1], watched.config.clip_norm
    noise = float(watched.plan.sigmas[last.step - 1]) * clip_norm
    return Recorded(last.step, clip_norm, noise, last.norms, last.clipped)


def step_html(form: Form, step: PicturedStep | None, run: Recorded | None, played: int = 0) -> str:
    """The four stages; with another `played` the browser plays them again."""
    stages = (_batch(form, step), _lengths(step, run), _clipped(form, step, run), _noise(form, step, run))
    items = "".join(f'<li style="--turn:{turn}">{stage}</li>' for turn, stage in enumerate(stages))
    return f'<ol class="step-shown" data-played="{played}" aria-label="One step">{items}</ol>'


def _batch(form: Form, step: PicturedStep | None) -> str:
    drawn = round(SQUARES * form.q)
    squares = "".join(f"<i{' class=in' if place < drawn else ''}></i>" for place in range(SQUARES))
    joins = f"Each of {form.n:,} examples joins with probability {nearest(form.q)}: about {form.q * form.n:,.0f} do."
    images = _images([1 - each for each in step.examples], step, "an example") if step else ""
    return f"<b>Draw a batch.</b> {joins}<div class=squares aria-hidden=true>{squares}</div>{images}"


def _lengths(step: PicturedStep | None, run: Recorded | None) -> str:
    images, bars = "", _bars(run, run.norms) if run else ""
    if step:
        greys = [_grey(each, float(step.gradients.max())) for each in step.gradients]
        images = _images(greys, step, "its gradient", [nearest(float(each), 2) for each in step.norms])
    said = f" Lengths that the run reported at step {run.step:,}:" if run else ""
    return f"<b>Take one gradient for each example.</b> Below it stands its length.{images}{said}{bars}"


def _clipped(form: Form, step: PicturedStep | None, run: Recorded | None) -> str:
    images = ""
    if step:
        cut, shorter = step.factors[:, None] * step.gradients, step.factors * step.norms
        greys = [_grey(each, float(cut.max())) for each in cut]
        images = _images(greys, step, "its gradient, cut", [nearest(float(each), 2) for each in shorter])
    said = f" In the run {percent(run.clipped, 0)} were cut:" if run else ""
    bars = _bars(run, [min(norm, run.clip_norm) for norm in run.norms]) if run else ""
    return f"<b>Cut each to length C = {nearest(form.clip_norm)}.</b> No example counts for more.{images}{said}{bars}"


def _noise(form: Form, step: PicturedStep | None, run: Recorded | None) -> str:
    std, images, bars = form.sigma * form.clip_norm, "", ""
    if step:
        noise = std * step.noise
        most = max(float(np.abs(step.clipped_sum).max()), SPREAD * std)
        parts = (step.clipped_sum, noise, step.clipped_sum + noise)
        words = ("sum", "noise", "sum + noise")
        images = _images([_grey(each, most) for each in parts], step, "the", words)
    if run:
        most = _bar(run, run.clip_norm, run.clip_norm, "what one example can add, C")
        bars = most + _bar(run, run.noise, 0.0, "standard deviation of the noise", NOISE)
    product = f"sigma C = {nearest(form.sigma)} × {nearest(form.clip_norm)} = {nearest(std)}"
    said = f"Its standard deviation is {product}. It hides whether any one example took part."
    return f"<b>Add up, and add noise.</b> {said}{images}{bars}"


def _grey(values: FloatArray, most: float) -> FloatArray:
    """Greys of values: 0.5 for 0, 0 for `most`."""
    return 0.5 * (1 - values / most)


def _images(greys: Sequence[FloatArray], step: PicturedStep, alt: str, captions: Sequence[str] = ()) -> str:
    named = captions or [""] * len(greys)
    images = (
        image_html(grey.reshape(step.shape), f"{alt} {name}".strip(), PIXELS, name)
        for grey, name in zip(greys, named, strict=True)
    )
    return f"<div class=step-images>{''.join(images)}</div>"


def _bars(run: Recorded, lengths: Sequence[float]) -> str:
    return "".join(
        _bar(run, length, norm, word) for length, norm, word in zip(lengths, run.norms, NORM_WORDS, strict=True)
    )


def _bar(run: Recorded, length: float, before: float, word: str, color: str = FILLED) -> str:
    """A bar that begins as long as it was before."""
    ends = f"--to:{min(length / run.scale, 1):.4f};--from:{min(before / run.scale, 1):.4f};--color:{color}"
    words = f"{nearest(length, 3)}{' →' if length > run.scale else ''} · {word}"
    return f'<div class=bar style="{ends}"><span></span><small>{words}</small></div>'
