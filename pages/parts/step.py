"""One private step in pictures: the noise beside its slider, and the four stages of a step.

The network is the simplest: a linear layer that begins at zero, where every one of K classes has
probability 1/K. The gradient of an example x with label y at the weights of class k is then (1/K -
[k = y]) x: an image. Its clipped sum and the noise on it are images, too. Source: Abadi et al.
2016, arXiv 1607.00133, Algorithm 1.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.data.loading import load
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import nearest
from dpcore.training.config import RunConfig
from pages.parts.results.odds import WORDS
from pages.parts.results.tables import image, image_source
from pages.parts.train.form import Form

SEED = 20160701
EXAMPLES = 6  # examples of the batch
WHITE = 255.0  # the largest value of a byte
SQUARES = 100  # of a batch, each for as many examples
DARKEST = 5.0  # times the largest value of the sum: what is black, whatever sigma is


class StepSettings(NamedTuple):
    """The settings of a step that its pictures show."""

    dataset: str
    n: int
    q: float
    sigma: float
    clip_norm: float


def settings_of(form: Form) -> StepSettings | None:
    """The settings of a form's steps; None where its data are not here."""
    if not form.data.here:
        return None
    return StepSettings(form.data.dataset, form.n, form.q, form.sigma, form.clip_norm)


def settings_of_run(config: RunConfig) -> StepSettings:
    """The settings of a run's steps."""
    return StepSettings(config.dataset, config.examples, config.q, config.sigma, config.clip_norm)


class PicturedStep(NamedTuple):
    """A step on the bundled sample; images are rows of d pixels."""

    examples: FloatArray  # (m, d) the first of the batch, in [0, 1]
    norms: FloatArray  # (m,) lengths of their whole gradients
    gradients: FloatArray  # (m, d) the descent direction that each of them gives its own class
    factors: FloatArray  # (m,) by which clipping shortens them
    clipped_sum: FloatArray  # (d,) of the batch's directions for class `label`
    noise: FloatArray  # (d,) standard normal, to be multiplied by sigma C
    label: int  # the class whose weights the sum and the noise are for
    batch: int  # examples drawn
    shape: tuple[int, ...]  # of an image
    squares: tuple[bool, ...]  # of each hundredth of the examples, whether one square is drawn


@lru_cache(maxsize=128)
def pictured_step(dataset: str, batch: float, clip_norm: float, turn: int = 0) -> PicturedStep:
    """The step on a Poisson batch of this expected size, always the same for the same arguments.

    Another `turn` draws another batch and other noise.

    Errors: ValueError for a data set without a bundled sample of images.

    >>> step = pictured_step("mnist", 256, 0.1)
    >>> step.batch, bool((step.norms * step.factors <= 0.1 + 1e-12).all())
    (232, True)
    """
    train = load(dataset, "sample").train
    generator = np.random.default_rng([SEED, turn])
    q = min(batch / len(train), 1.0)
    drawn = np.flatnonzero(generator.random(len(train)) < q)  # (b,)
    shape = train.images.shape[1:]
    pixels = train.images[drawn].reshape(len(drawn), np.prod(shape)) / WHITE  # (b, d)
    labels = train.labels[drawn]  # (b,)
    label = int(labels[0]) if len(drawn) else 0
    classes = len(DATASETS[dataset].classes)
    to_own = 1 - 1 / classes  # of a pixel of 1, to its own class
    to_other = -1 / classes  # to each other class
    scale = np.sqrt(to_own**2 + (classes - 1) * to_other**2)
    norms = scale * np.linalg.norm(pixels, axis=1)  # (b,)
    factors = np.minimum(1.0, clip_norm / np.maximum(norms, 1e-12))  # (b,)
    weights = factors * np.where(labels == label, to_own, to_other)  # (b,)
    return PicturedStep(
        examples=pixels[:EXAMPLES],
        norms=norms[:EXAMPLES],
        gradients=to_own * pixels[:EXAMPLES],
        factors=factors[:EXAMPLES],
        clipped_sum=weights @ pixels,
        noise=generator.standard_normal(pixels.shape[1]),
        label=label,
        batch=len(drawn),
        shape=shape,
        squares=tuple((generator.random(SQUARES) < q).tolist()),
    )


def pictured(settings: StepSettings | None, turn: int = 0) -> PicturedStep | None:
    """A step of the settings; None for a batch of a few examples, and without grey images here."""
    dataset = DATASETS.get(settings.dataset) if settings else None
    if settings is None or dataset is None or not (dataset.sampled and dataset.grey):
        return None
    step = pictured_step(dataset.name, settings.q * settings.n, settings.clip_norm, turn)
    return step if len(step.examples) == EXAMPLES else None


def noise_beside(form: Form) -> None:
    """Show a batch's gradient without and with noise, which follows the slider of sigma."""
    settings = settings_of(form)
    step = pictured(settings)
    if settings and step:
        st.html(noise_html(settings, step))


def noise_html(settings: StepSettings, step: PicturedStep) -> str:
    """Both images, and larger in a popover, on one scale of greys for every sigma.

    style.css mixes the noisy one of two for the sigma that slider.js says.
    """
    most = float(np.abs(step.clipped_sum).max())
    largest_noise = float(np.abs(step.noise).max())
    bare = _bare_image(_grey(step.clipped_sum, most), step)
    noise = _bare_image(_grey(step.noise, largest_noise), step)
    peak = settings.clip_norm * largest_noise
    mixing = f"--most:{most};--peak:{peak};--black:{DARKEST * most}"
    without = f'<span class=noiseless style="{mixing}">{bare}</span>'
    noisy = f'<span class=noisy style="{mixing}">{bare}{noise}</span>'
    name = "See the noise on the gradient of a batch"
    learned = _learned(settings, step)
    figures = (
        f"<figure>{without}<figcaption>without noise</figcaption></figure>"
        f"<figure>{noisy}<figcaption>with noise, sigma = </figcaption></figure>"
    )
    return (
        f'<button class=noise popovertarget=noise-more title="{name}">'
        f"<span>{without}<small>gradient</small></span> "
        f"<span>{noisy}<small>noisy</small></span></button>"
        f"<div class=noise-more id=noise-more popover>{figures}<p>{learned}</p></div>"
    )


def _bare_image(grey: FloatArray, step: PicturedStep) -> str:
    return f'<img src="{image_source(_shades(grey, step))}" alt="">'


def _learned(settings: StepSettings, step: PicturedStep) -> str:
    label = DATASETS[settings.dataset].classes[step.label]
    return WORDS["lab"]["one_step"].format(label=label, batch=step.batch)


def step_shown(form: Form) -> None:
    """Draw a step of the settings in four pictures, on demand."""
    played = st.session_state.get("step_played", 0)
    settings = settings_of(form)
    step = pictured(settings, played)
    if settings is None or step is None:
        return
    shown = st.expander(
        "See one step", icon=":material/animation:", key="step_shown", on_change="rerun"
    )
    if not shown.open:
        return
    with shown:
        st.caption(WORDS["lab"]["example_step"])
        st.html(step_html(settings, step, played))
        st.button(
            "Play again",
            type="tertiary",
            icon=":material/replay:",
            key="play_step",
            on_click=_play_again,
            args=(played + 1,),
        )
        st.caption(_learned(settings, step))


def _play_again(played: int) -> None:
    st.session_state["step_played"] = played


def step_html(settings: StepSettings, step: PicturedStep, played: int = 0) -> str:
    """The four stages; with another `played` the browser plays them again."""
    stages = (
        _batch(settings, step),
        _gradients(step),
        _clipped(settings, step),
        _noise(settings, step),
    )
    items = [f'<li style="--turn:{turn}">{stage}</li>' for turn, stage in enumerate(stages)]
    head = f'<ol class="step-shown" data-played="{played}" aria-label="One step">'
    return f"{head}{''.join(items)}</ol>"


def _batch(settings: StepSettings, step: PicturedStep) -> str:
    squares = "".join("<i class=in></i>" if drawn else "<i></i>" for drawn in step.squares)
    joins = (
        f"Each of {settings.n:,} examples joins with probability {nearest(settings.q)}: about"
        f" {settings.q * settings.n:,.0f} do."
    )
    images = _images([1 - each for each in step.examples], step, "an example")
    return (
        f"<b>Draw a batch.</b> {joins}<div class=squares aria-hidden=true>{squares}</div>{images}"
    )


def _gradients(step: PicturedStep) -> str:
    greys = [_grey(each, float(step.gradients.max())) for each in step.gradients]
    images = _images(greys, step, "its gradient", _two_digits(step.norms))
    return f"<b>Take one gradient for each example.</b> Below it stands its length.{images}"


def _clipped(settings: StepSettings, step: PicturedStep) -> str:
    clipped = step.factors[:, None] * step.gradients  # (m, d)
    lengths = step.factors * step.norms  # (m,)
    greys = [_grey(each, float(clipped.max())) for each in clipped]
    images = _images(greys, step, "its gradient, cut", _two_digits(lengths))
    title = f"<b>Cut each to length C = {nearest(settings.clip_norm)}.</b>"
    return f"{title} No example counts for more.{images}"


def _two_digits(lengths: FloatArray) -> list[str]:
    return [nearest(float(each), 2) for each in lengths]


def _noise(settings: StepSettings, step: PicturedStep) -> str:
    std = settings.sigma * settings.clip_norm
    noise = std * step.noise
    most = DARKEST * float(np.abs(step.clipped_sum).max())
    parts = (step.clipped_sum, noise, step.clipped_sum + noise)
    greys = [_grey(each, most) for each in parts]
    images = _images(greys, step, "the", ("sum", "noise", "sum + noise"))
    product = (
        f"sigma C = {nearest(settings.sigma)} × {nearest(settings.clip_norm)} = {nearest(std)}"
    )
    sentence = f"Its standard deviation is {product}. It hides whether any one example took part."
    return f"<b>Add up, and add noise.</b> {sentence}{images}"


def _grey(values: FloatArray, most: float) -> FloatArray:
    """Greys of values: 0.5 for 0, 0 for `most`."""
    return 0.5 * (1 - values / most)


def _shades(grey: FloatArray, step: PicturedStep) -> np.ndarray:
    """Bytes of greys (d,) from 0, black, to 1, white; what lies beyond is cut off."""
    bytes_ = (255 * np.clip(grey, 0, 1)).round().astype(np.uint8)  # (d,)
    return bytes_.reshape(step.shape)


def _images(
    greys: Sequence[FloatArray], step: PicturedStep, alt: str, captions: Sequence[str] = ()
) -> str:
    """Figures of greys, each with its caption."""
    images = []
    for grey, caption in zip(greys, captions or [""] * len(greys), strict=True):
        images.append(image(_shades(grey, step), f"{alt} {caption}".strip(), caption))
    return f"<div class=step-images>{''.join(images)}</div>"
