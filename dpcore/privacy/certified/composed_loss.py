"""The law of all steps together: where `compose` answers for one delta, this answers for every loss at once.

Without a tilt the Fourier transform gives all probabilities to the same absolute error, about 1e-13, instead of tiny
ones to full relative precision: that is enough for the error rates of an attacker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len

from dpcore.privacy.certified import log_moments, rounding
from dpcore.privacy.certified.log_moments import LogMoments
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.tilted import Spectrum, log_one_plus, spectrum
from dpcore.privacy.types import FloatArray, IntArray


class Tail(NamedTuple):
    """What lies at or above each positive loss on the lattice."""

    loss: FloatArray  # (K,)
    mass: FloatArray  # (K,) finite mass under the numerator
    other: FloatArray  # (K,) mass under the denominator times e^loss, so that neither overflows


@dataclass(frozen=True, eq=False)
class ComposedLoss:
    """The loss of many steps: start + i mesh with probability mass[i] under the numerator, +infinity with `infinite`.

    `error` bounds what rounding, wrapping around and the mass left out can change in any divergence, and in the power
    of any test at its type I error; `misplaced` bounds how far a node lies from where it is said to be.
    """

    start: float
    mesh: float
    mass: FloatArray  # (N,)
    infinite: float
    error: float
    misplaced: float

    def pairs(self) -> tuple[FloatArray, FloatArray]:
        """(epsilon, delta(epsilon)) at 0 and at each positive loss, delta not too small; both (K + 1,).

        delta weighs the mass by 1 - e^(epsilon - loss), which rises from 0 to 1: it errs no more than a range.
        """
        tail = self._tail()
        falling = np.exp(-tail.loss[:1])  # no loss lies between 0 and the first positive one
        mass, other = np.append(tail.mass[:1], tail.mass), np.append(falling * tail.other[:1], tail.other)
        summing = rounding.tail_error(mass.size) * mass
        delta = np.clip(self.infinite + mass - other + summing + self.error, 0.0, 1.0)
        return np.append(0.0, tail.loss) + self.misplaced, delta

    def tests(self) -> tuple[FloatArray, FloatArray]:
        """(type I error, power) of the tests that reject where the loss is at least a positive node; both (K,).

        The type I error is not too small, the power not too large: an attacker can do at least that.
        """
        tail = self._tail()
        summing = rounding.tail_error(tail.mass.size)
        power = np.clip(tail.mass * (1 - summing) - self.error, 0.0, 1.0)
        alpha = np.exp(self.misplaced - tail.loss) * (tail.other * (1 + summing) + self.error)
        return np.clip(alpha, 0.0, 1.0), power

    def _tail(self) -> Tail:
        first = int(np.clip(np.floor(-self.start / self.mesh) + 1, 0, self.mass.size - 1))
        loss = np.asarray(self.start + self.mesh * np.arange(first, self.mass.size), dtype=np.float64)
        mass, other = np.cumsum(self.mass[first:][::-1])[::-1], discounted(self.mass[first:], np.exp(-self.mesh))
        return Tail(loss, np.maximum(mass, 0.0), np.maximum(other, 0.0))


def discounted(x: FloatArray, d: float) -> FloatArray:
    """y_k = x_k + d y_(k+1), the sum of all that follows, each discounted by d for each place in between; (K,).

    Each round makes sums over s places to sums over 2 s. scipy.signal's filter would take as long, and importing it
    twice as long as all else that the command line needs.

    >>> discounted(np.array([1.0, 2.0, 4.0]), 0.5)
    array([3., 4., 4.])
    """
    y, s = x.copy(), 1
    while s < y.size:
        y[:-s] += d * y[s:]
        d, s = d * d, 2 * s
    return y


def composed_loss(losses: Sequence[LossLaw], counts: IntArray, q: FloatArray, moments: LogMoments) -> ComposedLoss:
    """The law of (L,) counts of the losses of steps at (L,) rates; on one mesh, dominated by those of the moments.

    Errors: RuntimeError if the lattice would be too long.
    """
    mesh = losses[0].mesh
    # ln of the finite mass of one use: all but the infinite. A sum of it would err by 1e-16, times the steps.
    finite = np.array([np.log1p(-loss.infinite) for loss in losses])
    low, high = (float(end[0]) for end in moments.reach(counts[None], 0.0, finite))
    nodes = int((high - low) / mesh) + 8
    if nodes > log_moments.longest(len(losses)):
        raise RuntimeError(f"A lattice of {nodes} nodes for all steps together is too long.")
    period = int(next_fast_len(nodes, real=True) or nodes)
    spectra = [spectrum(loss, 0.0, period) for loss in losses]
    mass, error = _masses(spectra, counts, q, period)
    origin = float(counts @ np.array([each.origin for each in spectra]))  # the loss at index 0 of the circle
    shift = int(np.floor((low - origin) / mesh))
    log_finite = float(counts @ finite)  # what is left is infinite
    return ComposedLoss(
        origin + shift * mesh,
        mesh,
        np.roll(mass, -shift % period) * np.exp(log_finite),
        -float(np.expm1(log_finite)),
        error + 2 * np.exp(-log_moments.TAIL),
        rounding.POSITION * float(counts @ moments.reaching),
    )


def _masses(spectra: Sequence[Spectrum], counts: IntArray, q: FloatArray, period: int) -> tuple[FloatArray, float]:
    """Probabilities on the circle (period,), and the error of any divergence of them.

    What the transforms err is charged for any arc. What the masses of one step err may change an arc by more than is
    charged, but no divergence, and so no test (README.md, section 6).
    """
    excess = np.stack([each.excess for each in spectra])  # (L, period // 2 + 1)
    log_size = np.stack([log_one_plus(each) for each in excess])
    kept = np.flatnonzero(counts @ log_size > -log_moments.CUT)
    angle = np.stack([np.angle(1 + each[kept]) for each in excess])
    transform = np.zeros(excess.shape[1], dtype=np.complex128)
    transform[kept] = np.exp(counts @ (log_size[:, kept] + 1j * angle))
    mass = np.asarray(irfft(transform, period))
    # The transform of an arc is at most 1 / sin: an error of one frequency changes the arc's sum by no more.
    arc = np.full(excess.shape[1], 1.0)
    arc[1:] = 2 / (period * np.sin(pi / period * np.arange(1, arc.size)))
    rest = np.array([each.rest for each in spectra])
    # The same charge for each factor as under a tilt.
    each = rounding.factor_error(len(rest), period) * rest[:, None] * np.exp(-log_size[:, kept])
    rounded = np.abs(transform[kept]) * (counts @ each + rounding.product_error(len(rest), kept.size)) @ arc[kept]
    inverse = rounding.inverse_error(period) * np.sqrt(period * float(mass @ mass))  # by Cauchy and Schwarz
    steps = float(counts @ rounding.step_error(q, rest))  # replaced one after another, they add up
    return mass, float(rounded + np.exp(-log_moments.CUT) * arc.sum() + inverse + steps)
