"""Poisson batches, for neighbours that differ by all k records of one person.

A step is dominated by P = sum over j of Bin(k, q)(j) N(j, sigma^2) and Q = N(0, sigma^2), and is
that pair for records that pull in one direction. README.md has the proof.
"""

from functools import partial
from math import ceil, log
from typing import NamedTuple, final

import numpy as np
from scipy.special import ndtri

from dpcore import check
from dpcore.privacy.certified.cells import MIN_REACH
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.step_law import StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.sampling.base import ADD_REMOVE, Parameter, Sampler, chances
from dpcore.privacy.sampling.orders import order_bounds
from dpcore.privacy.sampling.round_laws import (
    NODES,
    SMALLEST_MASS,
    lattice,
    laws_of_halves,
    on_the_line,
    step_bounds,
    weighted_deviation,
)

MAX_RECORDS = 100  # the chances for more would err by more than is charged
ROUNDS = 100  # of Newton's method, at most; it needs about five
SETTLED = 1e-15  # its last change, relative to the places
SAMPLES = 2001  # places on the line for the estimate of a loss's deviation
MESH = 0.12  # first mesh, in standard deviations of a step's loss
PARTS = 2**19  # nodes of a lattice times parts of the mixture, at most


class Mixture(NamedTuple):
    """P of one step on the line: the mixture of N(j, sigma^2)."""

    sigma: float
    moved: FloatArray  # (K,) the numbers j, from 0 on
    chance: FloatArray  # (K,) of each number

    def losses(self, x: FloatArray) -> FloatArray:
        """ln P/Q at (n,) places, which rises from ln chance[0] on."""
        part = np.subtract.outer(x, 0.5 * self.moved) * self.moved / self.sigma**2
        return np.logaddexp.reduce(part + np.log(self.chance), axis=1)

    def places(self, loss: FloatArray) -> FloatArray:
        """The places with (n,) losses, -infinity at or below the lowest one.

        The logarithm of the part with j >= 1 is convex and rises, so Newton's method falls to a
        place from any above.
        """
        lowest = log(self.chance[0])
        y = loss[loss > lowest]  # (m,)
        aim = y + np.log(-np.expm1(lowest - y))  # the logarithm of the part with j >= 1
        moved = self.moved[1:, None]  # (K - 1, 1)
        start = np.log(self.chance)[1:, None] - 0.5 * (moved / self.sigma) ** 2
        slope = moved / self.sigma**2
        x = np.min((aim - start) / slope, axis=0)
        for _ in range(ROUNDS):
            exponent = start + slope * x  # (K - 1, m)
            top = exponent.max(axis=0)
            part = np.exp(exponent - top)
            total = part.sum(axis=0)
            change = (top + np.log(total) - aim) * total / (slope[:, 0] @ part)
            x = x - change
            if np.all(np.abs(change) <= SETTLED * (np.abs(x) + self.sigma)):
                break
        places = np.full(loss.shape, -np.inf)
        places[loss > lowest] = x
        return places

    def deviation(self) -> float:
        """About the standard deviation of the loss."""
        x = np.linspace(-9 * self.sigma, self.moved[-1] + 9 * self.sigma, SAMPLES)
        density = self.chance @ np.exp(-0.5 * ((x - self.moved[:, None]) / self.sigma) ** 2)
        return weighted_deviation(self.losses(x), density)


def mixture_of(q: float, sigma: float, records: int) -> Mixture:
    """P for a person of so many records, at q < 1."""
    chance = chances(q, records)
    chance[0] = max(chance[0], SMALLEST_MASS)
    live = np.flatnonzero(chance >= SMALLEST_MASS)
    return Mixture(sigma, live.astype(np.float64), chance[live])


def group_laws(step: Mixture, mesh: float, tail: float, most: int = NODES) -> StepLaws:
    """The laws of one step on about `most` nodes at most, without about `tail` mass at either end.

    Errors: RuntimeError if e^loss overflows.
    """
    sigma = step.sigma
    share = tail / step.moved.size
    live = step.chance > share
    far = step.moved[live] - sigma * ndtri(np.minimum(share / step.chance[live], 0.5))
    leftmost = float(ndtri(tail)) * sigma
    rightmost = np.max(far, initial=1 + MIN_REACH * sigma)
    low, high = step.losses(np.array([leftmost, rightmost])).tolist()
    lowest = log(step.chance[0])
    if low < lowest + mesh:
        low = lowest
    nodes = min(most, PARTS // step.moved.size)
    mesh = max(mesh, (high - low) / nodes)
    count = ceil((high - low) / mesh) + 2
    x = step.places(lattice(low, count, mesh, sigma))
    none = on_the_line(x, sigma)
    parts = [on_the_line(x - j, sigma) for j in step.moved]
    weighted = step.chance[:, None] * np.stack(parts)
    return laws_of_halves(np.stack([none, np.sum(weighted, axis=0)]), low, mesh)


@final
class PoissonGroup(Sampler):
    """Poisson batches, for neighbours that differ by `records` records of one person.

    >>> PoissonGroup(4).curve(0.01, 1.0, 1000, 1e-5).epsilon.round(2)
    array([8.91])
    """

    name = "poisson_group"
    title = "Poisson, group"
    source = "dpcore/privacy/sampling/README.md, Theorem 12"
    phrase = "Poisson batches"
    note = (
        "Poisson batches, but neighbours differ by all k records of one person. Each record has"
        " coins of its own, and the noise covers the sum of those that meet in a batch. The number"
        " for one record protects no such person."
    )
    form = "poisson_group:K, with K records of one person"
    parameters = (
        Parameter(
            name="records",
            label="Records of one person k",
            note="All of them are present, or none: epsilon covers the person.",
            start=2,
            most=MAX_RECORDS,
            far=MAX_RECORDS,
            fewer="fewer",
            more="more",
        ),
    )
    absent_is_zero = True

    def __init__(self, records: int = 2) -> None:
        check.whole(1, MAX_RECORDS, records=records)
        self.records = records
        plural = "s" if records > 1 else ""
        self.adjacency = f"{ADD_REMOVE} of {records} record{plural}"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        if q == 1:
            return order_bounds(sigma / self.records, steps, delta)
        step = mixture_of(q, sigma, self.records)
        laws_on = partial(group_laws, step)
        return step_bounds(laws_on, MESH * step.deviation(), steps, delta)
