"""The sum of the ratios of an epoch, on points that lie evenly in logarithms: for little noise, and few steps.

A grid of equal distances that ends at the largest ratios begins too far from 0, and what it rounds down to 0 would be
an infinite loss where the record is added. Here two laws are added point by point, and each sum is split between the
points beside it, which is a spread again. README.md is the proof.
"""

from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dpcore.privacy.certified.step_law import dominating
from dpcore.privacy.sampling.one_ratio import beyond, cells_between, largest
from dpcore.privacy.types import FloatArray, IntArray, read_only

POINTS = 600  # of the first law
MOST_POINTS = 1800
WIDEST = 0.2  # distance of points in logarithms
UNIT = 2.0**-53
EACH = 32  # units that one mass, its share and its place may err


class Splits(NamedTuple):
    """Between which points the sum of any two lies, and how near the upper one: (N N,) each, row by row."""

    lower: IntArray
    share: FloatArray
    terms: IntArray  # (N,) how many masses come together in each point


@lru_cache(maxsize=4)
def sum_of_ratios(steps: int, sigma: float, tail: float, fineness: float) -> tuple[FloatArray, FloatArray, float]:
    """Values (N,) of a sum of so many ratios that dominates it, their masses under Q, and by how much those may err.

    Values beyond the last point are moved down to it: what the mean lacks then lies at infinity.
    Errors: RuntimeError where ratios lie too far apart.
    """
    points = _points(steps, sigma, tail, min(int(POINTS / fineness), MOST_POINTS))
    one, splits = _one(sigma, points), _splits(points)
    total, count, error = one, 1, steps * _rounded(one, points, splits, steps)
    for bit in bin(steps)[3:]:  # from the second digit on: doubled for each, and one more for each 1
        total, count = _added(total, total, splits), 2 * count
        error += steps / count * _rounded(total, points, splits, steps)
        if bit == "1":
            total, count = _added(total, one, splits), count + 1
            error += steps / count * _rounded(total, points, splits, steps)
    return points, read_only(total), error


def _points(steps: int, sigma: float, tail: float, count: int) -> FloatArray:
    """0, and points from below the smallest ratio that counts to the sum's largest. Errors: RuntimeError."""
    first = -0.5 / sigma**2 + float(ndtri(tail)) / sigma
    last = log(largest(sigma, tail)) + log(steps)
    if last - first > WIDEST * count:
        raise RuntimeError(f"At sigma={sigma:g} one step tells so much that its ratios are too far apart to be added.")
    return read_only(np.concatenate([[0.0], np.exp(np.linspace(first, last, count))]))


def _one(sigma: float, points: FloatArray) -> FloatArray:
    """The law of one ratio: every cell is split between its ends."""
    halved = np.interp(np.arange(2 * points.size - 1) / 2, np.arange(points.size), points)
    mass = dominating(cells_between(sigma, halved))
    mass[-1] += beyond(sigma, float(points[-1])).mass
    return mass


def _splits(points: FloatArray) -> Splits:
    total = np.minimum(points[:, None] + points, points[-1]).ravel()
    lower = np.clip(np.searchsorted(points, total, side="right") - 1, 0, points.size - 2)
    share = np.clip((total - points[lower]) / (points[lower + 1] - points[lower]), 0.0, 1.0)
    terms = np.bincount(lower, minlength=points.size) + np.bincount(lower + 1, minlength=points.size)
    return Splits(lower, share, terms)


def _rounded(mass: FloatArray, points: FloatArray, splits: Splits, steps: int) -> float:
    """By how much rounding may change a divergence, at most, where this law is one summand of the whole."""
    return UNIT * float((splits.terms + EACH) @ (mass * (1 + points / steps)))


def _added(first: FloatArray, second: FloatArray, splits: Splits) -> FloatArray:
    """The law of the sum of two."""
    both = np.outer(first, second).ravel()
    up = both * splits.share
    size = first.size
    total = np.bincount(splits.lower, both - up, size) + np.bincount(splits.lower + 1, up, size)
    return np.asarray(total, dtype=np.float64)
