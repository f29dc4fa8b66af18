"""Log-moments of lattice laws at a grid of orders: Chernoff bounds, and which tilt suits a horizon.

Also the numbers that decide how exact and how costly a composition is.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from dpcore.privacy.certified.rounding import factor_error, product_error
from dpcore.privacy.types import FloatArray, IntArray

CUT = 46.0  # frequencies whose tilted transform is below e^-CUT are left out (and charged)
TAIL = 40.0  # the period covers all but e^-TAIL of the tilted law on either side
PRECISION = 7.0  # nats by which what a tilt leaves lies above rounding, at least
SPARE_PERIOD = 30.0  # nats by which the hockey stick falls between the two ends of the period
USUAL_PERIOD = 2**16  # nodes of a period, about, where the tilt is chosen before its period is known
LONGEST = 2**22  # nodes of a period, at most
TOGETHER = 2**25  # nodes of one period for each kind of step, at most, where that is more than 2^20
WORK = 2**24  # nodes of all periods together, at most, over the horizons that keep all frequencies


def longest(kinds: int) -> int:
    """Most nodes of a period, so that the transforms of that many kinds of steps fit into memory."""
    return min(LONGEST, max(TOGETHER // kinds, 2**20))


@dataclass(frozen=True, eq=False)
class LogMoments:
    """Log-moments of each law at a grid of orders outside (-1, 0), and the range of its finite losses."""

    orders: FloatArray  # (G,) increasing, with 0
    values: FloatArray  # (L, G)
    ends: FloatArray  # (L, 2) smallest and largest finite loss
    active: FloatArray  # (L,) mass outside the fullest node
    reaching: FloatArray  # (L,) how far losses reach: rounding misplaces them by that much, times rounding.POSITION

    def precision(self, counts: IntArray) -> FloatArray:
        """Nats that a tilt may give away at (.., L) counts before rounding is felt."""
        kinds = self.active.size
        error = counts @ self.active * factor_error(kinds, USUAL_PERIOD) + product_error(kinds, 0)
        return -np.log(error) - PRECISION

    def most_nodes(self, counts: IntArray) -> int:
        """How fine the lattice of all steps may be for (n, L) counts: few rare losses keep every frequency alive."""
        lasting = np.count_nonzero(counts @ self.active < CUT)
        return min(longest(counts.shape[1]), WORK // max(int(lasting), 1))

    def chernoff(self, counts: IntArray, log_delta: FloatArray) -> FloatArray:
        """An epsilon that suffices for the finite part of (n, L) counts at (n,) log deltas; (n,)."""
        return np.maximum(self._chernoff_bounds(counts, log_delta).min(axis=1), 0.0)

    def chernoff_order(self, counts: IntArray, log_delta: float) -> float:
        """The order at which (L,) counts have that bound."""
        bound = self._chernoff_bounds(counts[None], np.array([log_delta]))[0]
        return float(self.orders[self.orders > 0][np.argmin(bound)])

    def _chernoff_bounds(self, counts: IntArray, log_delta: FloatArray) -> FloatArray:
        """The bound from each positive order; (n, G+)."""
        up = self.orders > 0
        return (counts @ self.values[:, up] - log_delta[:, None]) / self.orders[up]

    def spare(self, counts: IntArray, log_delta: FloatArray, epsilon: FloatArray, order: FloatArray) -> FloatArray:
        """Nats by which the tilted tail at (n,) epsilons lies below 1, for (n, L) counts and (O,) orders; (n, O)."""
        at = np.searchsorted(self.orders, order)
        return counts @ self.values[:, at] - np.outer(epsilon, order) - log_delta[:, None]

    def reach(self, counts: IntArray, order: float, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Losses below and above which laws with log-moments `at` (L,), tilted by `order`, have at most e^-TAIL.

        They are Chernoff bounds, each the best of the grid, and never beyond the ends of the lattice.
        """
        excess = counts @ (self.values - at[:, None]) + TAIL  # (n, G)
        gap = self.orders - order
        low, high = gap < 0, gap > 0
        least, most = (counts @ self.ends).T
        below = np.max(excess[:, low] / gap[low], axis=1, initial=-inf)
        above = np.min(excess[:, high] / gap[high], axis=1, initial=inf)
        return np.maximum(below, least), np.minimum(above, most)

    def tilt(self, counts: IntArray, log_delta: float, epsilon: float, longest: float) -> float:
        """The order on the grid that needs the shortest period for (L,) counts and keeps enough precision.

        Where none does within the longest period allowed, the one that keeps most.
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
        """A length that holds each law of (n, L) counts tilted by `order`, and weakens the hockey stick enough."""
        low, high = self.reach(counts, order, self.at(order))
        return float(np.max(high - low)) + SPARE_PERIOD / order

    def _periods(self, counts: IntArray, orders: FloatArray) -> FloatArray:
        """The same for one horizon of (L,) counts at (O,) orders of the grid."""
        total, (least, most) = counts @ self.values, counts @ self.ends
        gap = self.orders - orders[:, None]  # (O, G)
        excess = total - total[np.searchsorted(self.orders, orders)][:, None] + TAIL
        bound = excess / np.where(gap == 0, np.nan, gap)
        low = np.max(np.where(gap < 0, bound, -inf), axis=1)
        high = np.min(np.where(gap > 0, bound, inf), axis=1)
        return np.minimum(high, most) - np.maximum(low, least) + SPARE_PERIOD / orders

    def at(self, order: float) -> FloatArray:
        """Log-moments at an order of the grid, (L,)."""
        return self.values[:, np.searchsorted(self.orders, order)]
