"""The parts of a composition: kinds of steps, their laws on one mesh, and the log-moments that
bound their sum.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcore.privacy.certified.cells import step_deviation, step_span
from dpcore.privacy.certified.rounding import factor_error, product_error
from dpcore.privacy.certified.step_law import LossLaw, StepLaws, step_laws
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism

CUT = 46.0  # frequencies whose tilted transform is below e^-CUT are omitted (and charged)
TAIL = 40.0  # the period covers all but e^-TAIL of the tilted law on either side
PRECISION = 7.0  # least distance in nats between the rest of a tilted tail and rounding
SPARE_PERIOD = 30.0  # nats by which the hockey stick falls between the two ends of the period
USUAL_PERIOD = 2**16  # about the nodes of a period, before the tilt that decides them
MAX_PERIOD_NODES = 2**22  # nodes of a period, at most
# Nodes of one period of each kind of steps, together, at most; each kind may have 2^20.
MAX_NODES_TOGETHER = 2**25
WORK = 2**24  # nodes of all periods, at most, over the horizons that keep all frequencies
START = 0.12  # first mesh, in standard deviations of the loss of one step
NODES = 2**21  # nodes of the lattices of all kinds of steps, at most
SMALLEST_SIGMA = 0.05  # below, one step already tells all
CUT_OFF = 1e-4  # of delta: the most mass that all cut tails hold
LEVELS = 128  # kinds of steps, at most


def longest(kinds: int) -> int:
    """The most nodes of a period at which the transforms of that many kinds of steps fit into
    memory.
    """
    return min(MAX_PERIOD_NODES, max(MAX_NODES_TOGETHER // kinds, 2**20))


@dataclass(frozen=True, eq=False)
class LogMoments:
    """Log-moments of each law at a grid of orders outside (-1, 0), and the range of its finite
    losses.
    """

    orders: FloatArray  # (G,) increasing, with 0
    values: FloatArray  # (L, G)
    ends: FloatArray  # (L, 2) smallest and largest finite loss
    active: FloatArray  # (L,) mass outside the fullest node
    # (L,) reach of the losses: rounding misplaces them by rounding.POSITION times that.
    reaching: FloatArray

    def precision(self, counts: IntArray) -> FloatArray:
        """Nats that a tilt may lose at (.., L) counts before rounding matters."""
        kinds = self.active.size
        error = counts @ self.active * factor_error(kinds, USUAL_PERIOD) + product_error(kinds, 0)
        return -np.log(error) - PRECISION

    def most_nodes(self, counts: IntArray) -> int:
        """The most nodes of a period for (n, L) counts; few rare losses keep every frequency."""
        lasting = np.count_nonzero(counts @ self.active < CUT)
        return min(longest(counts.shape[1]), WORK // max(int(lasting), 1))

    def chernoff(self, counts: IntArray, log_delta: FloatArray) -> FloatArray:
        """(n,) epsilons that suffice for the finite part of (n, L) counts at (n,) log deltas."""
        return np.maximum(self._chernoff_bounds(counts, log_delta).min(axis=1), 0.0)

    def chernoff_order(self, counts: IntArray, log_delta: float) -> float:
        """The order of the Chernoff bound of (L,) counts."""
        bound = self._chernoff_bounds(counts[None], np.array([log_delta]))[0]
        return float(self.orders[self.orders > 0][np.argmin(bound)])

    def _chernoff_bounds(self, counts: IntArray, log_delta: FloatArray) -> FloatArray:
        """The Chernoff bound at each positive order; (n, G+)."""
        up = self.orders > 0
        return (counts @ self.values[:, up] - log_delta[:, None]) / self.orders[up]

    def spare(
        self, counts: IntArray, log_delta: FloatArray, epsilon: FloatArray, order: FloatArray
    ) -> FloatArray:
        """Distance of the tilted tail below 1, in nats, at (n,) epsilons, (n, L) counts and (O,)
        orders; (n, O).
        """
        at = np.searchsorted(self.orders, order)
        return counts @ self.values[:, at] - np.outer(epsilon, order) - log_delta[:, None]

    def reach(
        self, counts: IntArray, order: float, at: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Losses below and above which laws of log-moments `at` (L,), tilted by `order`, have
        e^-TAIL at most.
        """
        excess = counts @ (self.values - at[:, None]) + TAIL  # (n, G)
        gap = self.orders - order
        low = gap < 0
        high = gap > 0
        least, most = (counts @ self.ends).T
        below = np.max(excess[:, low] / gap[low], axis=1, initial=-inf)
        above = np.min(excess[:, high] / gap[high], axis=1, initial=inf)
        return np.maximum(below, least), np.minimum(above, most)

    def tilt(self, counts: IntArray, log_delta: float, epsilon: float, longest: float) -> float:
        """The order with the shortest period for (L,) counts and enough precision, or with the most
        precision.
        """
        orders = self.orders[self.orders > 0]
        spare = self.spare(counts[None], np.array([log_delta]), np.array([epsilon]), orders)[0]
        periods = self._periods(counts, orders)
        good = spare <= self.precision(counts)
        if good.any() and periods[good].min() <= longest:
            return float(orders[good][np.argmin(periods[good])])
        allowed = periods <= max(longest, periods.min())
        return float(orders[allowed][np.argmin(spare[allowed])])

    def period(self, counts: IntArray, order: float) -> float:
        """A period that covers each law of (n, L) counts tilted by `order`, and over which the
        hockey stick falls.
        """
        low, high = self.reach(counts, order, self.at(order))
        return float(np.max(high - low)) + SPARE_PERIOD / order

    def _periods(self, counts: IntArray, orders: FloatArray) -> FloatArray:
        """The periods of one horizon of (L,) counts at (O,) orders of the grid."""
        total = counts @ self.values
        least, most = counts @ self.ends
        gap = self.orders - orders[:, None]  # (O, G)
        excess = total - total[np.searchsorted(self.orders, orders)][:, None] + TAIL
        bound = excess / np.where(gap == 0, np.nan, gap)
        low = np.max(np.where(gap < 0, bound, -inf), axis=1)
        high = np.min(np.where(gap > 0, bound, inf), axis=1)
        return np.minimum(high, most) - np.maximum(low, least) + SPARE_PERIOD / orders

    def at(self, order: float) -> FloatArray:
        """Log-moments at an order of the grid, (L,)."""
        return self.values[:, np.searchsorted(self.orders, order)]


class Composition(NamedTuple):
    """Kinds of steps, and their counts at each horizon."""

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
    """The composition of a mechanism; the order does not matter, so equal releases are one kind."""
    kinds = list(dict.fromkeys((release.q, release.sigma) for release in mechanism.releases))
    member = np.array(
        [[(r.q, r.sigma) == kind for kind in kinds] for r in mechanism.releases], dtype=np.int64
    )
    return Composition(kinds, mechanism.compositions(steps) @ member)


def merged(composition: Composition, dominating: bool) -> Composition:
    """Reduce to at most LEVELS kinds for each q: every sigma of a range becomes the smallest there,
    or the largest.

    Less noise dominates more noise (post-processing). So the smallest sigmas give a dominating
    composition, the largest a dominated one.
    """
    if len(composition.kinds) <= LEVELS:
        return composition
    log_sigma = np.log([sigma for _, sigma in composition.kinds])
    bucket = np.floor(
        (log_sigma - log_sigma.min()) / max(np.ptp(log_sigma), 1e-12) * LEVELS
    ).astype(int)
    bucket = np.minimum(bucket, LEVELS - 1)  # the largest sigma is in the last range
    keys = [(q, int(b)) for (q, _), b in zip(composition.kinds, bucket, strict=True)]
    choose = min if dominating else max
    sigma_of = {
        k: choose(s for (_, s), key in zip(composition.kinds, keys, strict=True) if key == k)
        for k in set(keys)
    }
    counts = Counter()
    for key, column in zip(keys, composition.counts.T, strict=True):
        counts[key] = counts[key] + column
    return Composition(
        [(key[0], sigma_of[key]) for key in counts], np.stack(list(counts.values()), axis=1)
    )


def composed_deviation(composition: Composition, row: int) -> float:
    """About the standard deviation of the loss at one horizon."""
    return float(
        np.sqrt(
            composition.counts[row]
            @ np.array([step_deviation(q, sigma) ** 2 for q, sigma in composition.kinds])
        )
    )


def widest_span(composition: Composition, delta: FloatArray) -> float:
    """The widest range of losses of any kind of step."""
    return max(step_span(q, sigma, _tail(composition, delta)) for q, sigma in composition.kinds)


def full_mesh(composition: Composition, delta: FloatArray) -> float:
    """The mesh at which the lattices of all kinds together have NODES nodes."""
    return widest_span(composition, delta) * len(composition.kinds) / NODES


def lattice_of(composition: Composition, delta: FloatArray, mesh: float) -> Lattice:
    """The laws of each kind of step on this mesh, with their log-moments at the orders that may
    matter.
    """
    each = [step_laws(q, sigma, mesh, _tail(composition, delta)) for q, sigma in composition.kinds]
    first = composed_deviation(composition, 0)
    last = composed_deviation(composition, -1)
    orders = orders_between(first, last, widest_span(composition, delta), delta)
    reaching = np.array(
        [_reach(law.remove, q) for law, (q, _) in zip(each, composition.kinds, strict=True)]
    )
    remove = log_moments_of([law.remove for law in each], orders, reaching)
    # E_Q[t^-a] = E_P[t^(-1-a)]: the moments of one direction are those of the other in reverse
    # order.
    add = LogMoments(orders, remove.values[:, ::-1], -remove.ends[:, ::-1], remove.active, reaching)
    return Lattice(
        mesh, each, remove, add, log_moments_of([law.dominated for law in each], orders, reaching)
    )


def log_moments_of(
    losses: Sequence[LossLaw], orders: FloatArray, reaching: FloatArray
) -> LogMoments:
    """The log-moments of each law at (G,) orders."""
    ends = np.array(
        [(loss.offset, loss.offset + loss.mesh * (loss.mass.size - 1)) for loss in losses]
    )
    active = np.array([1 - loss.mass.max() for loss in losses])
    return LogMoments(
        orders, np.stack([loss.log_moments(orders) for loss in losses]), ends, active, reaching
    )


def _reach(loss: LossLaw, q: float) -> float:
    """The largest |loss| plus the largest share of q w in 1 - q + q w; errors are in proportion to
    both.
    """
    high = loss.offset + loss.mesh * (loss.mass.size - 1)
    share = 1.0 if q == 1 else -np.expm1(np.log1p(-q) - high)
    return max(abs(loss.offset), abs(high)) + float(share)


def _tail(composition: Composition, delta: FloatArray) -> float:
    """Mass cut off each end of one step, too little to matter in delta."""
    return CUT_OFF * float(delta.min()) / int(composition.counts[-1].sum())


def orders_between(first: float, last: float, span: float, delta: FloatArray) -> FloatArray:
    """Orders for losses of deviation `first` at the first horizon, `last` at the last, and range
    `span` in one step.

    They surround the orders for Gaussian losses, and at the low end for rare large ones; symmetric
    about -1/2.
    """
    nats = -np.log(np.array([delta.max(), delta.min()]))
    low = min(sqrt(2 * nats[0]) / last / 64, 0.2 * nats[0] / span)
    high = sqrt(2 * nats[1]) / first * 16
    positive = np.geomspace(low, high, ceil(2.5 * log2(high / low)))
    return np.concatenate([-1 - positive[::-1], [-1.0, 0.0], positive])
