"""Composition of many steps from the laws of one: epsilon by tilting and one Fourier transform, or
the whole law.

For a sum S of independent lattice losses, delta(eps) = E[(1 - e^(eps - S))_+] + P(S = inf). A tilt
by e^(order S) moves the mass to the losses that decide delta, so that tiny deltas keep full
relative precision. The inner product of the tilted law with the hockey stick is taken in the
Fourier domain, where few frequencies survive many steps. One root per horizon gives epsilon.

The lattice is periodic in that domain: a loss counts at its place and at every period above and
below. Every term is positive, so the result can only be too large. An upper bound keeps that; a
lower bound subtracts a Chernoff bound of it. Omitted frequencies and rounding are charged to both.

Without a tilt the transform gives all probabilities to one absolute error, about 1e-13.
`ComposedLoss` then answers for every loss at once, which is enough for the error rates of an
attacker.

Source: tilted characteristic functions as in Zhu, Dong, Wang 2022 (arXiv 2106.08567); the error
terms are derived here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from dpcore.privacy.certified import lattice, rounding
from dpcore.privacy.certified.cells import suffix_sum
from dpcore.privacy.certified.lattice import LogMoments
from dpcore.privacy.certified.step_law import LossLaw
from dpcore.privacy.mechanism import FloatArray, IntArray

ComplexArray = NDArray[np.complex128]

BLOCK = 2**19  # complex numbers in memory at once, in an array of horizons by frequencies
GROUP = 0.2  # a tilt serves horizons down to this fraction of its longest
SETTLED = 1e-7  # largest distance of a root from its target, in ln delta
MAX_ROUNDS = 60
MAX_TILTS = 5
PREPARED = 10  # values of a transform that one more frequency counts as before any epsilon is tried
TOO_LONG = "Closer bounds would take too long."


class Work:
    """The work that a call may still do, in values of a transform; it takes no clock, so that every
    machine agrees.

    >>> Work(10).take(11)
    Traceback (most recent call last):
    ...
    RuntimeError: Closer bounds would take too long.
    """

    def __init__(self, most: float) -> None:
        self.left = most

    def take(self, values: int) -> None:
        """Take this much. Errors: RuntimeError if less is left."""
        self.left -= values
        if self.left < 0:
            raise RuntimeError(TOO_LONG)


@dataclass(frozen=True, eq=False)
class TiltedLaw:
    """Some horizons under one tilt, which give ln delta at any epsilon."""

    order: float
    mesh: float
    period: int  # of the lattice, in nodes
    start: FloatArray  # (n,) loss at lattice index 0
    low: FloatArray  # (n,) the tilted law has at most e^-TAIL below this loss,
    high: FloatArray  # (n,) and at most e^-TAIL above this one
    log_total: FloatArray  # (n,) ln E[e^(order S)]
    frequency: IntArray  # (J,)
    weighted: ComplexArray  # (n, J) transform of the tilted law, times its weight in the inverse
    # (J, 2) transforms of e^(-order y) (1 - e^-y) and e^(-(order+1) y) over the nodes y = 0, mesh,
    # ..
    sums: ComplexArray
    slack: FloatArray  # (n,) error of omitted frequencies and rounding

    def log_delta(self, epsilon: FloatArray, side: int) -> tuple[FloatArray, FloatArray]:
        """The log of the finite part of delta, not too small (side +1) or too large (-1), and its
        slope; both (n,).
        """
        place = (epsilon - self.start) / self.mesh
        index = np.ceil(place)
        rest = (index - place) * self.mesh  # from epsilon up to the next node
        turn = (self.frequency * index.astype(np.int64)[:, None]) % self.period
        first, second = _summed(
            self.weighted * np.exp(2j * pi / self.period * turn), self.sums
        ).real.T
        value = np.exp(-self.order * rest) * (first - np.expm1(-rest) * second)
        value = value + self.slack if side > 0 else value - self.slack - self._aliases(epsilon)
        live = value > 0
        safe = np.where(live, value, 1.0)
        slope = -np.exp(-(self.order + 1) * rest) * np.maximum(second, 0.0) / safe
        # Without a positive value a lower bound is 0, and an upper one contradicts its own error
        # term.
        return (
            np.where(live, self.log_total - self.order * epsilon + np.log(safe), side * inf),
            slope,
        )

    def spare(self, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
        """Distance of the tilted tail below 1, in nats, at (n,) epsilons with (n,) ln deltas."""
        return self.log_total - self.order * epsilon - log_delta

    def _aliases(self, epsilon: FloatArray) -> FloatArray:
        """Bound the error of the periods: a loss above `low` reappears above epsilon, at the
        earliest one period on.

        The rest of the law has mass e^-TAIL on either side. From the second period on e^(-order y)
        bounds the stick.
        """
        span = self.period * self.mesh
        first = self._stick(span - (epsilon - self.low)) + self._stick(np.array(span))
        later = 2 * np.exp(-self.order * span) / -np.expm1(-self.order * span)
        total = first + later + 2 * np.exp(-lattice.TAIL) / (self.order + 1)
        return np.where(epsilon + span >= self.high, total, inf)

    def _stick(self, y: FloatArray) -> FloatArray:
        """The largest e^(-order x) (1 - e^-x) over x >= y; its peak is at ln(1 + 1 / order)."""
        here = np.exp(-self.order * np.maximum(y, 0.0)) * -np.expm1(-np.maximum(y, 0.0))
        return np.where(y > np.log1p(1 / self.order), here, 1 / (self.order + 1))


class Spectrum(NamedTuple):
    """The Fourier transform of one tilted law, with the fullest node as origin."""

    origin: float  # loss of that node
    log_moment: float  # ln of the mass before it was normalised to 1
    excess: ComplexArray  # (period // 2 + 1,) the transform less 1, precise where it is small
    rest: float  # mass outside the origin, to which rounding errors are proportional


def spectrum(loss: LossLaw, order: float, period: int) -> Spectrum:
    """The finite part of the loss, tilted by e^(order loss), on a circle of `period` nodes."""
    log_moment = float(loss.log_moments(np.array([order]))[0])
    live = loss.mass > 0  # elsewhere the tilt may overflow
    mass = np.zeros_like(loss.mass)
    mass[live] = loss.mass[live] * np.exp(
        order * (loss.offset + loss.mesh * np.flatnonzero(live)) - log_moment
    )
    origin = int(np.argmax(mass))
    mass[origin] = 0.0
    folded = np.zeros(-(-(mass.size + period) // period) * period)
    folded[period - origin % period :][: mass.size] = mass
    transform: ComplexArray = np.asarray(rfft(folded.reshape(-1, period).sum(axis=0)))
    rest = float(mass.sum())
    return Spectrum(loss.offset + loss.mesh * origin, log_moment, transform - rest, rest)


def tilted_laws(
    losses: Sequence[LossLaw],
    all_counts: IntArray,
    rows: IntArray,
    order: float,
    moments: LogMoments,
) -> Iterator[tuple[IntArray, TiltedLaw]]:
    """Tilt rows of (n, L) counts, which do not decrease from row to row, by `order`, a block at a
    time.
    """
    mesh = losses[0].mesh
    counts = all_counts[rows]
    # Too short a period is safe: mass that wraps around only adds, and lower bounds are charged for
    # it.
    nodes = min(int(moments.period(counts, order) / mesh) + 8, lattice.longest(len(losses)))
    period = int(next_fast_len(nodes, real=True) or nodes)
    spectra = [spectrum(loss, order, period) for loss in losses]
    # Logarithms are finite here: 0 counts of an infinite one would be NaN.
    log_size = np.stack([log_one_plus(each.excess) for each in spectra])  # (L, period // 2 + 1)
    kept = np.flatnonzero(counts[0] @ log_size > -lattice.CUT)  # a longer horizon keeps fewer
    log_size = log_size[:, kept]
    # (L, J).
    logarithm = log_size + 1j * np.stack([np.angle(1 + each.excess[kept]) for each in spectra])
    weight = np.where((kept == 0) | (2 * kept == period), 1.0, 2.0) / period
    sums = _hockey_stick(order, mesh, period, kept)
    # Largest at frequency 0, which is always kept.
    height = np.abs(sums[:, 0]) + mesh * np.abs(sums[:, 1])
    origin, log_moment, rest = (
        np.array([each[k] for each in spectra], dtype=np.float64) for k in (0, 1, 3)
    )
    # (L, J) relative to it.
    each = rounding.factor_error(len(losses), period) * rest[:, None] * np.exp(-log_size)
    all_together = rounding.product_error(len(losses), kept.size)
    blocks = min(-(-rows.size * kept.size // BLOCK), rows.size)
    for block in np.array_split(np.arange(rows.size), blocks):
        part = counts[block].astype(np.float64)
        weighted = np.asarray(weight * np.exp(part @ logarithm), dtype=np.complex128)  # (n, J)
        rounded = (np.abs(weighted) * (part @ each + all_together)) @ height
        slack = np.exp(-lattice.CUT) * height[0] + rounded
        low, high = moments.reach(counts[block], order, log_moment)
        start = part @ origin
        log_total = part @ log_moment
        yield (
            rows[block],
            TiltedLaw(
                order, mesh, period, start, low, high, log_total, kept, weighted, sums, slack
            ),
        )


def _summed(terms: ComplexArray, sums: ComplexArray) -> ComplexArray:
    """The product (n, J) by (J, 2), a chunk of frequencies at a time, so that its rounding is
    bounded.
    """
    result = np.zeros((terms.shape[0], sums.shape[1]), dtype=np.complex128)
    for begin in range(0, sums.shape[0], rounding.CHUNK):
        result += terms[:, begin : begin + rounding.CHUNK] @ sums[begin : begin + rounding.CHUNK]
    return result


def log_one_plus(z: ComplexArray) -> FloatArray:
    """ln |1 + z|, at least ln 1e-300, with an error that shrinks with z, unlike NumPy's complex
    log1p.
    """
    near = 0.5 * np.log1p(np.maximum(z.real * (2 + z.real) + z.imag**2, -0.999))
    return np.where(np.abs(z) < 0.5, near, np.log(np.maximum(np.abs(1 + z), 1e-300)))


def _hockey_stick(order: float, mesh: float, period: int, frequency: IntArray) -> ComplexArray:
    """Transforms of e^(-order y) - e^(-(order+1) y) and of e^(-(order+1) y) over y = 0, mesh, 2
    mesh, .. (J, 2).
    """
    turn = 2j * pi / period * frequency
    slow = turn - order * mesh
    fast = turn - (order + 1) * mesh
    second = -1 / np.expm1(fast)
    both = [np.exp(slow) * np.expm1(-mesh) * second / np.expm1(slow), second]
    return np.stack(both, axis=1).astype(np.complex128)


def composed_epsilons(
    losses: Sequence[LossLaw],
    counts: IntArray,
    delta: FloatArray,
    moments: LogMoments,
    side: int,
    ceiling: FloatArray | float = inf,
    work: Work | None = None,
) -> FloatArray:
    """Epsilon at each of (n, L) counts and (n,) deltas, not too small (side +1) or not too large
    (side -1); (n,).

    The infinite part of the loss is charged in full; if it exceeds delta, epsilon is +inf (side
    +1). `ceiling` is an epsilon known to suffice. Errors: RuntimeError if the work is used up.
    """
    work = work or Work(inf)
    infinite = -np.expm1(counts @ np.array([np.log1p(-loss.infinite) for loss in losses]))
    allowed = rounding.ALLOWANCE + rounding.MASS * counts.sum(axis=1)
    target = delta * (1 - side * allowed) - infinite
    result = np.where(target > 0, 0.0, inf if side > 0 else 0.0)
    log_target = np.log(np.where(target > 0, target, 1.0))
    known = np.ndim(ceiling) > 0
    ceiling = np.minimum(moments.chernoff(counts, log_target), ceiling)
    left = np.flatnonzero(target > 0)
    for _ in range(MAX_TILTS):
        again = []
        for rows, law in _tilts(losses, counts, left, log_target, ceiling, moments):
            work.take(PREPARED * law.frequency.size)
            guess = ceiling[rows] if known else _first_guess(law, log_target[rows], ceiling[rows])
            result[rows] = _roots(law, log_target[rows], ceiling[rows], guess, side, work)
            spare = law.spare(result[rows], log_target[rows])
            again.append(
                rows[(spare > moments.precision(counts[rows]) + 1) & (result[rows] < ceiling[rows])]
            )
        left = np.sort(np.concatenate([*again, left[:0]]))
        if side < 0 or left.size == 0:
            break
        # So far below the first ceiling that its tilt is too imprecise.
        ceiling[left] = result[left]
        known = True
    misplaced = rounding.POSITION * (counts @ moments.reaching)
    return np.where(result > 0, np.maximum(result + side * misplaced, 0.0), result)


def _tilts(
    losses: Sequence[LossLaw],
    counts: IntArray,
    left: IntArray,
    log_target: FloatArray,
    ceiling: FloatArray,
    moments: LogMoments,
) -> Iterator[tuple[IntArray, TiltedLaw]]:
    """Tilt the rows `left` a few times: the longest horizon chooses for all others that can spare
    the precision.
    """
    used = counts.sum(axis=1)
    longest = lattice.longest(len(losses)) * losses[0].mesh
    while left.size:
        order = moments.tilt(
            counts[left[-1]], float(log_target[left[-1]]), float(ceiling[left[-1]]), longest
        )
        spare = moments.spare(counts[left], log_target[left], ceiling[left], np.array([order]))[
            :, 0
        ]
        enough = np.maximum(moments.precision(counts[left]), spare[-1] + 1)
        fits = (spare <= enough) & (used[left] >= GROUP * used[left[-1]])
        yield from tilted_laws(losses, counts, left[fits], order, moments)
        left = left[~fits]


def _roots(
    law: TiltedLaw,
    log_target: FloatArray,
    ceiling: FloatArray,
    guess: FloatArray,
    side: int,
    work: Work,
) -> FloatArray:
    """Solve ln delta = target by Newton steps inside a bracket, and end on the safe side.

    At `low` delta is above the target (or low is 0), at `high` below; both are evaluated or proven.
    """
    aim = log_target - side * 0.5 * SETTLED
    low = np.full_like(ceiling, -1.0)  # -1: 0 was not tried yet
    high = ceiling.copy()
    epsilon = guess
    done = np.zeros(ceiling.shape, dtype=bool)
    for _ in range(MAX_ROUNDS):
        work.take(law.weighted.size)
        log_delta, slope = law.log_delta(epsilon, side)
        above = log_delta > log_target if side > 0 else log_delta >= log_target
        low = np.where(above, np.maximum(low, epsilon), low)
        high = np.where(above, high, np.minimum(high, epsilon))
        good = ~above if side > 0 else above
        done |= (
            (good & (np.abs(log_delta - log_target) < SETTLED))
            | (high - low <= 1e-12 * high)
            | (high == 0)
        )
        if done.all():
            break
        # Bisect at a slope near 0.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = epsilon - (log_delta - aim) / slope
        inside = np.isfinite(step) & (step > low) & (step < high)
        following = np.maximum(np.where(inside, step, 0.5 * (low + high)), 0.0)
        epsilon = np.where(done, epsilon, following)
    return high if side > 0 else np.maximum(low, 0.0)


def _first_guess(law: TiltedLaw, log_target: FloatArray, ceiling: FloatArray) -> FloatArray:
    """Saddle-point estimate: the Chernoff bound less about ln(order (order + 1) std sqrt(2 pi)) /
    order.
    """
    order = law.order
    excess = np.log(
        order * (order + 1) * np.maximum(ceiling - law.low, law.mesh) / 8 * np.sqrt(2 * pi)
    )
    chernoff = (law.log_total - log_target) / order
    return np.clip(chernoff - np.maximum(excess, 0.0) / order, 0.0, ceiling)


class Tail(NamedTuple):
    """The mass at or above each positive loss on the lattice."""

    loss: FloatArray  # (K,)
    mass: FloatArray  # (K,) finite mass under the numerator
    other: FloatArray  # (K,) mass under the denominator times e^loss, so that neither overflows


@dataclass(frozen=True, eq=False)
class ComposedLoss:
    """The loss of many steps: start + i mesh with probability mass[i] under the numerator,
    +infinity with `infinite`.

    `error` bounds the effect of rounding, wrapping around and omitted mass on any divergence, and
    on the power of any test at its type I error. `misplaced` bounds the error of a node's place.
    """

    start: float
    mesh: float
    mass: FloatArray  # (N,)
    infinite: float
    error: float
    misplaced: float

    def pairs(self) -> tuple[FloatArray, FloatArray]:
        """(epsilon, delta(epsilon)) at 0 and at each positive loss, delta not too small; both (K +
        1,).

        Delta weighs the mass by 1 - e^(epsilon - loss), which rises from 0 to 1, so it errs no more
        than a range does.
        """
        tail = self._tail()
        falling = np.exp(-tail.loss[:1])  # no loss lies between 0 and the first positive one
        mass = np.append(tail.mass[:1], tail.mass)
        other = np.append(falling * tail.other[:1], tail.other)
        summing = rounding.tail_error(mass.size) * mass
        delta = np.clip(self.infinite + mass - other + summing + self.error, 0.0, 1.0)
        return np.append(0.0, tail.loss) + self.misplaced, delta

    def tests(self) -> tuple[FloatArray, FloatArray]:
        """(type I error, power) of the tests that reject at losses from a positive node on; both
        (K,).

        The type I error is not too small and the power not too large: an attacker can do at least
        as well.
        """
        tail = self._tail()
        summing = rounding.tail_error(tail.mass.size)
        power = np.clip(tail.mass * (1 - summing) - self.error, 0.0, 1.0)
        alpha = np.exp(self.misplaced - tail.loss) * (tail.other * (1 + summing) + self.error)
        return np.clip(alpha, 0.0, 1.0), power

    def _tail(self) -> Tail:
        first = int(np.clip(np.floor(-self.start / self.mesh) + 1, 0, self.mass.size - 1))
        loss = np.asarray(
            self.start + self.mesh * np.arange(first, self.mass.size), dtype=np.float64
        )
        mass = suffix_sum(self.mass[first:])  # (K,)
        other = discounted(self.mass[first:], np.exp(-self.mesh))  # (K,)
        return Tail(loss, np.maximum(mass, 0.0), np.maximum(other, 0.0))


def discounted(x: FloatArray, d: float) -> FloatArray:
    """y_k = x_k + d y_(k+1), a sum of all following terms with a discount d for each place; (K,).

    Each round turns sums over s places into sums over 2 s. scipy.signal's filter takes as long, and
    its import takes twice as long as all other imports of the command line.

    >>> discounted(np.array([1.0, 2.0, 4.0]), 0.5)
    array([3., 4., 4.])
    """
    y = x.copy()
    s = 1
    while s < y.size:
        y[:-s] += d * y[s:]
        d = d * d
        s = 2 * s
    return y


def composed_loss(
    losses: Sequence[LossLaw], counts: IntArray, q: FloatArray, moments: LogMoments
) -> ComposedLoss:
    """The law of (L,) counts of losses of steps at (L,) rates.

    Errors: RuntimeError if the lattice is too long.
    """
    mesh = losses[0].mesh
    # ln of the finite mass of one use, from the infinite mass: a sum of the finite masses would err
    # by 1e-16 a step.
    finite = np.array([np.log1p(-loss.infinite) for loss in losses])
    low, high = (float(end[0]) for end in moments.reach(counts[None], 0.0, finite))
    nodes = int((high - low) / mesh) + 8
    if nodes > lattice.longest(len(losses)):
        raise RuntimeError(f"A lattice of {nodes} nodes for all steps together is too long.")
    period = int(next_fast_len(nodes, real=True) or nodes)
    spectra = [spectrum(loss, 0.0, period) for loss in losses]
    mass, error = _masses(spectra, counts, q, period)
    # The loss at index 0 of the circle.
    origin = float(counts @ np.array([each.origin for each in spectra]))
    shift = int(np.floor((low - origin) / mesh))
    log_finite = float(counts @ finite)
    return ComposedLoss(
        origin + shift * mesh,
        mesh,
        np.roll(mass, -shift % period) * np.exp(log_finite),
        -float(np.expm1(log_finite)),
        error + 2 * np.exp(-lattice.TAIL),
        rounding.POSITION * float(counts @ moments.reaching),
    )


def _masses(
    spectra: Sequence[Spectrum], counts: IntArray, q: FloatArray, period: int
) -> tuple[FloatArray, float]:
    """Probabilities on the circle (period,), and the error of any divergence of them.

    The error of the transforms is charged for any arc. The error of one step's masses may change an
    arc by more than its charge, but no divergence and no test (README.md, section 6).
    """
    excess = np.stack([each.excess for each in spectra])  # (L, period // 2 + 1)
    log_size = np.stack([log_one_plus(each) for each in excess])
    kept = np.flatnonzero(counts @ log_size > -lattice.CUT)
    angle = np.stack([np.angle(1 + each[kept]) for each in excess])
    transform = np.zeros(excess.shape[1], dtype=np.complex128)
    transform[kept] = np.exp(counts @ (log_size[:, kept] + 1j * angle))
    mass = np.asarray(irfft(transform, period))
    # The transform of an arc is at most 1 / sin, which bounds the effect of one frequency's error
    # on the arc's sum.
    arc = np.full(excess.shape[1], 1.0)
    arc[1:] = 2 / (period * np.sin(pi / period * np.arange(1, arc.size)))
    rest = np.array([each.rest for each in spectra])
    # Each factor is charged as under a tilt.
    each = rounding.factor_error(len(rest), period) * rest[:, None] * np.exp(-log_size[:, kept])
    rounded = (
        np.abs(transform[kept])
        * (counts @ each + rounding.product_error(len(rest), kept.size))
        @ arc[kept]
    )
    # By Cauchy and Schwarz.
    inverse = rounding.inverse_error(period) * np.sqrt(period * float(mass @ mass))
    # Errors add up as steps are replaced one by one.
    steps = float(counts @ rounding.step_error(q, rest))
    return mass, float(rounded + np.exp(-lattice.CUT) * arc.sum() + inverse + steps)
