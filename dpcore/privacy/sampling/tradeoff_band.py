"""The trade-off function of batches that are drawn in one way, between two proven curves."""

import numpy as np

from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.sampling.base import Sampler
from dpcore.privacy.tradeoff import Pairs, never_below

DELTAS = np.unique(np.concatenate([np.logspace(-9, -2, 36), np.linspace(0.02, 0.98, 49)]))  # of the pairs


def tradeoff_band(sampler: Sampler, q: float, sigma: float, steps: int) -> Band:
    """The band after so many of the sampler's own steps, symmetric: what its profile says, and no more.

    The pairs of the upper ends give the curve below, the lower ends, each moved to the next smaller epsilon, the curve
    above. Edge cases: without a finite upper end the band is empty, and its lower curve is 0. Errors: ValueError.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> band = tradeoff_band(SAMPLERS["fixed_order"], q=0.1, sigma=2.0, steps=40)  # exactly G_1, at 0.05 it is 0.7405
    >>> float(band.lower.beta(0.05).round(2)), float(band.upper.beta(0.05).round(2))
    (0.74, 0.76)
    """
    profile = sampler.profile(q, sigma, steps, DELTAS)
    lower = profile.lower if profile.lower is not None else np.zeros(DELTAS.shape)
    empty = not bool(np.isfinite(profile.epsilon).any())
    return Band(Pairs(profile.epsilon, DELTAS), never_below(lower, DELTAS), profile.note, empty)
