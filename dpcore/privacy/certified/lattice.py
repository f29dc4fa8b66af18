"""What many steps are made of: the kinds of steps, their laws on one mesh, and the log-moments that bound their sum."""

from collections import Counter
from collections.abc import Sequence
from math import ceil, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcore.privacy.certified.cells import step_deviation, step_span
from dpcore.privacy.certified.log_moments import LogMoments
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.step_law import StepLaws, step_laws
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.types import FloatArray, IntArray

START = 0.12  # first mesh, in standard deviations of the loss of one step
NODES = 2**21  # most nodes of the lattices of all kinds of steps together
SMALLEST_SIGMA = 0.05  # below, one step already tells all
CUT_OFF = 1e-4  # of delta: what the tails cut off all steps together may hold
LEVELS = 128  # most kinds of steps told apart


class Composition(NamedTuple):
    """Kinds of steps, and how often each is composed at each horizon."""

    kinds: list[tuple[float, float]]  # (L,) of (q, sigma)
    counts: IntArray  # (n, L)


class Lattice(NamedTuple):
    """The laws of each kind of step on one mesh, with their log-moments."""

    mesh: float
    laws: list[StepLaws]
    remove: LogMoments
    add: LogMoments
    dominated: LogMoments


def composition_of(mechanism: Mechanism, steps: IntArray) -> Composition:
    """Composition does not depend on the order: equal releases are one kind."""
    kinds = list(dict.fromkeys((release.q, release.sigma) for release in mechanism.releases))
    member = np.array([[(r.q, r.sigma) == kind for kind in kinds] for r in mechanism.releases], dtype=np.int64)
    return Composition(kinds, mechanism.compositions(steps) @ member)


def merged(composition: Composition, dominating: bool) -> Composition:
    """At most LEVELS kinds for each q: every sigma of a range is replaced by the smallest there, or by the largest.

    Less noise dominates more noise (post-processing), so that the smallest give a composition that dominates this one,
    and the largest one that it dominates.
    """
    if len(composition.kinds) <= LEVELS:
        return composition
    log_sigma = np.log([sigma for _, sigma in composition.kinds])
    bucket = np.floor((log_sigma - log_sigma.min()) / max(np.ptp(log_sigma), 1e-12) * LEVELS).astype(int)
    bucket = np.minimum(bucket, LEVELS - 1)  # the largest sigma is in the last range
    keys = [(q, int(b)) for (q, _), b in zip(composition.kinds, bucket, strict=True)]
    choose = min if dominating else max
    sigma_of = {
        k: choose(s for (_, s), key in zip(composition.kinds, keys, strict=True) if key == k) for k in set(keys)
    }
    counts = Counter()
    for key, column in zip(keys, composition.counts.T, strict=True):
        counts[key] = counts[key] + column
    return Composition([(key[0], sigma_of[key]) for key in counts], np.stack(list(counts.values()), axis=1))


def composed_deviation(composition: Composition, row: int) -> float:
    """About the standard deviation of the loss at one horizon."""
    return float(
        np.sqrt(composition.counts[row] @ np.array([step_deviation(q, sigma) ** 2 for q, sigma in composition.kinds]))
    )


def widest_span(composition: Composition, delta: FloatArray) -> float:
    """The widest range of losses of any kind of step."""
    return max(step_span(q, sigma, _tail(composition, delta)) for q, sigma in composition.kinds)


def full_mesh(composition: Composition, delta: FloatArray) -> float:
    """The mesh at which the lattices of all kinds together have NODES nodes."""
    return widest_span(composition, delta) * len(composition.kinds) / NODES


def lattice_of(composition: Composition, delta: FloatArray, mesh: float) -> Lattice:
    """The laws of each kind of step on this mesh, with their log-moments at the orders that may matter."""
    each = [step_laws(q, sigma, mesh, _tail(composition, delta)) for q, sigma in composition.kinds]
    orders = _orders(composition, delta)
    reaching = np.array([_reach(law.remove, q) for law, (q, _) in zip(each, composition.kinds, strict=True)])
    remove = log_moments_of([law.remove for law in each], orders, reaching)
    # E_Q[t^-a] = E_P[t^(-1-a)]: the moments of one direction are those of the other, read backwards.
    add = LogMoments(orders, remove.values[:, ::-1], -remove.ends[:, ::-1], remove.active, reaching)
    return Lattice(mesh, each, remove, add, log_moments_of([law.dominated for law in each], orders, reaching))


def log_moments_of(losses: Sequence[LossLaw], orders: FloatArray, reaching: FloatArray) -> LogMoments:
    """The log-moments of each law at (G,) orders."""
    ends = np.array([(loss.offset, loss.offset + loss.mesh * (loss.mass.size - 1)) for loss in losses])
    active = np.array([1 - loss.mass.max() for loss in losses])
    return LogMoments(orders, np.stack([loss.log_moments(orders) for loss in losses]), ends, active, reaching)


def _reach(loss: LossLaw, q: float) -> float:
    """The largest |loss|, and how much of 1 - q + q w is q w at most: errors are in proportion to both."""
    high = loss.offset + loss.mesh * (loss.mass.size - 1)
    share = 1.0 if q == 1 else -np.expm1(np.log1p(-q) - high)
    return max(abs(loss.offset), abs(high)) + float(share)


def _tail(composition: Composition, delta: FloatArray) -> float:
    """Mass cut off each end of one step, too little to be seen in delta."""
    return CUT_OFF * float(delta.min()) / int(composition.counts[-1].sum())


def _orders(composition: Composition, delta: FloatArray) -> FloatArray:
    """Orders for all kinds of steps together."""
    first, last = composed_deviation(composition, 0), composed_deviation(composition, -1)
    return orders_between(first, last, widest_span(composition, delta), delta)


def orders_between(first: float, last: float, span: float, delta: FloatArray) -> FloatArray:
    """Orders for losses that deviate by `first` at the first horizon, by `last` at the last, and by `span` in one step.

    They lie around what Gaussian losses would need, and rare large ones at the low end; symmetric about -1/2.
    """
    nats = -np.log(np.array([delta.max(), delta.min()]))
    low = min(sqrt(2 * nats[0]) / last / 64, 0.2 * nats[0] / span)
    high = sqrt(2 * nats[1]) / first * 16
    positive = np.geomspace(low, high, ceil(2.5 * log2(high / low)))
    return np.concatenate([-1 - positive[::-1], [-1.0, 0.0], positive])
