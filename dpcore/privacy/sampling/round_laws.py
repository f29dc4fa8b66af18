"""Proven bounds of epsilon after many rounds of one kind, from the laws of a round on a lattice.

A round is anything with a law of its own: one step under another adjacency, or a whole epoch. The
points of its pair of laws are gathered into halves of a lattice's cells, which is all that "connect
the dots" needs. The certified accountant composes the laws on finer and finer lattices, until the
two bounds are close.
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np

from dpcore.privacy.certified.cells import Beyond, Cells, normal_between
from dpcore.privacy.certified.compose import composed_epsilons
from dpcore.privacy.certified.lattice import CUT_OFF, LogMoments, log_moments_of, orders_between
from dpcore.privacy.certified.step_law import HIGHEST, Below, LossLaw, StepLaws, laws_of_cells
from dpcore.privacy.ends import safe_ends
from dpcore.privacy.mechanism import FloatArray, IntArray

SMALLEST_MASS = 1e-300  # a divisor that underflows is not 0
MAX_LOSS = 340.0  # of either sign: the square of e^340 is still a float
NARROW_ENOUGH = 4e-3  # aim: width of the band over epsilon
SMALL = 1e-3  # a smaller epsilon needs no finer lattice
FINER = 0.45  # ratio of the mesh to that of the lattice before
LATTICES = 5  # at most
# Of the previous width: if more remains, the lattice is not the reason for a wide band.
WORTH_ANOTHER = 0.8
NO_BAND = 1e6
NODES = 2**16  # of a lattice, about at most: beyond it is coarser, since a curve would take minutes
WORK = 2**21  # nodes times pairs of rounds and deltas, about at most
FEWEST_NODES = 2**12  # of a lattice, however many pairs
MAX_SHARE_OF_DELTA = 0.9  # if rounding takes more of delta, nothing is promised


class RoundLaws(NamedTuple):
    """The laws of one round on a lattice of losses, and the error of any divergence of them."""

    laws: StepLaws
    error: float

    @property
    def nodes(self) -> int:
        """The nodes of the longest lattice of the laws."""
        return max(law.mass.size for law in self.laws)


# Of a fineness, 1 at first and then less, and the most nodes of a lattice; RuntimeError if it
# cannot be finer.
LawsOn = Callable[[float, int], RoundLaws]


class AtomPair(NamedTuple):
    """Points with their loss and their masses under Q and P, which rounding may leave a little
    below 0.
    """

    loss: FloatArray  # (N,) increasing, ln of the ratio of both masses
    denominator: FloatArray  # (N,)
    numerator: FloatArray  # (N,)


def laws_of_atoms(
    pair: AtomPair,
    mesh: float,
    tail: float,
    infinite: float = 0.0,
    *,
    add: bool = False,
    most: int = NODES,
) -> RoundLaws:
    """The laws on a lattice of about `most` nodes at most, whose ends leave out at most `tail` of P
    below and above.

    For the add direction at most `tail` of Q lies below the lattice, since that mass is an infinite
    loss. `infinite` is the mass of P that Q never shows. The error comes from masses below 0.
    Errors: RuntimeError if a ratio or its square overflows.
    """
    masses = np.maximum(np.stack([pair.denominator, pair.numerator]), 0.0)
    error = float(np.maximum(-np.stack([pair.denominator, pair.numerator]), 0.0).sum(axis=1).max())
    total = float(masses[1].sum())
    begin, end = np.searchsorted(np.cumsum(masses[1]), [tail, total - tail])
    if add:
        begin = min(int(begin), int(np.searchsorted(np.cumsum(masses[0]), tail)))
    low, high = (float(pair.loss[min(each, pair.loss.size - 1)]) for each in (begin, end))
    if not max(-low, high) < MAX_LOSS:
        raise RuntimeError("There is so little noise that ratios overflow.")
    mesh = max(mesh, (high - low) / most)
    count = int(np.ceil((high - low) / mesh)) + 2
    # The mass below the first node, in the halves of all cells, and beyond the last node.
    half = np.clip(
        np.floor((pair.loss - low) / (0.5 * mesh)).astype(np.int64) + 1, 0, 2 * count - 1
    )
    halves = np.array([np.bincount(half, mass, 2 * count) for mass in masses], dtype=np.float64)
    halves[0, 0] += max(1 - float(halves[0].sum()), 0.0)  # mass of Q that P never shows
    return RoundLaws(laws_of_halves(halves, low, mesh, infinite), error)


def lattice(low: float, count: int, mesh: float, sigma: float) -> FloatArray:
    """The losses of N nodes from `low` on, and halfway between, (2 N - 1,).

    Errors: RuntimeError if ratios overflow.
    """
    if max(-low, low + (count - 1) * mesh) > HIGHEST:
        raise RuntimeError(f"At sigma={sigma:g} one step reveals so much that its ratios overflow.")
    return np.asarray(low + 0.5 * mesh * np.arange(2 * count - 1), dtype=np.float64)


def laws_of_halves(halves: FloatArray, low: float, mesh: float, infinite: float = 0.0) -> StepLaws:
    """The laws of a pair on a lattice of N nodes from `low` on, from its masses under Q and P, (2,
    2 N).

    These lie below the first node, in the halves of the cells, and beyond the last node.
    """
    nodes = np.exp(low + 0.5 * mesh * np.arange(halves.shape[1] - 1))
    cells = Cells(nodes[::2], nodes[1::2], halves[:, 1:-1:2], halves[:, 2:-1:2])
    excess = max(float(halves[1, -1] - halves[0, -1] * nodes[-1]), 0.0) + infinite
    below, beyond = (
        Below(float(halves[0, 0]), float(halves[1, 0])),
        Beyond(float(halves[0, -1]), excess),
    )
    return laws_of_cells(cells, low, mesh, below, beyond)


def on_the_line(x: FloatArray, sigma: float) -> FloatArray:
    """The masses of N(0, sigma^2) below, between and beyond rising places, (n,) -> (n + 1,)."""
    return normal_between(np.concatenate([[-inf], x, [inf]]) / sigma)


def bounds_around(
    laws_on: LawsOn, whole: IntArray, begun: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower epsilon after (n,) completed rounds and upper epsilon after (n,) rounds that have
    begun, at (n,) deltas.

    Errors: RuntimeError if not even the first lattice can be made.
    """
    asked = np.concatenate([whole, begun]).astype(np.float64), np.concatenate([delta, delta])
    pairs, place = np.unique(np.stack(asked, axis=1), axis=0, return_inverse=True)
    lower, upper = np.zeros(len(pairs)), np.zeros(len(pairs))
    rows = np.flatnonzero(pairs[:, 0] > 0)
    if rows.size:
        lower[rows], upper[rows] = law_bounds(
            laws_on, pairs[rows, 0].astype(np.int64), pairs[rows, 1]
        )
    place = place.reshape(2, -1)
    return lower[place[0]], upper[place[1]]


def law_bounds(
    laws_on: LawsOn, rounds: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon after each of (n,) numbers of rounds, not decreasing and above 0, at
    (n,) deltas.

    Errors: RuntimeError if not even the first lattice can be made.
    """
    most = most_nodes(rounds.size)
    given = laws_on(1.0, most)
    lower, upper = _bounds_on(given, rounds, delta)
    width, before = _widest(lower, upper), inf
    for finer in range(1, LATTICES):
        wide = width > NARROW_ENOUGH and width <= WORTH_ANOTHER * before
        if not wide or given.nodes >= most:
            break
        try:
            given = laws_on(FINER**finer, most)
            low, high = _bounds_on(given, rounds, delta)
        except RuntimeError:
            break
        lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        width, before = _widest(lower, upper), width
    lower, upper, _ = safe_ends(lower, upper, "")
    return lower, upper


def most_nodes(pairs: int) -> int:
    """The most nodes of a lattice for so many pairs of rounds and deltas: each pair takes time for
    each node.
    """
    return min(NODES, WORK // pairs + FEWEST_NODES)


def step_bounds(
    laws_on: Callable[[float, float, int], StepLaws],
    unit: float,
    steps: IntArray,
    delta: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """As `law_bounds`, from the laws of a step on a mesh, `unit` at first, without about a tail."""
    tail = CUT_OFF * float(delta.min()) / int(steps[-1])

    def round_laws_on(fineness: float, most: int) -> RoundLaws:
        return RoundLaws(laws_on(unit * fineness, tail, most), 0.0)

    return law_bounds(round_laws_on, steps, delta)


def _widest(lower: FloatArray, upper: FloatArray) -> float:
    """The widest band relative to its epsilon, at most NO_BAND."""
    return min(float(np.max((upper - lower) / np.maximum(lower, SMALL))), NO_BAND)


def upper_bounds(laws: StepLaws, rounds: IntArray, delta: FloatArray) -> FloatArray:
    """Upper epsilon after each of (n,) numbers of rounds, not decreasing and above 0, at (n,)
    deltas; (n,).
    """
    return np.maximum(*(_upper(law, rounds, delta) for law in (laws.remove, laws.add)))


def _upper(law: LossLaw, rounds: IntArray, delta: FloatArray) -> FloatArray:
    """Upper epsilon in one direction."""
    return composed_epsilons([law], rounds[:, None], delta, moments_of(law, rounds, delta), +1)


def _bounds_on(
    given: RoundLaws, rounds: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon from the laws on one lattice; their error is charged to delta for
    each round.
    """
    laws, error = given.laws, rounds * given.error
    lower, upper = np.zeros(delta.shape), np.full(delta.shape, inf)
    rows = np.flatnonzero(error < MAX_SHARE_OF_DELTA * delta)
    if rows.size:
        used, less, more = rounds[rows], (delta - error)[rows], np.minimum(delta + error, 1.0)[rows]
        remove = _upper(laws.remove, used, less)
        upper[rows] = np.maximum(remove, _upper(laws.add, used, less))
        # Of the remove direction, whose upper end is the ceiling.
        moments = moments_of(laws.dominated, used, more)
        lower[rows] = composed_epsilons([laws.dominated], used[:, None], more, moments, -1, remove)
    return lower, upper


def moments_of(law: LossLaw, rounds: IntArray, delta: FloatArray) -> LogMoments:
    """The log-moments of one law at the orders that matter."""
    deviation, ends = _deviation(law), (law.offset, law.offset + law.mesh * (law.mass.size - 1))
    orders = orders_between(
        deviation * np.sqrt(rounds[0]),
        deviation * np.sqrt(rounds[-1]),
        max(ends[1] - ends[0], law.mesh),
        delta,
    )
    return log_moments_of([law], orders, np.array([max(abs(ends[0]), abs(ends[1])) + 1]))


def _deviation(law: LossLaw) -> float:
    """Standard deviation of the finite losses, at least one mesh."""
    loss, mass = law.offset + law.mesh * np.arange(law.mass.size), law.mass / law.mass.sum()
    return max(float(np.sqrt(mass @ (loss - mass @ loss) ** 2)), law.mesh)
