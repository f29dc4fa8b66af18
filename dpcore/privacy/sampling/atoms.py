"""From a pair of laws on many points to the laws of its loss on a lattice.

The points are gathered into halves of the lattice's cells, which is all that connecting the dots needs to know of them.
"""

from typing import NamedTuple

import numpy as np

from dpcore.privacy.certified.cells import Beyond, Cells
from dpcore.privacy.certified.step_law import Below, laws_of_cells
from dpcore.privacy.sampling.round_laws import RoundLaws
from dpcore.privacy.types import FloatArray

LEAST = 1e-300  # a divisor that underflows is not 0
FARTHEST = 340.0  # loss either way: the square of e^340 is still a float


class AtomPair(NamedTuple):
    """Points with their loss and their masses under Q and P, which may be a little below 0 by rounding."""

    loss: FloatArray  # (N,) increasing: ln of the ratio of both masses
    denominator: FloatArray  # (N,)
    numerator: FloatArray  # (N,)


def laws_of_atoms(pair: AtomPair, mesh: float, tail: float, infinite: float = 0.0, *, add: bool = False) -> RoundLaws:
    """The laws on a lattice whose ends leave out at most `tail` of P below and above.

    For the add direction it begins where at most `tail` of Q lies below: there what is left out is an infinite loss.
    `infinite` is the mass of P that Q never shows. The error is what masses below 0 can change.
    Errors: RuntimeError where a ratio or its square is past any float.
    """
    masses = np.maximum(np.stack([pair.denominator, pair.numerator]), 0.0)
    error = float(np.maximum(-np.stack([pair.denominator, pair.numerator]), 0.0).sum(axis=1).max())
    total = float(masses[1].sum())
    begin, end = np.searchsorted(np.cumsum(masses[1]), [tail, total - tail])
    if add:
        begin = min(int(begin), int(np.searchsorted(np.cumsum(masses[0]), tail)))
    low, high = (float(pair.loss[min(each, pair.loss.size - 1)]) for each in (begin, end))
    if not max(-low, high) < FARTHEST:
        raise RuntimeError("There is so little noise that ratios leave the floats.")
    count = int(np.ceil((high - low) / mesh)) + 2
    # What lies below the first node, the halves of all cells, and what lies beyond the last node.
    half = np.clip(np.floor((pair.loss - low) / (0.5 * mesh)).astype(np.int64) + 1, 0, 2 * count - 1)
    halves = np.array([np.bincount(half, mass, 2 * count) for mass in masses], dtype=np.float64)
    nodes = np.exp(low + 0.5 * mesh * np.arange(2 * count - 1))
    cells = Cells(nodes[::2], nodes[1::2], halves[:, 1:-1:2], halves[:, 2:-1:2])
    zero = max(1 - float(halves[0].sum()), 0.0)  # what Q shows and P never does
    below = Below(float(halves[0, 0]) + zero, float(halves[1, 0]))
    beyond = Beyond(float(halves[0, -1]), max(float(halves[1, -1] - halves[0, -1] * nodes[-1]), 0.0) + infinite)
    return RoundLaws(laws_of_cells(cells, low, mesh, below, beyond), error)
