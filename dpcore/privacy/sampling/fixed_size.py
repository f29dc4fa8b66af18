"""Batches of one fixed size, drawn without replacement, where neighbours replace one record.

A replaced record moves the sum by up to 2 C, twice as far as under add/remove: the base is N(2,
sigma^2) against N(0, sigma^2), in units of C. This file has three bounds or estimates of a step.

Sources: Balle, Barthe, Gaboardi 2018, arXiv 1807.01647, Theorem 9; Wang, Balle, Kasiviswanathan
2019, arXiv 1808.00087, Theorem 27; Dong, Roth, Su 2019, arXiv 1905.02383, Corollary 5.4.
"""

from functools import lru_cache
from math import ceil, comb, inf, log, pi, sqrt
from typing import final

import numpy as np
from scipy.special import ndtr

from dpcore.privacy import gaussian, renyi
from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.cells import loss_heights, position_at
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.step_law import StepLaws
from dpcore.privacy.mechanism import FloatArray, IntArray, Kind
from dpcore.privacy.sampling.base import (
    REPLACE_ONE,
    OtherCurve,
    SampledEvent,
    Sampler,
    poisson_bounds,
)
from dpcore.privacy.sampling.orders import order_bounds
from dpcore.privacy.sampling.replace_one import deviation
from dpcore.privacy.sampling.round_laws import (
    NODES,
    lattice,
    laws_of_halves,
    most_nodes,
    on_the_line,
    tail_mass,
    upper_bounds,
)

HIGHEST_ORDER = 256
MAX_EXPONENT = 600.0  # e^600 is still a float
ORDERS = np.arange(2.0, HIGHEST_ORDER + 1)
# Of the quadrature, in standard deviations: its error is e^-1000 of the largest value nearby.
STEP = 0.02
FARTHER = 14.0  # standard deviations beyond the peak of the integrand
MARGIN = 1e-9  # relative: above the error of the quadrature
# In standard deviations of a step's loss; a finer mesh takes seconds and gains a thousandth.
MESH = 0.3


def fixed_size_laws(
    q: float, sigma: float, mesh: float, tail: float, most: int = NODES
) -> StepLaws:
    """The laws, on about `most` nodes, of a pair that dominates a step at sampling rate q.

    For t >= 1 the hockey-stick divergence of neighbours is at most that of (1-q) N(0) + q N(2) and
    N(0), in both directions (Balle et al.). So the pair has those masses at t > 1, their mirror
    image at t < 1, the rest at t = 1. The dominated law is not valid for the step. Errors:
    RuntimeError if e^loss overflows.
    """
    half = 0.5 * sigma  # the noise over the largest move of one record
    lowest = 0.0 if q == 1 else float(np.log1p(-q))
    high = loss_heights(q, half, tail)[1] + lowest
    mesh = max(mesh, 2 * high / most)
    last = ceil(high / mesh) + 1
    losses = lattice(0.0, last + 1, mesh, sigma)  # (m,) from 0 on
    x = position_at(q, half, losses - lowest)
    none = on_the_line(x, half)[1:]  # (m,) beyond each of these places
    own = on_the_line(x - 1, half)[1:]
    above = np.stack([none, (1 - q) * none + q * own])  # (2, m) under Q and P
    below = above[::-1, ::-1]  # the mirror image, in which P and Q change places
    halves = np.concatenate([below, above], axis=1)  # (2, 2 m)
    rest = 1 - float(halves[0].sum())
    halves[:, above.shape[1]] += max(rest, 0.0)
    return laws_of_halves(halves, -last * mesh, mesh)


@lru_cache(maxsize=256)
def log_moments(q: float, sigma: float) -> FloatArray:
    """An upper bound of the Renyi log-moments (a - 1) D_a of one step, (K,), read-only.

    The orders are a = 2..HIGHEST_ORDER. Source: arXiv 1808.00087, Theorem 27: ln of 1 + q^2
    binom(a, 2) min(4 (e^(4/sigma^2) - 1), 2 e^(4/sigma^2)) plus the sum over j = 3..a of
    q^j binom(a, j) min(4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))), 2 e^(2 j (j-1)/sigma^2)), where
    B(l) is the l-th central moment of the ratio N(2, sigma^2)/N(0, sigma^2).
    """
    base = 0.5 * sigma
    j = np.arange(2, HIGHEST_ORDER + 1)
    moment = 0.5 * j * (j - 1) / base**2  # ln E[ratio^j]
    central = _log_central_moments(base)  # of 2, 4, ..
    by_central = log(4) + 0.5 * (central[j // 2 - 1] + central[(j + 1) // 2 - 1])
    least = np.minimum(by_central, log(2) + moment)  # ln of the minimum for each j
    rise = moment[0] + log(-np.expm1(-moment[0]))
    least[0] = min(log(4) + rise, log(2) + moment[0])
    terms = np.full((j.size, j.size + 1), -inf)  # (a, j), of j = 0 and then of 2, 3, ..
    terms[:, 0] = 0.0
    for row, a in enumerate(j):
        up_to_a = j[: row + 1]
        binomials = np.array([log(comb(int(a), int(each))) for each in up_to_a])
        terms[row, 1 : row + 2] = binomials + up_to_a * log(q) + least[: row + 1]
    values = np.logaddexp.reduce(terms, axis=1) * (1 + MARGIN)
    values.setflags(write=False)
    return values


def _log_central_moments(base: float) -> FloatArray:
    """ln E[(w - 1)^l] for even l up to HIGHEST_ORDER and lognormal w of mean 1.

    It is an integral by the trapezoidal rule.
    """
    even = np.arange(2, HIGHEST_ORDER + 1, 2)
    values = np.empty(even.size)
    for at, order in enumerate(even):
        peak = sqrt(order)
        z = np.arange(-peak - FARTHER, max(order / base, peak) + FARTHER, STEP)
        exponent = z / base - 0.5 / base**2
        # ln |w - 1| without cancellation; -infinity at w = 1.
        with np.errstate(divide="ignore"):
            distance = np.maximum(exponent, 0.0) + np.log(-np.expm1(-np.abs(exponent)))
        log_sum = float(np.logaddexp.reduce(order * distance - 0.5 * z**2))
        values[at] = log_sum + log(STEP / sqrt(2 * pi))
    return values + MARGIN


def clt_mu(q: float, sigma: float) -> float:
    """The mu of the central limit theorem after one step; it grows with the root of the steps.

    Source: arXiv 1905.02383, Corollary 5.4, for a base that is 1/s-GDP: sqrt(2) q times the root of
    e^(1/s^2) Phi(1.5/s) + 3 Phi(-0.5/s) - 2, with s = sigma/2.

    >>> round(100 * clt_mu(0.01, 8.0), 4)  # of 10,000 steps
    0.278
    """
    base = 0.5 * sigma
    if base**-2 > MAX_EXPONENT:
        return inf
    inside = np.exp(base**-2) * ndtr(1.5 / base) + 3 * ndtr(-0.5 / base) - 2
    return sqrt(2) * q * sqrt(max(float(inside), 0.0))


@final
class FixedSize(Sampler):
    """Every batch is a set of q n records, and all such sets are equally likely.

    >>> curve = FixedSize().curve(0.01, 10.0, 10_000, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([0.74]), array([0.8]))
    """

    name = "fixed_size"
    title = "Fixed size"
    source = (
        "Balle, Barthe, Gaboardi 2018, arXiv 1807.01647, Theorem 9, composed here (upper); one"
        " record against all others (lower): dpcore/privacy/sampling/README.md"
    )
    phrase = "batches of a fixed size"
    note = (
        "Each batch is a set of exactly q n records, drawn without replacement. Its size is fixed,"
        " so neighbours differ in the content of one record, which may move the sum by 2 C."
    )
    event = SampledEvent("SampledWithoutReplacementDpEvent", ("source_dataset_size", "sample_size"))
    adjacency = REPLACE_ONE
    slow = True
    least_q = 1e-4

    def other_curves(
        self, q: float, sigma: float, steps: IntArray, delta: float
    ) -> tuple[OtherCurve, ...]:
        """The central limit theorem, an approximation, and the Renyi bound."""
        deltas = np.full(steps.shape, delta)
        mu = clt_mu(q, sigma) * np.sqrt(steps)
        of_limit = gaussian.epsilon_of(deltas, mu)
        limit = Curve(steps, deltas, of_limit, None, Kind.APPROXIMATE)
        moments = steps[:, None] * log_moments(q, sigma)  # (n, K)
        of_moments = renyi.epsilon_improved(moments, ORDERS, deltas)
        of_moments = np.where(steps > 0, np.maximum(of_moments, 0.0), 0.0)
        bound = Curve(steps, deltas, of_moments, None, Kind.UPPER)
        return (OtherCurve("Central limit theorem", limit), OtherCurve("Rényi bound", bound))

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        if q == 1:
            return order_bounds(sigma / 2, steps, delta)
        tail = tail_mass(steps, delta)
        mesh = MESH * deviation(q, sigma)
        laws = fixed_size_laws(q, sigma, mesh, tail, most_nodes(steps.size))
        upper = upper_bounds(laws, steps, delta)
        lower = poisson_bounds(q, sigma / 2, steps, delta).lower
        return EpsilonBounds(lower, upper)
