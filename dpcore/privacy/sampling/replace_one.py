"""Poisson batches under replace-one adjacency: a record takes part as it is, or as another one.

A step is dominated by P = (1-q) N(0, sigma^2) + q N(1, sigma^2) and Q = (1-q) N(0, sigma^2) + q
N(-1, sigma^2), and is that pair for two records that pull in opposite directions. README.md has the
proof. A reflection of the line swaps P and Q, so both directions are the same.
"""

from functools import partial
from math import ceil
from typing import final

import numpy as np
from scipy.special import ndtri

from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.step_law import StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.sampling.base import REPLACE_ONE, Poisson, Sampler
from dpcore.privacy.sampling.orders import order_bounds
from dpcore.privacy.sampling.round_laws import (
    NODES,
    lattice,
    laws_of_halves,
    on_the_line,
    step_bounds,
    weighted_deviation,
)

SAMPLES = 2001  # places on the line for the estimate of a loss's deviation
MESH = 0.12  # first mesh, in standard deviations of a step's loss


def replace_one_laws(
    q: float, sigma: float, mesh: float, tail: float, most: int = NODES
) -> StepLaws:
    """The laws of one step on about `most` nodes at most, without about `tail` mass at either end.

    Errors: RuntimeError if e^loss overflows.
    """
    end = 1 - float(ndtri(tail)) * sigma
    high = float(loss_at(q, sigma, np.array([end]))[0])
    mesh = max(mesh, 2 * high / most)
    last = ceil(high / mesh) + 1
    low = -last * mesh
    x = place_at(q, sigma, lattice(low, 2 * last + 1, mesh, sigma))
    none = on_the_line(x, sigma)
    other = on_the_line(x + 1.0, sigma)
    own = on_the_line(x - 1.0, sigma)
    halves = np.stack([_mixed(q, none, other), _mixed(q, none, own)])  # under Q and P
    return laws_of_halves(halves, low, mesh)


def deviation(q: float, sigma: float) -> float:
    """About the standard deviation of the loss of one step."""
    x = np.linspace(-1 - 9 * sigma, 1 + 9 * sigma, SAMPLES)
    none = np.exp(-0.5 * (x / sigma) ** 2)
    own = np.exp(-0.5 * ((x - 1) / sigma) ** 2)
    return weighted_deviation(loss_at(q, sigma, x), _mixed(q, none, own))


def loss_at(q: float, sigma: float, x: FloatArray) -> FloatArray:
    """ln P/Q at places on the line, an odd and rising function of x."""
    with np.errstate(divide="ignore"):
        none = np.log1p(-q)
    own = np.log(q) - 0.5 / sigma**2
    return np.logaddexp(none, own + x / sigma**2) - np.logaddexp(none, own - x / sigma**2)


def place_at(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """The place x on the line with loss y.

    It solves b u^2 - (1-q) (e^|y| - 1) u - e^|y| b = 0 for u = e^(x/sigma^2).
    """
    rise = (1 - q) * np.expm1(np.abs(y))
    shift = np.log(q) - 0.5 / sigma**2  # ln b
    # ln of the positive root (rise + sqrt(rise^2 + 4 e^|y| b^2)) / (2 b), whose terms are all
    # positive.
    with np.errstate(divide="ignore"):
        root = 0.5 * np.logaddexp(2 * np.log(rise), np.log(4) + np.abs(y) + 2 * shift)
        log_u = np.logaddexp(np.log(rise), root) - np.log(2) - shift
    return np.sign(y) * sigma**2 * log_u


def _mixed(q: float, without: FloatArray, with_record: FloatArray) -> FloatArray:
    return (1 - q) * without + q * with_record


@final
class PoissonReplaceOne(Sampler):
    """Poisson batches, for neighbours that differ in the content of one record.

    >>> PoissonReplaceOne().curve(0.01, 1.0, 1000, 1e-5).lower.round(2)
    array([2.84])
    """

    name = "poisson_replace_one"
    title = "Poisson, replace-one"
    source = "dpcore/privacy/sampling/README.md, Theorem 1"
    phrase = "Poisson batches"
    note = (
        "Poisson batches, but neighbours differ in the content of one record. That may move the"
        " sum by 2 C; an absent record moves it by C. An epsilon for one adjacency cannot be"
        " compared with an epsilon for the other."
    )
    same_batches = Poisson.name
    adjacency = REPLACE_ONE

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        if q == 1:
            return order_bounds(sigma / 2, steps, delta)
        laws_on = partial(replace_one_laws, q, sigma)
        return step_bounds(laws_on, MESH * deviation(q, sigma), steps, delta)
