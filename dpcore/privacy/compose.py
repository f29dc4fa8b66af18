"""Epsilon of many steps from the laws of one: exponential tilting, one Fourier transform, one root per horizon.

For a loss S that is a sum of independent lattice losses, delta(eps) = E[(1 - e^(eps - S))_+] + P(S = inf). Tilting by
e^(order S) moves the mass to where delta is decided, so that tiny deltas keep full relative precision; the inner
product of that tilted law with the hockey stick is taken in the Fourier domain, where few frequencies survive many
steps.

The lattice is periodic there: a loss is counted at its place and at every period above and below. Every term is
positive, so the result can only be too large, which an upper bound may keep; a lower bound subtracts what could have
been counted wrongly (Chernoff). Frequencies left out and rounding are charged to both.

Source: tilted characteristic functions as in Zhu, Dong, Wang 2022 (arXiv 2106.08567); the error terms are derived here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len, rfft

from dpcore.privacy.loss import Loss

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
IntArray = NDArray[np.int64]

CUT = 46.0  # frequencies whose tilted transform is below e^-CUT are left out (and charged)
TAIL = 40.0  # the period covers all but e^-TAIL of the tilted law on either side
PRECISION = 26.0  # nats that a tilt may give away, less ln of the steps: what is left is well above rounding
SPARE_PERIOD = 30.0  # nats by which the hockey stick falls between the two ends of the period
GROUP = 0.2  # a tilt serves horizons down to this fraction of its longest
BLOCK = 2**19  # complex numbers held at once for each array of horizons by frequencies
ALLOWANCE = 1e-6  # relative error of delta left for rounding in the masses of one step
ROUNDING = 4e-16  # relative error of one factor of the transform
SETTLED = 1e-7  # in ln delta: how close to its target a root must come
MAX_ROUNDS = 60
MAX_TILTS = 5
LONGEST = 2**20  # nodes of a period, at most
WORK = 2**24  # nodes of all periods together, at most, over the horizons that keep all frequencies


@dataclass(frozen=True, eq=False)
class Moments:
    """Log-moments of each law at a grid of orders outside (-1, 0), and the range of its finite losses."""

    orders: FloatArray  # (G,) increasing, with 0
    values: FloatArray  # (L, G)
    ends: FloatArray  # (L, 2) smallest and largest finite loss
    active: FloatArray  # (L,) mass outside the fullest node

    def precision(self, uses: IntArray) -> FloatArray:
        """Nats that a tilt may give away at (.., L) uses before rounding is felt."""
        return PRECISION - np.log(uses @ np.minimum(8 * self.active, 1.0) + 64)

    def most_nodes(self, uses: IntArray) -> int:
        """How fine the lattice of all steps may be for (n, L) uses: few rare losses keep every frequency alive."""
        lasting = np.count_nonzero(uses @ self.active < CUT)
        return min(LONGEST, WORK // max(int(lasting), 1))

    def chernoff(self, uses: IntArray, log_delta: FloatArray) -> FloatArray:
        """An epsilon that suffices for the finite part of (n, L) uses at (n,) log deltas; (n,)."""
        up = self.orders > 0
        bound = (uses @ self.values[:, up] - log_delta[:, None]) / self.orders[up]  # (n, G+)
        return np.maximum(bound.min(axis=1), 0.0)

    def spare(self, uses: IntArray, log_delta: FloatArray, epsilon: FloatArray, order: FloatArray) -> FloatArray:
        """Nats by which the tilted tail at (n,) epsilons lies below 1, for (n, L) uses and (O,) orders; (n, O)."""
        at = np.searchsorted(self.orders, order)
        return uses @ self.values[:, at] - np.outer(epsilon, order) - log_delta[:, None]

    def reach(self, uses: IntArray, order: float, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Losses below and above which laws with log-moments `at` (L,), tilted by `order`, have at most e^-TAIL."""
        excess = uses @ (self.values - at[:, None]) + TAIL  # (n, G)
        gap = self.orders - order
        low, high = gap < 0, gap > 0
        least, most = (uses @ self.ends).T
        below = np.max(excess[:, low] / gap[low], axis=1, initial=-inf)
        above = np.min(excess[:, high] / gap[high], axis=1, initial=inf)
        return np.maximum(below, least), np.minimum(above, most)

    def tilt(self, uses: IntArray, log_delta: float, epsilon: float, longest: float) -> float:
        """The order on the grid that needs the shortest period for (L,) uses and keeps enough precision.

        Where none does within the longest period allowed, the one that keeps most.
        """
        orders = self.orders[self.orders > 0]
        spare = self.spare(uses[None], np.array([log_delta]), np.array([epsilon]), orders)[0]
        periods = self._periods(uses, orders)
        good = spare <= self.precision(uses)
        if good.any() and periods[good].min() <= longest:
            return float(orders[good][np.argmin(periods[good])])
        allowed = periods <= max(longest, periods.min())
        return float(orders[allowed][np.argmin(spare[allowed])])

    def period(self, uses: IntArray, order: float) -> float:
        """A length that holds each law of (n, L) uses tilted by `order`, and weakens the hockey stick enough."""
        low, high = self.reach(uses, order, self.at(order))
        return float(np.max(high - low)) + SPARE_PERIOD / order

    def _periods(self, uses: IntArray, orders: FloatArray) -> FloatArray:
        """The same for one horizon of (L,) uses at (O,) orders of the grid."""
        total, (least, most) = uses @ self.values, uses @ self.ends
        gap = self.orders - orders[:, None]  # (O, G)
        excess = total - total[np.searchsorted(self.orders, orders)][:, None] + TAIL
        bound = excess / np.where(gap == 0, np.nan, gap)
        low = np.max(np.where(gap < 0, bound, -inf), axis=1)
        high = np.min(np.where(gap > 0, bound, inf), axis=1)
        return np.minimum(high, most) - np.maximum(low, least) + SPARE_PERIOD / orders

    def at(self, order: float) -> FloatArray:
        """Log-moments at an order of the grid, (L,)."""
        return self.values[:, np.searchsorted(self.orders, order)]


@dataclass(frozen=True, eq=False)
class Tilted:
    """Some horizons under one tilt, ready to give ln delta at any epsilon."""

    order: float
    mesh: float
    period: int  # of the lattice, in nodes
    start: FloatArray  # (n,) loss at lattice index 0
    low: FloatArray  # (n,) loss below which the tilted law has at most e^-TAIL
    high: FloatArray  # (n,) and above which
    log_total: FloatArray  # (n,) ln E[e^(order S)]
    frequency: IntArray  # (J,)
    weighted: ComplexArray  # (n, J) transform of the tilted law, times its weight in the inverse
    sums: (
        ComplexArray  # (J, 2) transforms of e^(-order y) (1 - e^-y) and e^(-(order+1) y) over the nodes y = 0, mesh, ..
    )
    slack: FloatArray  # (n,) what left-out frequencies and rounding can change

    def log_delta(self, epsilon: FloatArray, side: int) -> tuple[FloatArray, FloatArray]:
        """ln of the finite part of delta, erring upwards (side +1) or downwards (-1), and its slope; both (n,)."""
        place = (epsilon - self.start) / self.mesh
        index = np.ceil(place)
        rest = (index - place) * self.mesh  # from epsilon up to the next node
        turn = (self.frequency * index.astype(np.int64)[:, None]) % self.period
        first, second = ((self.weighted * np.exp(2j * pi / self.period * turn)) @ self.sums).real.T
        value = np.exp(-self.order * rest) * (first - np.expm1(-rest) * second)
        value = value + self.slack if side > 0 else value - self.slack - self._aliases(epsilon)
        live = value > 0
        safe = np.where(live, value, 1.0)
        slope = -np.exp(-(self.order + 1) * rest) * np.maximum(second, 0.0) / safe
        return np.where(live, self.log_total - self.order * epsilon + np.log(safe), -inf), slope

    def spare(self, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
        """Nats by which the tilted tail at (n,) epsilons with (n,) ln deltas lies below 1."""
        return self.log_total - self.order * epsilon - log_delta

    def _aliases(self, epsilon: FloatArray) -> FloatArray:
        """What the periods can add: a loss above `low` reappears above epsilon, at the earliest one period on.

        The rest of the law has mass e^-TAIL on either side; each further period weakens the hockey stick alike.
        """
        span = self.period * self.mesh
        total = (
            self._stick(span - (epsilon - self.low))
            + self._stick(np.array(span))
            + 2 * np.exp(-TAIL) / (self.order + 1)
        )
        return np.where(epsilon + span >= self.high, total / -np.expm1(-self.order * span), inf)

    def _stick(self, y: FloatArray) -> FloatArray:
        """The largest e^(-order x) (1 - e^-x) over x >= y; its peak is at ln(1 + 1 / order)."""
        here = np.exp(-self.order * np.maximum(y, 0.0)) * -np.expm1(-np.maximum(y, 0.0))
        return np.where(y > np.log1p(1 / self.order), here, 1 / (self.order + 1))


class Spectrum(NamedTuple):
    """The Fourier transform of one tilted law, with its fullest node as origin."""

    origin: float  # loss of that node
    log_moment: float  # ln of the mass before it was normalised to 1
    excess: ComplexArray  # (period // 2 + 1,) the transform less 1, exact where it is small
    rest: float  # mass outside the origin: rounding errors are that much smaller than 1e-16


def _spectrum(loss: Loss, order: float, period: int) -> Spectrum:
    log_moment = float(loss.log_moments(np.array([order]))[0])
    mass = loss.mass * np.exp(order * (loss.offset + loss.mesh * np.arange(loss.mass.size)) - log_moment)
    origin = int(np.argmax(mass))
    mass[origin] = 0.0
    folded = np.zeros(-(-(mass.size + period) // period) * period)
    folded[period - origin % period :][: mass.size] = mass
    transform: ComplexArray = np.asarray(rfft(folded.reshape(-1, period).sum(axis=0)))
    rest = float(mass.sum())
    return Spectrum(loss.offset + loss.mesh * origin, log_moment, transform - rest, rest)


def _tilted(
    losses: Sequence[Loss], all_uses: IntArray, rows: IntArray, order: float, moments: Moments
) -> Iterator[tuple[IntArray, Tilted]]:
    """The rows of (n, L) uses, which do not decrease from row to row, tilted by `order`, a block at a time."""
    mesh, uses = losses[0].mesh, all_uses[rows]
    # A period that is too short is safe: what wraps around only adds, and lower bounds are charged for it.
    nodes = min(int(moments.period(uses, order) / mesh) + 8, LONGEST)
    period = int(next_fast_len(nodes, real=True) or nodes)
    spectra = [_spectrum(loss, order, period) for loss in losses]
    # Kept away from 0, whose logarithm 0 uses would turn into NaN.
    log_size = np.stack([np.log(np.maximum(np.abs(1 + each.excess), 1e-300)) for each in spectra])
    kept = np.flatnonzero(uses[0] @ log_size > -CUT)  # a longer horizon keeps less
    logarithm = np.stack([np.log1p(each.excess[kept]) for each in spectra])  # (L, J)
    weight = np.where((kept == 0) | (2 * kept == period), 1.0, 2.0) / period
    sums = _hockey_stick(order, mesh, period, kept)
    height = np.abs(sums[:, 0]) + mesh * np.abs(sums[:, 1])  # largest at frequency 0, which is always kept
    origin, log_moment, rest = (np.array([each[k] for each in spectra], dtype=np.float64) for k in (0, 1, 3))
    for block in np.array_split(np.arange(rows.size), -(-rows.size * kept.size // BLOCK)):
        part = uses[block].astype(np.float64)
        weighted = np.asarray(
            weight * np.exp(part @ np.where(np.isfinite(logarithm), logarithm, -1e6)), dtype=np.complex128
        )  # (n, J)
        rounding = ROUNDING * (part @ np.minimum(8 * rest, 1.0) + 64)
        slack = np.exp(-CUT) * height[0] + rounding * (np.abs(weighted) @ height)
        low, high = moments.reach(uses[block], order, log_moment)
        start, log_total = part @ origin, part @ log_moment
        yield rows[block], Tilted(order, mesh, period, start, low, high, log_total, kept, weighted, sums, slack)


def _hockey_stick(order: float, mesh: float, period: int, frequency: IntArray) -> ComplexArray:
    """Transforms of e^(-order y) - e^(-(order+1) y) and of e^(-(order+1) y) over y = 0, mesh, 2 mesh, .. (J, 2)."""
    turn = np.exp(2j * pi / period * frequency)
    slow, fast = np.exp(-order * mesh) * turn, np.exp(-(order + 1) * mesh) * turn
    second = 1 / (1 - fast)
    return np.stack([slow * -np.expm1(-mesh) * second / (1 - slow), second], axis=1)


def epsilons(
    losses: Sequence[Loss],
    uses: IntArray,
    delta: FloatArray,
    moments: Moments,
    side: int,
    ceiling: FloatArray | float = inf,
) -> FloatArray:
    """Epsilon at each of (n, L) uses and (n,) deltas, not too small (side +1) or not too large (side -1); (n,).

    The infinite part of the loss is charged in full; where it alone exceeds delta, epsilon is +inf (side +1).
    A `ceiling` is an epsilon known to suffice.
    """
    infinite = -np.expm1(uses @ np.array([np.log1p(-loss.infinite) for loss in losses]))
    target = delta * (1 - side * ALLOWANCE) - infinite
    result = np.where(target > 0, 0.0, inf if side > 0 else 0.0)
    log_target = np.log(np.where(target > 0, target, 1.0))
    known = np.ndim(ceiling) > 0
    ceiling = np.minimum(moments.chernoff(uses, log_target), ceiling)
    left = np.flatnonzero(target > 0)
    for _ in range(MAX_TILTS):
        again = []
        for rows, law in _tilts(losses, uses, left, log_target, ceiling, moments):
            guess = ceiling[rows] if known else _first_guess(law, log_target[rows], ceiling[rows])
            result[rows] = _roots(law, log_target[rows], ceiling[rows], guess, side)
            spare = law.spare(result[rows], log_target[rows])
            again.append(rows[(spare > moments.precision(uses[rows]) + 1) & (result[rows] < ceiling[rows])])
        left = np.sort(np.concatenate([*again, left[:0]]))
        if side < 0 or left.size == 0:
            break
        ceiling[left], known = result[left], True  # far below what chose the tilt: it left too little precision there
    return result


def _tilts(
    losses: Sequence[Loss],
    uses: IntArray,
    left: IntArray,
    log_target: FloatArray,
    ceiling: FloatArray,
    moments: Moments,
) -> Iterator[tuple[IntArray, Tilted]]:
    """The rows `left`, under few tilts: the longest horizon chooses, for all others that can spare the precision."""
    used, longest = uses.sum(axis=1), LONGEST * losses[0].mesh
    while left.size:
        order = moments.tilt(uses[left[-1]], float(log_target[left[-1]]), float(ceiling[left[-1]]), longest)
        spare = moments.spare(uses[left], log_target[left], ceiling[left], np.array([order]))[:, 0]
        enough = np.maximum(moments.precision(uses[left]), spare[-1] + 1)
        fits = (spare <= enough) & (used[left] >= GROUP * used[left[-1]])
        yield from _tilted(losses, uses, left[fits], order, moments)
        left = left[~fits]


def _roots(law: Tilted, log_target: FloatArray, ceiling: FloatArray, guess: FloatArray, side: int) -> FloatArray:
    """Where ln delta meets its target: Newton inside a bracket, ending on the safe side.

    `low` has delta above the target (or is 0), `high` below it; both are evaluated or proven, never extrapolated.
    """
    aim = log_target - side * 0.5 * SETTLED
    low, high = np.full_like(ceiling, -1.0), ceiling.copy()  # -1: not even 0 was tried
    epsilon, done = guess, np.zeros(ceiling.shape, dtype=bool)
    for _ in range(MAX_ROUNDS):
        log_delta, slope = law.log_delta(epsilon, side)
        above = log_delta > log_target if side > 0 else log_delta >= log_target
        low, high = np.where(above, np.maximum(low, epsilon), low), np.where(above, high, np.minimum(high, epsilon))
        good = ~above if side > 0 else above
        done |= (good & (np.abs(log_delta - log_target) < SETTLED)) | (high - low <= 1e-12 * high) | (high == 0)
        if done.all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):  # a slope of 0: bisect
            step = epsilon - (log_delta - aim) / slope
        inside = np.isfinite(step) & (step > low) & (step < high)
        following = np.maximum(np.where(inside, step, 0.5 * (low + high)), 0.0)
        epsilon = np.where(done, epsilon, following)
    return high if side > 0 else np.maximum(low, 0.0)


def _first_guess(law: Tilted, log_target: FloatArray, ceiling: FloatArray) -> FloatArray:
    """Saddle-point estimate: the Chernoff bound is high by about ln(order (order + 1) std sqrt(2 pi)) / order."""
    order = law.order
    excess = np.log(order * (order + 1) * np.maximum(ceiling - law.low, law.mesh) / 8 * np.sqrt(2 * pi))
    chernoff = (law.log_total - log_target) / order
    return np.clip(chernoff - np.maximum(excess, 0.0) / order, 0.0, ceiling)
