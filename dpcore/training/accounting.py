"""What a run is charged for: exactly what its engine draws.

A run releases, in this order: the DP-PCA matrix (`pca`), the relevance sums (`adppl`), the mean example (`mean_sigma`),
and then one noisy sum of clipped gradients a step, proposals that are rejected (`sa`) included. What is done with a
released value is free.
"""

import math

import numpy as np

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.rounding import RESERVED
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.numbers import outward
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.poisson import Poisson
from dpcore.privacy.schedule import scheduled
from dpcore.training.config import RunConfig
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.randomness.missing_mass import RADIUS, added_delta, generator_of

HORIZONS = 64  # numbers of steps that one look for the last affordable one compares
LEAST_SIGMA = 1e-6  # that a release may have
PROJECTION_NOTE = "Charges one noisy release at (1, sigma of DP-PCA), then the steps."  # of DP-PCA


def unaccounted(config: RunConfig) -> str:
    """Why no epsilon can be given, as a sentence; empty where there is something to account for."""
    if not config.private:
        return "Not private: no gradient is clipped and no noise drawn, so epsilon is infinite."
    if config.sigma == 0:
        return "Not private: without noise (sigma = 0) epsilon is infinite."
    if config.reading == "raw":
        return (
            "No epsilon: the raw reading scales each example by state that holds other examples without noise, "
            "so clipping does not bound what one example changes (a demonstration of the unsound reading)."
        )
    return "" if config.sampler == Poisson.name else of_other_batches(config)


def of_other_batches(config: RunConfig) -> str:
    """What is proven of a run whose batches are not Poisson's, as sentences: by the accountant of its sampler."""
    sampler, steps = SAMPLERS[config.sampler], config.steps_of_epochs
    sigma = config.sigma / CLIPPINGS[config.clipping].sensitivity(MODELS[config.model].groups)
    if sigma < LEAST_SIGMA:
        return f"No epsilon: sigma={config.sigma:g} is below {LEAST_SIGMA:g} sensitivities."
    if why := missing_noise(config, (Release(1.0, sigma, steps),)):
        return why
    found = sampler.curve(config.q, sigma, steps, config.delta).last
    ends = f"{outward(found.lower or 0.0, math.floor)} and {outward(found.value, math.ceil)}"
    return (
        f"{sampler.title}: what accountants say of Poisson batches does not hold. Proven of this run, "
        f"{sampler.adjacency}, at delta = {config.delta:g}: epsilon lies between {ends}. {found.note}"
    ).rstrip()


def missing_noise(config: RunConfig, releases: tuple[Release, ...]) -> str:
    """Why the noise that no generator returns lets no epsilon be given, as a sentence; empty where it is paid for.

    What it adds to delta is charged: RESERVED of delta is kept for it, in all that is certified. A run that would need
    more has no epsilon.
    """
    radius = RADIUS[generator_of(config.device, config.noise_generator)]
    if added_delta(releases, radius) <= RESERVED * config.delta:
        return ""
    least = min(release.sigma for release in releases)
    return (
        f"No epsilon: noise is drawn up to {radius:.3g} standard deviations. At sigma = {least:g} one example moves a "
        f"sum by {1 / least:.3g} of them, so that what is cut off may show it more often than delta = "
        f"{config.delta:g} allows for. Raise sigma."
    )


def first_releases(config: RunConfig) -> tuple[Release, ...]:
    """What is released once, of the whole training set, before the first step."""
    releases = []
    if config.pca:
        releases.append(Release(1.0, config.pca_sigma))
    if OPTIMIZERS[config.optimizer].by_relevance:
        releases.append(Release(1.0, config.relevance_sigma))
    if config.mean_sigma:
        releases.append(Release(1.0, config.mean_sigma))
    return tuple(releases)


def drawn_releases(config: RunConfig) -> tuple[Release, ...]:
    """The steps of all epochs, with the sigma that is drawn in each: the noise's std over the clipping norm.

    Errors: ValueError for a noise schedule that does not fit them.
    """
    steps = config.steps_of_epochs
    return scheduled(config.schedule, config.q, config.sigma, steps, config.rate, config.level_steps).releases


def charged_releases(config: RunConfig) -> tuple[Release, ...]:
    """The steps of all epochs, with the sigma that is charged for each.

    Clipping each of k layers to C gives a joint sensitivity of C sqrt(k): with noise sigma C the step is one Gaussian
    of multiplier sigma / sqrt(k). Source: methods of Abadi et al. 2016 as coded, which charge sigma k times instead.
    """
    sensitivity = CLIPPINGS[config.clipping].sensitivity(MODELS[config.model].groups)  # in units of C
    drawn = drawn_releases(config)
    least = min(release.sigma for release in drawn)
    if least / sensitivity < LEAST_SIGMA:
        raise ValueError(
            f"Expected sigma={config.sigma:g} with clipping={config.clipping!r} and schedule={config.schedule!r} to "
            f"stay at {LEAST_SIGMA * sensitivity:g} or above in every step; it falls to {least:g}."
        )
    return tuple(Release(release.q, release.sigma / sensitivity, release.count) for release in drawn)


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


def first_steps(releases: tuple[Release, ...], steps: int) -> tuple[Release, ...]:
    """The first so many steps of the releases."""
    kept, left = [], steps
    for release in releases:
        if left:
            kept.append(Release(release.q, release.sigma, min(release.count, left)))
            left -= kept[-1].count
    return tuple(kept)
