"""Lower a piecewise linear hockey-stick curve until it lies below the true one, and stay a hockey-stick curve.

The curve is U(t) = E_Q[(ratio - t)_+] for the ratio P/Q. A law that is dominated has a convex curve below the true
one, between max(0, 1 - t) and 1. Curves with kinks on a lattice are laws on it: the change of slope is the mass
under Q. All of it is done on masses: differences of the curve's values would cancel.
"""

from typing import NamedTuple

import numpy as np

from dpcore.privacy.types import FloatArray


def needed(error: FloatArray) -> FloatArray:
    """By how much each node must be lowered for the chords on both its sides to lie below the curve."""
    return np.maximum(np.append(error, 0.0), np.insert(error, 0, 0.0))


class Gaps(NamedTuple):
    """At the ends of the lattice: mass of ratio 0, and height of the curve above max(0, 1 - t), in w."""

    zero: float
    left: float
    right: float


def dominated(w: FloatArray, mass: FloatArray, lowering: FloatArray, gaps: Gaps) -> FloatArray:
    """Masses under Q whose hockey-stick curve is that of `mass`, lowered by `lowering` at each node.

    Towards the ends, where the curve is not that high above max(0, 1 - t), it follows that floor.
    """
    width = np.diff(w)
    above_left = gaps.left + np.append(0.0, np.cumsum(width * (gaps.zero + np.cumsum(mass)[:-1])))
    above_right = gaps.right + np.append(np.cumsum((width * np.cumsum(mass[:0:-1])[::-1])[::-1])[::-1], 0.0)
    first = int(np.max(np.flatnonzero(above_left < lowering), initial=-1)) + 1
    last = int(np.min(np.flatnonzero(above_right < lowering), initial=mass.size)) - 1
    if first >= last:
        return np.zeros_like(mass)  # too coarse to say anything
    drop = lowering.copy()
    drop[: first + 1] = above_left[: first + 1]
    drop[last:] = above_right[last:]
    corner = _tangent(w[: last + 1], above_right[: last + 1] - drop[: last + 1])
    chord = (above_right[corner] - drop[corner]) * (w[last] - w[corner:last]) / (w[last] - w[corner])
    drop[corner:last] = above_right[corner:last] - chord
    slope = np.concatenate([[gaps.zero], np.diff(drop) / width, [0.0]])
    lowered = mass - np.diff(slope)
    for straight in (slice(None, first), slice(corner + 1, last), slice(last + 1, None)):
        lowered[straight] = 0.0
    return _convex(w, lowered)


def _tangent(w: FloatArray, height: FloatArray) -> int:
    """The node from which the lower convex hull runs straight to the last one, where the height is 0."""
    return int(np.argmin(height[:-1] / (w[-1] - w[:-1])))


def _convex(w: FloatArray, mass: FloatArray) -> FloatArray:
    """The lower convex hull: a node of negative mass lies above its neighbours' chord and hands its mass to them."""
    nodes = np.flatnonzero(mass)
    for _ in range(mass.size):
        negative = np.flatnonzero(mass[nodes] < 0)
        if negative.size == 0:
            return mass
        if negative[0] == 0 or negative[-1] == nodes.size - 1:
            return np.zeros_like(mass)
        negative = negative[np.insert(np.diff(negative) > 1, 0, True)]  # one of each run, so that neighbours survive
        left, here, right = nodes[negative - 1], nodes[negative], nodes[negative + 1]
        share = (w[right] - w[here]) / (w[right] - w[left])
        np.add.at(mass, left, mass[here] * share)
        np.add.at(mass, right, mass[here] * (1 - share))
        mass[here] = 0.0
        nodes = np.delete(nodes, negative)
    raise RuntimeError("The lower convex hull of a hockey-stick curve was not found.")
