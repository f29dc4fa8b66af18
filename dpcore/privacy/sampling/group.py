"""Poisson batches, for neighbours that differ by all records of one person: k of them are present,
or none.

A step is dominated by P = sum over j of Bin(k, q)(j) N(j, sigma^2) and Q = N(0, sigma^2), and is
that pair for records that pull in one direction. README.md has the proof.
"""

from functools import partial
from math import log
from typing import NamedTuple, final

import numpy as np
from scipy.special import ndtri

from dpcore import check
from dpcore.privacy.certified.cells import MIN_REACH
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.step_law import StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.sampling.base import Sampler, chances, words_of
from dpcore.privacy.sampling.orders import order_bounds
from dpcore.privacy.sampling.round_laws import (
    NODES,
    SMALLEST_MASS,
    lattice,
    laws_of_halves,
    on_the_line,
    step_bounds,
)

MAX_RECORDS = 100  # the chances for more would err by more than is charged
ROUNDS = 100  # of Newton's method, at most; it needs about five
SETTLED = 1e-15  # its last change, relative to the places
SAMPLES = 2001  # places on the line for the estimate of a loss's deviation
MESH = 0.12  # first mesh, in standard deviations of a step's loss


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
        lowest, found = log(self.chance[0]), np.full(loss.shape, -np.inf)
        y = loss[loss > lowest]
        aim = y + np.log(-np.expm1(lowest - y))
        start, slope = (
            np.log(self.chance) - 0.5 * (self.moved / self.sigma) ** 2,
            self.moved / self.sigma**2,
        )
        start, slope = start[1:, None], slope[1:, None]
        x = np.min((aim - start) / slope, axis=0)
        for _ in range(ROUNDS):
            part = start + slope * x
            top = part.max(axis=0)
            part = np.exp(part - top)
            total = part.sum(axis=0)
            change = (top + np.log(total) - aim) * total / (slope[:, 0] @ part)
            x = x - change
            if np.all(np.abs(change) <= SETTLED * (np.abs(x) + self.sigma)):
                break
        found[loss > lowest] = x
        return found

    def deviation(self) -> float:
        """About the standard deviation of the loss."""
        x = np.linspace(-9 * self.sigma, self.moved[-1] + 9 * self.sigma, SAMPLES)
        density = self.chance @ np.exp(-0.5 * ((x - self.moved[:, None]) / self.sigma) ** 2)
        loss, weight = self.losses(x), density / density.sum()
        return float(np.sqrt(weight @ (loss - weight @ loss) ** 2))


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
    sigma, lowest, share = step.sigma, log(step.chance[0]), tail / step.moved.size
    live = step.chance > share
    far = step.moved[live] - sigma * ndtri(np.minimum(share / step.chance[live], 0.5))
    ends = np.array([float(ndtri(tail)) * sigma, np.max(far, initial=1 + MIN_REACH * sigma)])
    low, high = step.losses(ends).tolist()
    low = lowest if low < lowest + mesh else low
    mesh = max(mesh, (high - low) / most)
    count = int(np.ceil((high - low) / mesh)) + 2
    x = step.places(lattice(low, count, mesh, sigma))
    parts = [
        each * on_the_line(x - j, sigma) for j, each in zip(step.moved, step.chance, strict=True)
    ]
    return laws_of_halves(np.stack([on_the_line(x, sigma), np.sum(parts, axis=0)]), low, mesh)


@final
class PoissonGroup(Sampler):
    """Poisson batches, for neighbours that differ by `records` records, each of which has coins of
    its own.

    >>> PoissonGroup(4).curve(0.01, 1.0, 1000, 1e-5).epsilon.round(2)
    array([8.91])
    """

    name, title, source, phrase, note = words_of("poisson_group")
    form = "poisson_group:K, with K records of one person"

    def __init__(self, records: int = 2) -> None:
        check.whole(1, MAX_RECORDS, records=records)
        self.records = records
        self.adjacency = f"add/remove of {records} record{'s' if records > 1 else ''}"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        if q == 1:
            return EpsilonBounds(*order_bounds(sigma / self.records, steps, delta))
        step = mixture_of(q, sigma, self.records)
        found = step_bounds(partial(group_laws, step), MESH * step.deviation(), steps, delta)
        return EpsilonBounds(*found)
