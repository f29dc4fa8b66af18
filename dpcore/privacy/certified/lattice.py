"""What many steps are made of: the kinds of steps, their laws on one mesh, and the log-moments that bound their sum."""

from collections import Counter
from math import ceil, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcore.privacy.certified.log_moments import Moments
from dpcore.privacy.certified.step_law import Laws, laws, span, spread
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.types import FloatArray, IntArray

START = 0.12  # first mesh, in standard deviations of the loss of one step
NODES = 2**17  # most nodes of the lattice of one step
SMALLEST_SIGMA = 0.05  # below, one step already tells all
LEVELS = 128  # most kinds of steps told apart


class Steps(NamedTuple):
    """Kinds of steps, and how often each was used at each horizon."""

    kinds: list[tuple[float, float]]  # (L,) of (q, sigma)
    uses: IntArray  # (n, L)


class Lattice(NamedTuple):
    """The laws of each kind of step on one mesh, with the log-moments of those that dominate."""

    mesh: float
    laws: list[Laws]
    remove: Moments
    add: Moments


def steps_of(mechanism: Mechanism, steps: IntArray) -> Steps:
    """Composition does not depend on the order: equal releases are one kind."""
    kinds = list(dict.fromkeys((release.q, release.sigma) for release in mechanism.releases))
    member = np.array([[(r.q, r.sigma) == kind for kind in kinds] for r in mechanism.releases], dtype=np.int64)
    return Steps(kinds, mechanism.uses(steps) @ member)


def merged(steps: Steps, up: bool) -> Steps:
    """At most LEVELS kinds (for each q): every sigma of a range replaced by its smallest (up) or largest.

    Less noise dominates more noise (post-processing), so either way the bound stays one.
    """
    if len(steps.kinds) <= LEVELS:
        return steps
    log_sigma = np.log([sigma for _, sigma in steps.kinds])
    bucket = np.floor((log_sigma - log_sigma.min()) / max(np.ptp(log_sigma), 1e-12) * LEVELS).astype(int)
    keys = [(q, int(b)) for (q, _), b in zip(steps.kinds, bucket, strict=True)]
    choose = min if up else max
    sigma_of = {k: choose(s for (_, s), key in zip(steps.kinds, keys, strict=True) if key == k) for k in set(keys)}
    uses = Counter()
    for key, column in zip(keys, steps.uses.T, strict=True):
        uses[key] = uses[key] + column
    return Steps([(key[0], sigma_of[key]) for key in uses], np.stack(list(uses.values()), axis=1))


def deviation(steps: Steps, row: int) -> float:
    """About the standard deviation of the loss at one horizon."""
    return float(np.sqrt(steps.uses[row] @ np.array([spread(q, sigma) ** 2 for q, sigma in steps.kinds])))


def extent(steps: Steps, delta: FloatArray) -> float:
    """The widest range of losses of any kind of step."""
    return max(span(q, sigma, _tail(steps, delta)) for q, sigma in steps.kinds)


def lattice_of(steps: Steps, delta: FloatArray, mesh: float) -> Lattice:
    each = [laws(q, sigma, mesh, _tail(steps, delta)) for q, sigma in steps.kinds]
    orders = _orders(steps, delta)
    values = np.stack([law.remove.log_moments(orders) for law in each])
    ends = np.array([(law.remove.offset, law.remove.offset + mesh * (law.remove.mass.size - 1)) for law in each])
    # E_Q[t^-a] = E_P[t^(-1-a)]: the moments of one direction are those of the other, read backwards.
    active = np.array([1 - law.remove.mass.max() for law in each])
    remove, add = (values, ends), (values[:, ::-1], -ends[:, ::-1])
    return Lattice(mesh, each, Moments(orders, *remove, active), Moments(orders, *add, active))


def _tail(steps: Steps, delta: FloatArray) -> float:
    """Mass cut off each end of one step, far too little to be seen in delta."""
    return 1e-10 * float(delta.min()) / int(steps.uses[-1].sum())


def _orders(steps: Steps, delta: FloatArray) -> FloatArray:
    """Orders around what Gaussian losses would need, and rare large ones at the low end; symmetric about -1/2."""
    nats = -np.log(np.array([delta.max(), delta.min()]))
    low = min(sqrt(2 * nats[0]) / deviation(steps, -1) / 64, 0.2 * nats[0] / extent(steps, delta))
    high = sqrt(2 * nats[1]) / deviation(steps, 0) * 16
    positive = np.geomspace(low, high, ceil(2.5 * log2(high / low)))
    return np.concatenate([-1 - positive[::-1], [-1.0, 0.0], positive])
