"""Privacy-loss laws on a lattice: laws that dominate the sampled Gaussian, and one that it dominates.

One step is the pair P = (1-q) N(0, sigma^2) + q N(1, sigma^2) and Q = N(0, sigma^2). All that matters is the law of
the ratio t = P/Q, or of its logarithm, the privacy loss. A mean-preserving spread of t under Q gives a pair that
dominates (P, Q) in both directions, a mean-preserving contraction one that is dominated in both.

Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the dots", PoPETs 2022 (arXiv 2207.04380), for the
spread. The contraction takes the same piecewise linear hockey-stick curve and lowers it until it lies below the true
one: second order in the mesh as well.

Below, w is the ratio N(1, sigma^2)/N(0, sigma^2), so t = 1 - q + q w. Splitting a cell between its two ends is the
same linear system for w as for t, and free of the cancellation that 1 - q brings when q is small.
"""

from dataclasses import dataclass
from math import expm1, inf, log, log1p
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.privacy.certified.lower_law import Gaps, dominated, needed
from dpcore.privacy.types import FloatArray

BLOCK = 2**20  # numbers held at once
CORE_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Loss:
    """A privacy loss: offset + i mesh with probability mass[i] under the numerator, +infinity with `infinite`.

    >>> Loss(0.0, 0.5, np.array([0.5, 0.5]), 0.0).log_moments(np.array([0.0, 1.0])).round(4)
    array([0.    , 0.2809])
    """

    offset: float
    mesh: float
    mass: FloatArray  # (m,)
    infinite: float

    def log_moments(self, orders: FloatArray) -> FloatArray:
        """ln E[e^(order loss); loss finite] at (G,) orders -> (G,)."""
        live = np.flatnonzero(self.mass > 0)
        if live.size == 0:
            return np.full(orders.shape, -inf)
        log_mass, values = np.log(self.mass[live]), self.offset + self.mesh * live
        blocks = np.array_split(orders, -(-orders.size * live.size // BLOCK))
        return np.concatenate([_log_sum(log_mass + block[:, None] * values) for block in blocks])


def _log_sum(exponent: FloatArray) -> FloatArray:
    """ln of the sum of e^exponent over the last axis."""
    top = exponent.max(axis=-1)
    return top + np.log(np.exp(exponent - top[:, None]).sum(axis=-1))


class Laws(NamedTuple):
    """One step between two proofs: `remove` and `add` dominate it, `lower` is dominated (in the remove direction)."""

    remove: Loss
    add: Loss
    lower: Loss


class Cells(NamedTuple):
    """Consecutive pieces of the x line, piece i between the nodes i and i+1 of a lattice of losses."""

    w: FloatArray  # (m,) ratio at the nodes
    middle: FloatArray  # (m-1,) ratio where the cell is halved
    left: FloatArray  # (2, m-1) masses of the left halves under N(0) and N(1)
    right: FloatArray  # (2, m-1)

    @property
    def width(self) -> FloatArray:
        """Extent of each cell in w, (m-1,)."""
        return np.diff(self.w)

    def split(self) -> tuple[FloatArray, FloatArray]:
        """Masses under N(0) that each cell gives to its two nodes, keeping its masses under both laws."""
        mass, tilted = self.left + self.right
        high = np.clip((tilted - mass * self.w[:-1]) / self.width, 0.0, mass)
        return mass - high, high

    def chord_error(self) -> FloatArray:
        """Upper bound of how far the chord of the hockey-stick curve lies above it within each cell, in w.

        The gap is concave over the cell, so its tangent at the middle bounds it.
        """
        _, high = self.split()
        mass, tilted = self.right
        gap = high * (self.w[1:] - self.middle) - (tilted - mass * self.middle)
        slope = mass - high
        return np.maximum(gap, 0.0) + np.maximum(
            slope * (self.w[1:] - self.middle), -slope * (self.middle - self.w[:-1])
        )


def spread(q: float, sigma: float) -> float:
    """Root of the order-2 Renyi divergence of one step: about the standard deviation of its loss.

    >>> round(spread(0.01, 4.0), 6)
    0.00254
    """
    inverse = sigma**-2
    log_excess = inverse + log1p(-np.exp(-inverse)) if inverse > 1 else log(expm1(inverse))
    return float(np.sqrt(np.logaddexp(0.0, 2 * log(q) + log_excess)))


def laws(q: float, sigma: float, mesh: float, tail: float) -> Laws:
    """The laws of one step on a lattice of this mesh, with at most about `tail` mass cut off at either end.

    The loss is bounded below by ln(1-q). Where the lattice gets there, that end is a cell like any other, and the
    lattice is placed so that the mass near the bound (most of it, if sigma is small) falls on a node.
    """
    reach = float(-ndtri(tail))
    low, high = _span(q, sigma, reach)
    if q < 1 and low < mesh:
        return _bounded_laws(q, sigma, mesh, high)
    return _open_laws(q, sigma, mesh, low, high)


def span(q: float, sigma: float, tail: float) -> float:
    """Extent of the losses of one step but for `tail` mass at either end."""
    low, high = _span(q, sigma, float(-ndtri(tail)))
    return high - low


def _span(q: float, sigma: float, reach: float) -> tuple[float, float]:
    """Heights y = loss - ln(1-q) (loss itself if q = 1) at `reach` standard deviations below N(0) and above N(1)."""
    low, high = (-reach / sigma - 0.5 / sigma**2), (reach / sigma + 0.5 / sigma**2)
    if q == 1:
        return low, high
    logit = log(q) - log1p(-q)
    return float(np.logaddexp(0.0, logit + low)), float(np.logaddexp(0.0, logit + high))


def _ratio(q: float, y: FloatArray) -> FloatArray:
    return np.exp(y) if q == 1 else (1 - q) / q * np.expm1(y)


def _position(q: float, sigma: float, y: FloatArray) -> FloatArray:
    """Where on the x line the loss has this height; -infinity at or below the bound."""
    if q == 1:
        log_w = y
    else:
        log_w = np.full(y.shape, -inf)
        up = y > 0
        log_w[up] = y[up] + np.log(-np.expm1(-y[up])) - (log(q) - log1p(-q))
    return sigma**2 * log_w + 0.5


def _between(z: FloatArray) -> FloatArray:
    """Standard normal mass between neighbours of z, (k,) -> (k-1,), to full relative precision in both tails."""
    far = ndtr(-np.abs(z))
    left, right = z[:-1], z[1:]
    mass = np.where(left >= 0, far[:-1] - far[1:], far[1:] - far[:-1])
    return np.where((left < 0) & (right > 0), 1.0 - far[1:] - far[:-1], mass)


def _cells(q: float, sigma: float, y: FloatArray) -> Cells:
    """Cells between the heights y[0], y[2], .. halved at y[1], y[3], ..."""
    x, w = _position(q, sigma, y), _ratio(q, y)
    mass = np.stack([_between(x / sigma), _between((x - 1) / sigma)])  # (2, 2m-2)
    return Cells(w[::2], w[1::2], mass[:, ::2], mass[:, 1::2])


def _dominating(cells: Cells) -> FloatArray:
    """Mass under Q of each node after every cell is split between its ends, (m,)."""
    low, high = cells.split()
    mass = np.zeros(cells.w.size)
    mass[:-1] += low
    mass[1:] += high
    return mass


def _open_laws(q: float, sigma: float, mesh: float, low: float, high: float) -> Laws:
    """Laws on a lattice that cuts off the mass below its first node."""
    count = int(np.ceil((high - low) / mesh)) + 1
    y = np.asarray(low + 0.5 * mesh * np.arange(2 * count - 1), dtype=np.float64)
    cells = _cells(q, sigma, y)
    offset = low + (0.0 if q == 1 else log1p(-q))
    mass, infinite = _dominating(cells), _cut_above(q, sigma, y[-1])
    start = float(_position(q, sigma, y[:1])[0])
    below = ndtr(start / sigma)
    kept = ((1 - q) * below + q * ndtr((start - 1) / sigma)) * np.exp(-offset)  # the P-mass below, moved up to a node
    mass[0] += kept
    mass[-1] += infinite.mass
    zero = max(below - kept, 0.0)
    lower = dominated(
        cells.w, mass, needed(cells.chord_error()), Gaps(zero, np.exp(offset) * zero / q, infinite.excess)
    )
    return Laws(
        _forward(offset, mesh, mass, q * infinite.excess),
        _backward(offset, mesh, mass, zero),
        _lower(offset, mesh, lower),
    )


def _bounded_laws(q: float, sigma: float, mesh: float, high: float) -> Laws:
    """Laws on a lattice whose first cell reaches the lower bound of the loss."""
    cut, core, start = _core(q, sigma, mesh)
    count = int(np.ceil((high - start) / mesh)) + 2
    y = np.asarray(start + 0.5 * mesh * np.arange(-2, 2 * count - 3), dtype=np.float64)
    offset = log1p(-q) + start
    infinite = _cut_above(q, sigma, y[-1])
    mass = _dominating(_cells(q, sigma, y))
    mass[-1] += infinite.mass
    lower = _bounded_lower(q, sigma, y[2:], cut, core, infinite)
    return Laws(
        _forward(offset - mesh, mesh, mass, q * infinite.excess),
        _backward(offset - mesh, mesh, mass, 0.0),
        _lower(offset, mesh, lower),
    )


def _core(q: float, sigma: float, mesh: float) -> tuple[float, float, float]:
    """A cut, the mass under N(0) below it, and the height of that mass taken as one: below one mesh.

    The cut is raised to one mesh above that height where most mass lies low; where it does not, half a mesh will do.
    """
    cut = 0.5 * mesh
    core, start = _mass_below(q, sigma, cut)
    for _ in range(CORE_ROUNDS):
        higher = start + mesh  # the next node: both rise, and the cut never passes it
        more, rise = _mass_below(q, sigma, higher)
        if rise >= 0.9 * mesh:
            break
        cut, core, start = higher, more, rise
    return cut, core, start


def _mass_below(q: float, sigma: float, cut: float) -> tuple[float, float]:
    """Mass under N(0) of losses below a height, and the height of that mass taken as one."""
    x = sigma**2 * (cut + log(-expm1(-cut)) - log(q) + log1p(-q)) + 0.5
    core, tilted = float(ndtr(x / sigma)), float(ndtr((x - 1) / sigma))
    return core, log1p(q / (1 - q) * tilted / core) if core > 0 else 0.5 * cut


def _bounded_lower(q: float, sigma: float, y: FloatArray, cut: float, core: float, infinite: "Beyond") -> FloatArray:
    """Contract everything below `cut` to the first node, which is its mean, and lower the curve beyond it."""
    cells = _cells(q, sigma, np.concatenate([[cut, 0.5 * (cut + y[2])], y[2:]]))
    cells.w[0] = _ratio(q, y[:1])[0]
    mass, error = _dominating(cells), cells.chord_error()
    error[0] = (
        mass[0] * cells.width[0]
    )  # the curve touches the first node, so its slope there must not exceed the truth
    lowering = needed(error)
    lowering[0] = 0.0
    mass[0] += core
    mass[-1] += infinite.mass
    return dominated(cells.w, mass, lowering, Gaps(0.0, 0.0, infinite.excess))


class Beyond(NamedTuple):
    """What lies right of the last node: mass under N(0), and how much more N(1) has than the node's ratio allows."""

    mass: float
    excess: float


def _cut_above(q: float, sigma: float, height: float) -> Beyond:
    end, ratio = float(_position(q, sigma, np.array([height]))[0]), float(_ratio(q, np.array([height]))[0])
    mass = float(ndtr(-end / sigma))
    return Beyond(mass, max(float(ndtr((1 - end) / sigma)) - mass * ratio, 0.0))


def _lower(offset: float, mesh: float, mass: FloatArray) -> Loss:
    """The remove direction of a dominated law; where the lattice is too coarse to have one, no loss at all."""
    return _forward(offset, mesh, mass, 0.0) if mass.any() else Loss(0.0, mesh, np.ones(1), 0.0)


def _forward(offset: float, mesh: float, mass: FloatArray, infinite: float) -> Loss:
    """The remove direction of masses under Q: P has e^loss times as much."""
    return Loss(offset, mesh, mass * np.exp(offset + mesh * np.arange(mass.size)), infinite)


def _backward(offset: float, mesh: float, mass: FloatArray, infinite: float) -> Loss:
    """The add direction of masses under Q: the losses change sign."""
    return Loss(-(offset + mesh * (mass.size - 1)), mesh, mass[::-1], infinite)
