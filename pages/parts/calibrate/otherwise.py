"""The answer for batches that are not Poisson: which sigma, or how long, by the proven upper end of epsilon."""

import math
from functools import lru_cache

import streamlit as st

from dpcore.privacy.calibration.for_sampler import (
    SOLVABLE_FOR_SAMPLERS,
    SampledAnswer,
    sigma_for_sampler,
    steps_for_sampler,
)
from dpcore.privacy.calibration.solve import Answer
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.report.drawn_otherwise import proven, unproven
from dpcore.privacy.report.numbers import epochs_of, outward, plain, raised
from dpcore.privacy.sampling import SAMPLERS, steps_of_epoch
from dpcore.privacy.sampling.lengths import epochs_meant, steps_counted
from dpcore.privacy.sampling.poisson import Poisson
from dpcore.training.slider_stops import show
from pages.parts.calibrate.question import Asked, load
from pages.parts.controls.mechanism import Setting
from pages.parts.results import cache

BELOW = "All below, the map and the tables too, is for Poisson batches, add/remove."
COUNTING = "Counting batches that are not Poisson ..."


def show_sampled(name: str, asked: Asked, setting: Setting, by_poisson: Answer | str) -> None:
    """Draw the answer for a sampler, or why there is none; nothing for Poisson."""
    sampler = SAMPLERS[name]
    if name == Poisson.name:
        return
    why_not = unproven(sampler, setting.mechanism) or unsolvable(name, asked)
    if why_not:
        st.info(why_not)
        return
    assert isinstance(asked.target, EpsilonTarget)
    with st.spinner(COUNTING, show_time=sampler.slow):
        found = answer_for(name, asked.solve, asked.target, asked.q, asked.sigma, asked.steps)
    if isinstance(found, str):
        st.error(f"{sampler.title}: {found}")
        return
    st.header(f"{sampled_headline(found)} ({sampler.title})", anchor=False)
    st.markdown(sampled_sentence(found, asked.target))
    if isinstance(by_poisson, Answer) and asked.solve == "sigma":
        st.markdown(at_poisson_sigma(name, found, by_poisson))
    st.button("Use this answer", on_click=load, args=(fields_of(found),), key="use_sampled")
    st.caption(f"{sampler.note} {found.reading.note} {BELOW}")


def unsolvable(name: str, asked: Asked) -> str:
    """Why a question has no answer for a sampler, in a sentence; "" where it has one.

    >>> from dpcore.privacy.schedule import Recipe
    >>> unsolvable("shuffle", Asked("q", EpsilonTarget(3.0, 1e-5), Recipe(), 1000, 0.0, 1.0, 10))
    'Shuffled every epoch: only sigma and steps are solved for. What is shown is for Poisson batches.'
    """
    title = SAMPLERS[name].title
    if asked.solve not in SOLVABLE_FOR_SAMPLERS:
        return f"{title}: only sigma and steps are solved for. What is shown is for Poisson batches."
    if not isinstance(asked.target, EpsilonTarget):
        return f"{title}: only an epsilon can be its target. What is shown is for Poisson batches."
    return ""


@lru_cache(maxsize=256)
def answer_for(
    name: str, solved: str, target: EpsilonTarget, q: float, sigma: float, steps: int
) -> SampledAnswer | str:
    """The answer for a sampler, or the sentence that says why there is none; `steps` are those of Poisson batches."""
    sampler = SAMPLERS[name]
    try:
        if solved == "sigma":
            return sigma_for_sampler(sampler, target, q, steps_counted(sampler, q, steps))
        return steps_for_sampler(sampler, target, q, sigma)
    except (ValueError, RuntimeError) as error:
        return str(error)


def sampled_headline(found: SampledAnswer) -> str:
    """The answer in a few large words."""
    if found.solved == "sigma":
        return f"sigma = {show(found.value)}"
    return f"steps = {found.steps:,}, or {epochs_of(epochs_in(found))}"


def sampled_sentence(found: SampledAnswer, target: EpsilonTarget) -> str:
    """What it keeps and between what its epsilon lies; never rounded past the target."""
    kept = found.reading._replace(value=min(float(outward(found.reading.value, math.ceil)), target.epsilon))
    counted = f"at delta = {plain(raised(target.delta))} over {epochs_of(epochs_in(found))}, {found.steps:,} steps"
    beyond = "" if found.beyond is None else f" {found.solved} = {show(found.beyond)} was measured too, and overshoots."
    return f"{proven(found.sampler, kept).rstrip('.')}, {counted}, within the target of {target.epsilon:g}.{beyond}"


def at_poisson_sigma(name: str, found: SampledAnswer, by_poisson: Answer) -> str:
    """What the sampler costs at the noise that would do for Poisson batches."""
    sigma, mechanism = float(by_poisson.value), by_poisson.mechanism
    there = cache.sampled_end(name, found.q, sigma, mechanism.steps, by_poisson.target.at or 0.0).last
    low, high = outward(there.lower or 0.0, math.floor), outward(there.value, math.ceil)
    return (
        f"At sigma = {show(sigma)}, the answer for Poisson batches, its epsilon lies between **{low}** and **{high}**."
    )


def epochs_in(found: SampledAnswer) -> float:
    """The length of the training in epochs."""
    if found.sampler.by_epoch:
        return found.steps / steps_of_epoch(found.q)
    return epochs_meant(found.q, found.steps)


def fields_of(found: SampledAnswer) -> dict[str, str]:
    """The controls that say the answer."""
    if found.solved == "sigma":
        return {"sigma": show(found.value)}
    if found.sampler.by_epoch:
        return {"length": "epochs", "epochs": show(epochs_in(found))}
    return {"length": "steps", "steps": show(found.steps)}
