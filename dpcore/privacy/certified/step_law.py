"""One step on a lattice of losses: a law that dominates it in both directions, and one that it
dominates.

Only the law of the likelihood ratio t = P/Q matters, or of its logarithm, the privacy loss. A
mean-preserving spread of t under Q gives a pair that dominates (P, Q) in both directions, a
mean-preserving contraction a dominated pair.

Source: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the dots", PoPETs 2022 (arXiv
2207.04380), for the spread. The contraction lowers the same piecewise linear hockey-stick curve,
U(t) = E_Q[(t' - t)_+] for the ratio t', until it lies below the true one; that is second order in
the mesh, too. A dominated law has a convex curve below the true one, between max(0, 1 - t) and 1. A
curve with kinks on a lattice is a law on it: the change of slope is the mass under Q. The code
works on masses, since differences of the curve's values would cancel.
"""

from dataclasses import dataclass
from math import inf, log1p
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from dpcore.privacy.certified.cells import (
    Beyond,
    Cells,
    cells_between,
    cut_above,
    height_of,
    loss_heights,
    mass_below,
    position_at,
    ratio_at,
    suffix_sum,
)
from dpcore.privacy.mechanism import FloatArray, IntArray

EXPONENTS = 2**20  # numbers in memory at once
CORE_ROUNDS = 8  # times that the cut, below which all mass is one node, may rise
FAR = 4.0  # standard deviations of the noise above which cells may widen
GROWTH = 64  # nodes after which cells may be twice as wide as the mesh, at least
HIGHEST = 700.0  # e^700 is still a float


@dataclass(frozen=True, eq=False)
class LossLaw:
    """A privacy loss: offset + i mesh with probability mass[i] under the numerator, +infinity with
    `infinite`.

    >>> LossLaw(0.0, 0.5, np.array([0.5, 0.5]), 0.0).log_moments(np.array([0.0, 1.0])).round(4)
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
        log_mass = np.log(self.mass[live])
        values = self.offset + self.mesh * live
        blocks = np.array_split(orders, -(-orders.size * live.size // EXPONENTS))
        return np.concatenate([_log_sum(log_mass + block[:, None] * values) for block in blocks])


def _log_sum(exponent: FloatArray) -> FloatArray:
    """The logarithm of the sum of e^exponent over the last axis."""
    top = exponent.max(axis=-1)
    return top + np.log(np.exp(exponent - top[:, None]).sum(axis=-1))


def needed(error: FloatArray) -> FloatArray:
    """The lowering of each node at which the chords on both its sides lie below the curve."""
    return np.maximum(np.append(error, 0.0), np.insert(error, 0, 0.0))


class Gaps(NamedTuple):
    """At the ends of the lattice: the mass of ratio 0, and the height of the curve above max(0, 1 -
    t), in w.
    """

    zero: float
    left: float
    right: float


def dominated(w: FloatArray, mass: FloatArray, lowering: FloatArray, gaps: Gaps) -> FloatArray:
    """Masses under Q whose hockey-stick curve is that of `mass`, lowered by `lowering` at each
    node.

    Near the ends, where the curve is too close to max(0, 1 - t), it follows that floor.
    """
    width = np.diff(w)  # (m - 1,)
    left_of_cell = gaps.zero + np.cumsum(mass)[:-1]  # (m - 1,)
    right_of_cell = suffix_sum(mass[1:])  # (m - 1,)
    above_left = gaps.left + np.append(0.0, np.cumsum(width * left_of_cell))  # (m,)
    above_right = gaps.right + np.append(suffix_sum(width * right_of_cell), 0.0)  # (m,)
    first = int(np.max(np.flatnonzero(above_left < lowering), initial=-1)) + 1
    last = int(np.min(np.flatnonzero(above_right < lowering), initial=mass.size)) - 1
    if first >= last:
        return np.zeros_like(mass)  # too coarse to say anything
    drop = lowering.copy()
    drop[: first + 1] = above_left[: first + 1]
    drop[last:] = above_right[last:]
    corner = _tangent(w[: last + 1], above_right[: last + 1] - drop[: last + 1])
    height = above_right[corner] - drop[corner]
    chord = height * (w[last] - w[corner:last]) / (w[last] - w[corner])
    drop[corner:last] = above_right[corner:last] - chord
    slope = np.concatenate([[gaps.zero], np.diff(drop) / width, [0.0]])  # (m + 1,)
    lowered = mass - np.diff(slope)
    for straight in (slice(None, first), slice(corner + 1, last), slice(last + 1, None)):
        lowered[straight] = 0.0
    return _convex(w, lowered)


def _tangent(w: FloatArray, height: FloatArray) -> int:
    """The node from which the lower convex hull runs straight to the last node, of height 0."""
    return int(np.argmin(height[:-1] / (w[-1] - w[:-1])))


def _convex(w: FloatArray, mass: FloatArray) -> FloatArray:
    """The lower convex hull: a node of negative mass lies above its neighbours' chord and gives
    them its mass.
    """
    nodes = np.flatnonzero(mass)
    for _ in range(mass.size):
        negative = np.flatnonzero(mass[nodes] < 0)
        if negative.size == 0:
            return mass
        if negative[0] == 0 or negative[-1] == nodes.size - 1:
            return np.zeros_like(mass)
        # One of each run, so that its neighbours stay.
        negative = negative[np.insert(np.diff(negative) > 1, 0, True)]
        left = nodes[negative - 1]
        here = nodes[negative]
        right = nodes[negative + 1]
        share = (w[right] - w[here]) / (w[right] - w[left])
        np.add.at(mass, left, mass[here] * share)
        np.add.at(mass, right, mass[here] * (1 - share))
        mass[here] = 0.0
        nodes = np.delete(nodes, negative)
    raise RuntimeError("The lower convex hull of a hockey-stick curve was not found.")


class Below(NamedTuple):
    """Mass left of the first node, under Q and under P."""

    mass: float
    numerator: float


class StepLaws(NamedTuple):
    """The pessimistic laws of one step in both directions, and its optimistic law."""

    remove: LossLaw  # dominates the step in the remove direction
    add: LossLaw  # dominates the step in the add direction
    dominated: LossLaw  # is dominated by the step in the remove direction


def step_laws(q: float, sigma: float, mesh: float, tail: float) -> StepLaws:
    """The laws of one step on a lattice of this mesh, without about `tail` mass of P and of Q at
    the ends.

    The loss is at least ln(1-q). If the lattice reaches that bound, the end is a cell like any
    other, and the mass near the bound (most of it at small sigma) falls on a node.
    """
    low, high = loss_heights(q, sigma, tail)
    if q < 1 and low < mesh:
        return _bounded_laws(q, sigma, mesh, high)
    return _open_laws(q, sigma, mesh, low, high)


def dominating(cells: Cells) -> FloatArray:
    """Mass under Q of each node, once every cell is split between its ends, (m,)."""
    low, high = cells.split()
    mass = np.zeros(cells.w.size)
    mass[:-1] += low
    mass[1:] += high
    return mass


def _open_laws(q: float, sigma: float, mesh: float, low: float, high: float) -> StepLaws:
    """The laws on a lattice that cuts off the mass below its first node."""
    count = int(np.ceil((high - low) / mesh)) + 1
    y = np.asarray(low + 0.5 * mesh * np.arange(2 * count - 1), dtype=np.float64)
    start = float(position_at(q, sigma, y[:1])[0])
    below = Below(
        float(ndtr(start / sigma)),
        float((1 - q) * ndtr(start / sigma) + q * ndtr((start - 1) / sigma)),
    )
    offset = low + (0.0 if q == 1 else log1p(-q))
    return laws_of_cells(
        cells_between(q, sigma, y), offset, mesh, below, cut_above(q, sigma, y[-1]), q
    )


def laws_of_cells(
    cells: Cells, offset: float, mesh: float, below: Below, beyond: Beyond, q: float = 1.0
) -> StepLaws:
    """The laws of any pair on a line, from its masses in the cells of a lattice of losses that
    begins at `offset`.

    The likelihood ratio is t = 1 - q + q w; cells hold masses under Q and under the law of ratio w
    to Q.
    """
    mass = dominating(cells)
    kept = below.numerator * np.exp(-offset)  # moved up to the first node
    mass[0] += kept
    mass[-1] += beyond.mass
    zero = max(below.mass - kept, 0.0)
    lower = dominated(
        cells.w,
        mass,
        needed(cells.chord_error()),
        Gaps(zero, np.exp(offset) * zero / q, beyond.excess),
    )
    return StepLaws(
        _forward(offset, mesh, mass, q * beyond.excess),
        _backward(offset, mesh, mass, zero),
        _lower(offset, mesh, lower),
    )


def _bounded_laws(q: float, sigma: float, mesh: float, high: float) -> StepLaws:
    """The laws on a lattice that reaches the lower bound of the loss.

    Errors: RuntimeError if e^loss overflows.
    """
    cut, core, start = _core(q, sigma, mesh)
    count = int(np.ceil((high - start) / mesh)) + 2
    nodes = widening(count, int((height_of(q, sigma, FAR * sigma) - start) / mesh) + 1)
    all_nodes = np.insert(nodes, 0, -1)  # the first cell reaches below the bound
    halved = np.interp(np.arange(2 * all_nodes.size - 1) / 2, np.arange(all_nodes.size), all_nodes)
    y = np.asarray(start + mesh * halved, dtype=np.float64)
    if y[-1] > HIGHEST:
        raise RuntimeError(
            "So many steps need a lattice so coarse that the ratios at its nodes overflow."
        )
    offset = log1p(-q) + start
    infinite = cut_above(q, sigma, y[-1])
    mass = dominating(cells_between(q, sigma, y))
    mass[-1] += infinite.mass
    # Everything below the cut is contracted to the first node, its mean, and the curve beyond is
    # lowered.
    cells = cells_between(q, sigma, np.concatenate([[cut, 0.5 * (cut + y[4])], y[4:]]))
    lower = lowered_beyond_core(cells, float(ratio_at(q, y[2:3])[0]), core, infinite)
    return StepLaws(
        _forward(offset - mesh, mesh, on_all_points(mass, all_nodes + 1), q * infinite.excess),
        _backward(offset - mesh, mesh, on_all_points(mass, all_nodes + 1), 0.0),
        _lower(offset, mesh, on_all_points(lower, nodes)),
    )


def widening(count: int, core: int) -> IntArray:
    """The nodes among `count` lattice points: all within `core`, then fewer and fewer, since rare
    losses need few.

    A cell is at most 1/GROWTH as wide as its distance to the core, and narrower if the core has
    many nodes.
    """
    nodes = [np.arange(min(core + GROWTH, count))]
    growth = max(GROWTH, core)
    while nodes[-1][-1] < count - 1:
        last = int(nodes[-1][-1])
        width = 1 + (last - core) // growth
        nodes.append(
            np.arange(last + width, min(last + width * growth, count - 1 + width) + 1, width)
        )
    return np.concatenate(nodes)


def on_all_points(mass: FloatArray, nodes: IntArray) -> FloatArray:
    """Masses of all lattice points from masses of nodes, 0 in between."""
    masses = np.zeros(int(nodes[-1]) + 1)
    masses[nodes] = mass
    return masses


def _core(q: float, sigma: float, mesh: float) -> tuple[float, float, float]:
    """A cut, the mass under N(0) below it, and the height of all that mass as one atom, below one
    mesh.

    The cut rises to one mesh above that height if most mass lies low; otherwise half a mesh is
    enough.
    """
    cut = 0.5 * mesh
    core, start = mass_below(q, sigma, cut)
    for _ in range(CORE_ROUNDS):
        higher = start + mesh  # the next node, which the cut never passes
        more, rise = mass_below(q, sigma, higher)
        if rise >= 0.9 * mesh:
            break
        cut = higher
        core = more
        start = rise
    return cut, core, start


def lowered_beyond_core(cells: Cells, first: float, core: float, infinite: Beyond) -> FloatArray:
    """Masses of a dominated law: `core` on the first node, which moves to its mean ratio, and a
    lowered curve.
    """
    cells.w[0] = first
    mass = dominating(cells)
    error = cells.chord_error()
    # The curve touches the first node, where it must not be too steep.
    error[0] = mass[0] * cells.width[0]
    lowering = needed(error)
    lowering[0] = 0.0
    mass[0] += core
    mass[-1] += infinite.mass
    return dominated(cells.w, mass, lowering, Gaps(0.0, 0.0, infinite.excess))


def _lower(offset: float, mesh: float, mass: FloatArray) -> LossLaw:
    """The remove direction of a dominated law; no loss at all if the lattice is too coarse."""
    return _forward(offset, mesh, mass, 0.0) if mass.any() else LossLaw(0.0, mesh, np.ones(1), 0.0)


def _forward(offset: float, mesh: float, mass: FloatArray, infinite: float) -> LossLaw:
    """The remove direction of masses under Q: P has e^loss times as much."""
    return LossLaw(offset, mesh, mass * np.exp(offset + mesh * np.arange(mass.size)), infinite)


def _backward(offset: float, mesh: float, mass: FloatArray, infinite: float) -> LossLaw:
    """The add direction of masses under Q: the losses change sign."""
    return LossLaw(-(offset + mesh * (mass.size - 1)), mesh, mass[::-1], infinite)
