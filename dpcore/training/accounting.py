"""What a run is charged for: exactly what its engine draws. Both ask this file for every sigma.

A run releases, in this order: the DP-PCA matrix (`pca`), the relevance sums (`adppl`), and then one noisy sum of
clipped gradients a step, proposals that are rejected (`sa`) included. What is done with a released value is free.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.base import FloatArray
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.schedule import scheduled
from dpcore.training.gradients.clipping import CLIPPINGS

if TYPE_CHECKING:
    from dpcore.training.config import RunConfig

GROUPS = {"cnn9": 8, "abadi": 2, "mlp": 2, "cnn": 4}  # layers with parameters; `per_layer` clips each on its own
HORIZONS = 64  # numbers of steps that one look for the last affordable one compares


def unaccounted(config: RunConfig) -> str:
    """Why no epsilon can be given, as a sentence; empty where `mechanism_of` gives what to account for."""
    if not config.private:
        return "Not private: no gradient is clipped and no noise drawn, so epsilon is infinite."
    if config.sigma == 0:
        return "Not private: without noise (sigma = 0) epsilon is infinite."
    if config.reading == "raw":
        return (
            "No epsilon: the raw reading scales each example by state that holds other examples without noise, "
            "so clipping does not bound what one example changes (a demonstration of the unsound reading)."
        )
    return ""


def mechanism_of(config: RunConfig) -> Mechanism | None:
    """What the run releases: exactly the q and sigma that the engine draws; None where `unaccounted` says why."""
    if unaccounted(config):
        return None
    return Mechanism((*first_releases(config), *_prefix(_planned(config), config.steps)))


def claimed_mechanism(config: RunConfig, accepted: int) -> Mechanism | None:
    """What the SA-DPSGD paper charges: accepted steps only. **No guarantee:** show its epsilon labelled invalid."""
    if config.acceptance != "sa" or unaccounted(config) or not accepted:
        return None
    return Mechanism((*first_releases(config), *_prefix(_planned(config), accepted)))


def uses_at(config: RunConfig, step: int) -> int:
    """How many of the mechanism's uses are spent after a training step: those before the first step count too."""
    return len(first_releases(config)) + step


def first_releases(config: RunConfig) -> tuple[Release, ...]:
    """What is released once, of the whole training set, before the first step."""
    releases = []
    if config.pca:
        releases.append(Release(1.0, config.pca_sigma))
    if config.optimizer == "adppl":
        releases.append(Release(1.0, config.relevance_sigma))
    return tuple(releases)


def drawn_sigmas(config: RunConfig) -> FloatArray:
    """Noise std over clip norm of each step: (T,); zeros for a run without noise."""
    if not config.private or config.sigma == 0:
        return np.zeros(config.steps)
    releases = _schedule(config).releases
    every = np.repeat([release.sigma for release in releases], [release.count for release in releases])
    return every[: config.steps]


def steps_of(config: RunConfig) -> int:
    """T: the epochs in steps of the expected batch, rounded up, or as many of them as `stop_epsilon` affords.

    Errors: ValueError where epsilon is asked for and infinite, or not even one step fits.
    """
    planned = planned_steps(config)
    if not config.stop_epsilon:
        return planned
    reason = unaccounted(config)
    if reason:
        raise ValueError(f"Expected stop_epsilon={config.stop_epsilon:g} with an epsilon to stop at. {reason}")
    whole = Mechanism((*first_releases(config), *_planned(config)))
    first = whole.steps - planned
    steps = affordable(whole, config.stop_accountant, config.stop_epsilon, config.delta) - first
    if steps < 1:
        raise ValueError(
            f"Expected stop_epsilon={config.stop_epsilon:g} to allow one step by {config.stop_accountant}; "
            "raise it, or raise sigma."
        )
    return steps


def planned_steps(config: RunConfig) -> int:
    """The epochs in steps of the expected batch, rounded up."""
    return math.ceil(config.epochs * config.examples / config.batch - 1e-9)


@lru_cache(maxsize=256)
def affordable(mechanism: Mechanism, accountant: str, epsilon: float, delta: float) -> int:
    """The largest number of uses whose epsilon, by the accountant, is at most the given one; 0 if none is.

    **Guarantees:** the epsilon of the answer, asked for alone, does not exceed `epsilon`.

    >>> affordable(Mechanism.constant(0.01, 4.0, 10_000), "moments", 1.0, 1e-5)
    6360
    """
    low, high = 0, mechanism.steps  # low is affordable, whatever is above high is not
    curve = ACCOUNTANTS[accountant].curve
    while low < high:
        steps = np.unique(np.linspace(low + 1, high, HORIZONS).round().astype(np.int64))
        below = int(np.count_nonzero(curve(mechanism, steps, delta).epsilon <= epsilon))
        low, high = (int(steps[below - 1]) if below else low), (int(steps[below]) - 1 if below < len(steps) else high)
        if below == len(steps):
            low = high
    while low and not curve(mechanism, [low], delta).epsilon[0] <= epsilon:
        low -= 1
    return low


def _schedule(config: RunConfig) -> Mechanism:
    """The planned steps with the sigma that is drawn in each."""
    steps = planned_steps(config)
    return scheduled(config.schedule, config.q, config.sigma, steps, config.rate, config.level_steps)


def _planned(config: RunConfig) -> tuple[Release, ...]:
    """The planned steps with the sigma that is charged for each.

    Clipping each of k layers to C gives a joint sensitivity of C sqrt(k): with noise sigma C the step is one Gaussian
    of multiplier sigma / sqrt(k). Source: methods of Abadi et al. 2016 as coded, which charge sigma k times instead.
    """
    sensitivity = CLIPPINGS[config.clipping].sensitivity(GROUPS[config.model])  # in units of C
    releases = _schedule(config).releases
    return tuple(Release(release.q, release.sigma / sensitivity, release.count) for release in releases)


def _prefix(releases: tuple[Release, ...], steps: int) -> tuple[Release, ...]:
    """The first so many steps."""
    kept, left = [], steps
    for release in releases:
        if left:
            kept.append(Release(release.q, release.sigma, min(release.count, left)))
            left -= kept[-1].count
    return tuple(kept)
