"""Batches that are not Poisson, on the pages: values for charts, and sentences."""

import numpy as np
import streamlit as st

from dpcore.figures.sampled import Sampled, SampledBand
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.numbers import epochs_of
from dpcore.privacy.report.statement import counted_as_poisson, proven_range, why_uncounted
from dpcore.privacy.sampling import Sampler, sampler_of, steps_of_epoch
from dpcore.privacy.sampling.base import Poisson, epochs_meant, steps_counted
from pages.parts.results import cache

POISSON_PICTURE = "For Poisson batches:"
POISSON = "All other numbers on this page are for Poisson batches."


def answers(name: str, mechanism: Mechanism) -> bool:
    """True if a sampler is not Poisson, and has numbers for a mechanism."""
    return bool(_training(name, mechanism))


def _training(name: str, mechanism: Mechanism) -> tuple[str, float, float, int] | None:
    """The sampler with q, sigma and steps, as the caches take them; None where it has no numbers."""
    if name == Poisson.name or why_uncounted(sampler_of(name), mechanism):
        return None
    (release,) = mechanism.releases
    return name, release.q, release.sigma, mechanism.steps


def takes_long(name: str, mechanism: Mechanism) -> bool:
    """True if the numbers of a sampler take long."""
    return answers(name, mechanism) and sampler_of(name).slow


def sampled_of(name: str, mechanism: Mechanism, delta: float) -> Sampled | None:
    """Epsilon over the epochs of the same training with another sampler, if there is any."""
    training = _training(name, mechanism)
    return Sampled(sampler_of(name), *cache.sampled(*training, delta)) if training else None


def sampled_profile_of(name: str, mechanism: Mechanism) -> Sampled | None:
    """Delta over epsilon after the same training with another sampler, if there is any."""
    if not (training := _training(name, mechanism)):
        return None
    curve = cache.sampled_profile(*training)
    return Sampled(sampler_of(name), curve, curve.steps.astype(np.float64) * training[1])


def sampled_band_of(name: str, mechanism: Mechanism) -> SampledBand | None:
    """The trade-off function of the same training with another sampler, if there is any."""
    training = _training(name, mechanism)
    return SampledBand(sampler_of(name), cache.sampled_band(*training)) if training else None


def say_sampled(name: str, mechanism: Mechanism, delta: float, poisson: Reading) -> None:
    """Draw the proven range of another sampler and the verdict on the Poisson number there; or why there is none."""
    sampler = sampler_of(name)
    if why_not := why_uncounted(sampler, mechanism):
        st.info(why_not)
    if not (training := _training(name, mechanism)):
        return
    found = cache.sampled_end(*training, delta).last
    st.markdown(f"{proven_range(sampler, found)} {length(sampler, training[1], mechanism.steps)}")
    worth = counted_as_poisson(sampler, found, poisson)
    refuted = poisson.value < (found.lower or 0.0) and "claims" in worth
    (st.warning if refuted else st.markdown)(worth)


def say_more(name: str, mechanism: Mechanism, delta: float) -> None:
    """Draw the notes on another sampler and on its numbers."""
    if training := _training(name, mechanism):
        note = cache.sampled_end(*training, delta).note
        st.caption(f"**{sampler_of(name).title}.** {sampler_of(name).note} {note} {POISSON}")


def length(sampler: Sampler, q: float, steps: int) -> str:
    """The length of a training as a sampler counts it, in a sentence.

    >>> length(sampler_of("shuffle"), 0.0256, 196)
    'Counted: 5 epochs of 39 batches, 195 steps.'
    """
    counted = steps_counted(sampler, q, steps)
    if not sampler.by_epoch:
        return f"Counted: {counted:,} steps."
    return f"Counted: {epochs_of(epochs_meant(q, steps))} of {steps_of_epoch(q):,} batches, {counted:,} steps."
