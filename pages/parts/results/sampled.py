"""Batches that are not Poisson: values for charts, in bounded caches, and sentences."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from dpcore.figures.epsilon import DELTAS
from dpcore.figures.sampled import Sampled, SampledBand
from dpcore.privacy.accountants import Curve
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import Risks, risks_of
from dpcore.privacy.report.numbers import epochs_of, outward
from dpcore.privacy.report.statement import counted_as_poisson, proven_range, why_uncounted
from dpcore.privacy.sampling import Sampler, sampler_of, steps_of_epoch
from dpcore.privacy.sampling.base import (
    Poisson,
    epochs_meant,
    points_of,
    steps_counted,
    tradeoff_band,
)
from pages.parts.controls.mechanism import after_training
from pages.parts.results import cache

FEW_DELTAS = DELTAS[::3]  # of a profile, each of which is a search of its own
POISSON = "The accountants, and the statement to copy, are for Poisson batches."


def answers(name: str, mechanism: Mechanism) -> bool:
    """True if a sampler is not Poisson, and has numbers for a mechanism."""
    return name != Poisson.name and not why_uncounted(sampler_of(name), mechanism)


def takes_long(name: str, mechanism: Mechanism) -> bool:
    """True if the numbers of a sampler take long."""
    return answers(name, mechanism) and sampler_of(name).slow


def _counted(sampler: Sampler, mechanism: Mechanism) -> tuple[float, float, int]:
    """q, sigma, and the steps as the sampler counts them, of a training with one q and sigma."""
    (release,) = mechanism.releases
    return release.q, release.sigma, steps_counted(sampler, release.q, mechanism.steps)


@lru_cache(maxsize=256)
def sampled_end(name: str, mechanism: Mechanism, delta: float) -> Curve:
    """Both bounds for a sampler after a whole training."""
    return sampler_of(name).curve(*_counted(sampler_of(name), mechanism), delta)


@lru_cache(maxsize=256)
def sampled_of(name: str, mechanism: Mechanism, delta: float) -> Sampled | None:
    """Epsilon over the epochs of the same training with another sampler, if it has numbers.

    The last point comes from `sampled_end`, whose bounds may be closer.
    """
    if not answers(name, mechanism):
        return None
    sampler = sampler_of(name)
    end = sampled_end(name, mechanism, delta)
    q, sigma, _ = _counted(sampler, mechanism)
    at, epochs = points_of(sampler, q, mechanism.steps)
    curve = sampler.curve(q, sigma, at, delta)
    lower = np.array(curve.lower)
    lower[-1] = end.last.lower or 0.0
    upper = curve.epsilon.copy()
    upper[-1] = end.last.value
    both = Curve(curve.steps, curve.delta, upper, lower, curve.kind, end.note)
    return Sampled(sampler, both, epochs, sampler.other_curves(q, sigma, at, delta))


@lru_cache(maxsize=128)
def sampled_profile_of(name: str, mechanism: Mechanism) -> Sampled | None:
    """Epsilon at `FEW_DELTAS` after the same training with another sampler, if it has numbers."""
    if not answers(name, mechanism):
        return None
    sampler = sampler_of(name)
    q, sigma, steps = _counted(sampler, mechanism)
    curve = sampler.profile(q, sigma, steps, FEW_DELTAS)
    return Sampled(sampler, curve, curve.steps.astype(np.float64) * q)


@lru_cache(maxsize=128)
def sampled_band_of(name: str, mechanism: Mechanism) -> SampledBand | None:
    """The proven curves around the trade-off function with another sampler, if it has numbers."""
    sampler = sampler_of(name)
    if not answers(name, mechanism):
        return None
    return SampledBand(sampler, tradeoff_band(sampler, *_counted(sampler, mechanism)))


@lru_cache(maxsize=128)
def sampled_risks(name: str, mechanism: Mechanism, delta: float) -> Risks | None:
    """What is proven about any attacker of the same training with another sampler.

    None where nothing is: then no hundred people may be drawn. **Guarantees:** those of its band,
    whose lower curve no attacker gets below.
    """
    found = sampled_band_of(name, mechanism)
    if found is None or found.band.empty:
        return None
    return risks_of(found.band, delta)


def risks_with(name: str, mechanism: Mechanism, delta: float) -> Risks | None:
    """What is proven about any attacker with the batches of a sampler; None where nothing is."""
    if name == Poisson.name:
        return cache.risks(mechanism, delta)
    return sampled_risks(name, mechanism, delta)


def after_counted(name: str, mechanism: Mechanism, after: str) -> str:
    """The begin of a sentence about the end of training, with the steps that a sampler counts.

    >>> after_counted("shuffle", Mechanism.constant(0.0256, 4.0, 196), "After 5 epochs (196 steps)")
    'After 5 epochs (195 steps)'
    """
    if not answers(name, mechanism):
        return after
    q, _, steps = _counted(sampler_of(name), mechanism)
    return after_training(f"{epochs_meant(q, mechanism.steps):.12g}", steps)


def range_of(found: Reading) -> str:
    """Both proven ends of an epsilon in one number's place, rounded away from the exact value.

    >>> from dpcore.privacy.mechanism import Kind
    >>> range_of(Reading(21.46, 9.459, Kind.CERTIFIED)), range_of(Reading(1.5, 1.5, Kind.CERTIFIED))
    ('9.45 to 21.5', '1.50')
    """
    high = outward(found.value, math.ceil)
    low = outward(found.lower or 0.0, math.floor)
    if math.isinf(found.value):
        return f"at least {low}"
    return high if float(low) == float(high) else f"{low} to {high}"


def say_sampled(
    name: str, mechanism: Mechanism, delta: float, poisson: Reading, rest: Any = st
) -> None:
    """Draw the proven range of another sampler and the verdict on the Poisson number, if any; all
    that is no warning in the place of the `rest`.
    """
    sampler = sampler_of(name)
    why_not = why_uncounted(sampler, mechanism)
    if why_not:
        st.info(why_not)
    if not answers(name, mechanism):
        return
    found = sampled_end(name, mechanism, delta).last
    rest.markdown(
        f"{proven_range(sampler, found)}"
        f" {length(sampler, mechanism.releases[0].q, mechanism.steps)}"
    )
    verdict = counted_as_poisson(sampler, found, poisson)
    below_proven = poisson.value < (found.lower or 0.0)
    if below_proven and "claims" in verdict:
        st.warning(verdict)
    else:
        rest.markdown(verdict)


def say_more(name: str, mechanism: Mechanism, delta: float) -> None:
    """Draw the notes on another sampler and on its numbers."""
    if answers(name, mechanism):
        note = sampled_end(name, mechanism, delta).note
        st.caption(f"**{sampler_of(name).title}.** {sampler_of(name).note} {note} {POISSON}")


def length(sampler: Sampler, q: float, steps: int) -> str:
    """The length of a training as a sampler counts it, in a sentence.

    >>> length(sampler_of("shuffle"), 0.0256, 196)
    'Counted: 5 epochs of 39 batches, 195 steps.'
    """
    counted = steps_counted(sampler, q, steps)
    if not sampler.by_epoch:
        return f"Counted: {counted:,} steps."
    return (
        f"Counted: {epochs_of(epochs_meant(q, steps))} of {steps_of_epoch(q):,} batches,"
        f" {counted:,} steps."
    )
