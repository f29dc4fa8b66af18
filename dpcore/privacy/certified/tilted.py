"""The law of many steps together, tilted to where delta is decided, as its Fourier transform; ln delta at any epsilon.

The lattice is periodic there: a loss is counted at its place and at every period above and below. Every term is
positive, so the result can only be too large, which an upper bound may keep; a lower bound subtracts what could have
been counted wrongly (Chernoff). Frequencies left out and rounding are charged to both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len, rfft

from dpcore.privacy.certified import log_moments, rounding
from dpcore.privacy.certified.log_moments import LogMoments
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.types import FloatArray, IntArray

ComplexArray = NDArray[np.complex128]

BLOCK = 2**19  # complex numbers held at once for each array of horizons by frequencies


@dataclass(frozen=True, eq=False)
class TiltedLaw:
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
    # (J, 2) transforms of e^(-order y) (1 - e^-y) and e^(-(order+1) y) over the nodes y = 0, mesh, ..
    sums: ComplexArray
    slack: FloatArray  # (n,) what left-out frequencies and rounding can change

    def log_delta(self, epsilon: FloatArray, side: int) -> tuple[FloatArray, FloatArray]:
        """ln of the finite part of delta, erring upwards (side +1) or downwards (-1), and its slope; both (n,)."""
        place = (epsilon - self.start) / self.mesh
        index = np.ceil(place)
        rest = (index - place) * self.mesh  # from epsilon up to the next node
        turn = (self.frequency * index.astype(np.int64)[:, None]) % self.period
        first, second = _summed(self.weighted * np.exp(2j * pi / self.period * turn), self.sums).real.T
        value = np.exp(-self.order * rest) * (first - np.expm1(-rest) * second)
        value = value + self.slack if side > 0 else value - self.slack - self._aliases(epsilon)
        live = value > 0
        safe = np.where(live, value, 1.0)
        slope = -np.exp(-(self.order + 1) * rest) * np.maximum(second, 0.0) / safe
        # No value at all: the lower bound has nothing to show; an upper one would contradict its own error term.
        return np.where(live, self.log_total - self.order * epsilon + np.log(safe), side * inf), slope

    def spare(self, epsilon: FloatArray, log_delta: FloatArray) -> FloatArray:
        """Nats by which the tilted tail at (n,) epsilons with (n,) ln deltas lies below 1."""
        return self.log_total - self.order * epsilon - log_delta

    def _aliases(self, epsilon: FloatArray) -> FloatArray:
        """What the periods can add: a loss above `low` reappears above epsilon, at the earliest one period on.

        The rest of the law has mass e^-TAIL on either side. From the second period on e^(-order y) bounds the stick.
        """
        span = self.period * self.mesh
        first = self._stick(span - (epsilon - self.low)) + self._stick(np.array(span))
        later = 2 * np.exp(-self.order * span) / -np.expm1(-self.order * span)
        total = first + later + 2 * np.exp(-log_moments.TAIL) / (self.order + 1)
        return np.where(epsilon + span >= self.high, total, inf)

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


def spectrum(loss: LossLaw, order: float, period: int) -> Spectrum:
    """The finite part of the loss, tilted by e^(order loss), on a circle of `period` nodes."""
    log_moment = float(loss.log_moments(np.array([order]))[0])
    live = loss.mass > 0  # elsewhere the tilt may overflow
    mass = np.zeros_like(loss.mass)
    mass[live] = loss.mass[live] * np.exp(order * (loss.offset + loss.mesh * np.flatnonzero(live)) - log_moment)
    origin = int(np.argmax(mass))
    mass[origin] = 0.0
    folded = np.zeros(-(-(mass.size + period) // period) * period)
    folded[period - origin % period :][: mass.size] = mass
    transform: ComplexArray = np.asarray(rfft(folded.reshape(-1, period).sum(axis=0)))
    rest = float(mass.sum())
    return Spectrum(loss.offset + loss.mesh * origin, log_moment, transform - rest, rest)


def tilted_laws(
    losses: Sequence[LossLaw], all_counts: IntArray, rows: IntArray, order: float, moments: LogMoments
) -> Iterator[tuple[IntArray, TiltedLaw]]:
    """The rows of (n, L) counts, which do not decrease from row to row, tilted by `order`, a block at a time."""
    mesh, counts = losses[0].mesh, all_counts[rows]
    # A period that is too short is safe: what wraps around only adds, and lower bounds are charged for it.
    nodes = min(int(moments.period(counts, order) / mesh) + 8, log_moments.longest(len(losses)))
    period = int(next_fast_len(nodes, real=True) or nodes)
    spectra = [spectrum(loss, order, period) for loss in losses]
    # Kept away from 0, whose logarithm 0 counts would turn into NaN.
    log_size = np.stack([log_one_plus(each.excess) for each in spectra])  # (L, period // 2 + 1)
    kept = np.flatnonzero(counts[0] @ log_size > -log_moments.CUT)  # a longer horizon keeps less
    log_size = log_size[:, kept]
    logarithm = log_size + 1j * np.stack([np.angle(1 + each.excess[kept]) for each in spectra])  # (L, J)
    weight = np.where((kept == 0) | (2 * kept == period), 1.0, 2.0) / period
    sums = _hockey_stick(order, mesh, period, kept)
    height = np.abs(sums[:, 0]) + mesh * np.abs(sums[:, 1])  # largest at frequency 0, which is always kept
    origin, log_moment, rest = (np.array([each[k] for each in spectra], dtype=np.float64) for k in (0, 1, 3))
    each = rounding.factor_error(len(losses), period) * rest[:, None] * np.exp(-log_size)  # (L, J) relative to it
    all_together = rounding.product_error(len(losses), kept.size)
    for block in np.array_split(np.arange(rows.size), -(-rows.size * kept.size // BLOCK)):
        part = counts[block].astype(np.float64)
        weighted = np.asarray(weight * np.exp(part @ logarithm), dtype=np.complex128)  # (n, J)
        rounded = (np.abs(weighted) * (part @ each + all_together)) @ height
        slack = np.exp(-log_moments.CUT) * height[0] + rounded
        low, high = moments.reach(counts[block], order, log_moment)
        start, log_total = part @ origin, part @ log_moment
        yield rows[block], TiltedLaw(order, mesh, period, start, low, high, log_total, kept, weighted, sums, slack)


def _summed(terms: ComplexArray, sums: ComplexArray) -> ComplexArray:
    """The product (n, J) by (J, 2), a chunk of frequencies at a time, so that its rounding is known."""
    result = np.zeros((terms.shape[0], sums.shape[1]), dtype=np.complex128)
    for begin in range(0, sums.shape[0], rounding.CHUNK):
        result += terms[:, begin : begin + rounding.CHUNK] @ sums[begin : begin + rounding.CHUNK]
    return result


def log_one_plus(z: ComplexArray) -> FloatArray:
    """ln |1 + z|, to an error that shrinks with z (that of NumPy's complex log1p does not), and at least ln 1e-300."""
    near = 0.5 * np.log1p(np.maximum(z.real * (2 + z.real) + z.imag**2, -0.999))
    return np.where(np.abs(z) < 0.5, near, np.log(np.maximum(np.abs(1 + z), 1e-300)))


def _hockey_stick(order: float, mesh: float, period: int, frequency: IntArray) -> ComplexArray:
    """Transforms of e^(-order y) - e^(-(order+1) y) and of e^(-(order+1) y) over y = 0, mesh, 2 mesh, .. (J, 2)."""
    turn = 2j * pi / period * frequency
    slow, fast = turn - order * mesh, turn - (order + 1) * mesh
    second = -1 / np.expm1(fast)
    both = [np.exp(slow) * np.expm1(-mesh) * second / np.expm1(slow), second]
    return np.stack(both, axis=1).astype(np.complex128)
