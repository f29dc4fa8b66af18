"""The likelihood ratio of one step of an epoch, a lognormal of mean 1: where it lies, and its masses between points."""

from math import exp, log

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.privacy.certified.cells import Beyond, Cells, normal_between
from dpcore.privacy.types import FloatArray

FARTHEST = 300.0  # the square of e^300 is still a float


def largest(sigma: float, tail: float) -> float:
    """The ratio beyond which the record's own step has `tail` mass. Errors: RuntimeError where it is past any float."""
    exponent = 0.5 / sigma**2 - float(ndtri(tail)) / sigma
    if max(exponent, sigma**-2) > FARTHEST:
        raise RuntimeError(f"At sigma={sigma:g} one step tells so much that its ratios leave the floats.")
    return exp(exponent)


def place_of(sigma: float, w: float) -> float:
    """Where on the line the ratio is w."""
    return sigma**2 * log(w) + 0.5


def cells_between(sigma: float, w: FloatArray) -> Cells:
    """Cells between w[0] = 0, w[2], .. halved at w[1], w[3], ..., with masses under N(0, sigma^2) and N(1, sigma^2)."""
    with np.errstate(divide="ignore"):
        x = sigma**2 * np.log(w) + 0.5
    mass = np.stack([normal_between(x / sigma), normal_between((x - 1) / sigma)])
    return Cells(w[::2], w[1::2], mass[:, ::2], mass[:, 1::2])


def beyond(sigma: float, end: float) -> Beyond:
    """What lies above a ratio: its mass, and how much of the mean is more than that mass at the ratio itself."""
    x = place_of(sigma, end)
    mass = float(ndtr(-x / sigma))
    return Beyond(mass, max(float(ndtr((1 - x) / sigma)) - mass * end, 0.0))
