"""Poisson batches under replace-one adjacency: a record takes part as it is, or as another one.

A step is dominated by P = (1-q) N(0, sigma^2) + q N(1, sigma^2) and Q = (1-q) N(0, sigma^2) + q
N(-1, sigma^2), and is that pair for two records that pull in opposite directions. README.md has the
proof. A reflection of the line swaps P and Q, so both directions are the same.
"""

from functools import partial
from typing import final

import numpy as np
from scipy.special import ndtri

from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.step_law import StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.sampling.base import Sampler, words_of
from dpcore.privacy.sampling.orders import order_bounds
from dpcore.privacy.sampling.round_laws import (
    NODES,
    lattice,
    laws_of_halves,
    on_the_line,
    step_bounds,
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
    last = int(np.ceil(high / mesh)) + 1
    x = place_at(q, sigma, lattice(-last * mesh, 2 * last + 1, mesh, sigma))
    none, other, own = (on_the_line(x - mean, sigma) for mean in (0.0, -1.0, 1.0))
    return laws_of_halves(
        np.stack([_mixed(q, none, other), _mixed(q, none, own)]), -last * mesh, mesh
    )


def deviation(q: float, sigma: float) -> float:
    """About the standard deviation of the loss of one step."""
    x = np.linspace(-1 - 9 * sigma, 1 + 9 * sigma, SAMPLES)
    density = _mixed(q, np.exp(-0.5 * (x / sigma) ** 2), np.exp(-0.5 * ((x - 1) / sigma) ** 2))
    loss, weight = loss_at(q, sigma, x), density / density.sum()
    return float(np.sqrt(weight @ (loss - weight @ loss) ** 2))


def loss_at(q: float, sigma: float, x: FloatArray) -> FloatArray:
    """ln P/Q at places on the line, an odd and rising function of x."""
    with np.errstate(divide="ignore"):
        rest, own = np.log1p(-q), np.log(q) - 0.5 / sigma**2
    return np.logaddexp(rest, own + x / sigma**2) - np.logaddexp(rest, own - x / sigma**2)


def place_at(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """The place on the line with loss y, from b u^2 - (1-q) (e^|y| - 1) u - e^|y| b = 0 for u =
    e^(x/sigma^2).
    """
    rise, shift = (1 - q) * np.expm1(np.abs(y)), np.log(q) - 0.5 / sigma**2
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
    """Poisson batches, for neighbours that differ in the content of one record, not in its
    presence.

    >>> PoissonReplaceOne().curve(0.01, 1.0, 1000, 1e-5).lower.round(2)
    array([2.84])
    """

    name, title, source, phrase, note = words_of("poisson_replace_one")
    adjacency = "replace-one"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        if q == 1:
            return EpsilonBounds(*order_bounds(sigma / 2, steps, delta))
        found = step_bounds(
            partial(replace_one_laws, q, sigma), MESH * deviation(q, sigma), steps, delta
        )
        return EpsilonBounds(*found)
