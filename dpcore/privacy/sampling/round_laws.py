"""Proven bounds of epsilon after many rounds of one kind, from the laws of a round on a lattice.

A round is anything with a law of its own: one step under another adjacency, or a whole epoch. The
points of its pair of laws are gathered into halves of a lattice's cells, which is all that "connect
the dots" needs. The certified accountant composes the laws on finer and finer lattices, until the
two bounds are close.
"""

from collections.abc import Callable
from math import ceil, inf, sqrt
from typing import NamedTuple

import numpy as np

from dpcore.privacy.certified.cells import Beyond, Cells, normal_between
from dpcore.privacy.certified.compose import composed_epsilons
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
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


# From a fineness, 1 at first and then less, and the most nodes of a lattice. RuntimeError if the
# lattice cannot be finer.
LawsOn = Callable[[float, int], RoundLaws]


class AtomPair(NamedTuple):
    """Points with their loss and their masses under Q and P; rounding may leave some below 0."""

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
    """The laws on a lattice of about `most` nodes at most.

    At most `tail` of P lies below the lattice, and as much above. For the add direction at most
    `tail` of Q lies below it, too, since that mass is an infinite loss. `infinite` is the mass of
    P that Q never shows. The error comes from masses below 0. Errors: RuntimeError if a ratio or
    its square overflows.
    """
    given = np.stack([pair.denominator, pair.numerator])  # (2, N)
    masses = np.maximum(given, 0.0)
    error = float(np.maximum(-given, 0.0).sum(axis=1).max())
    total = float(masses[1].sum())
    begin, end = np.searchsorted(np.cumsum(masses[1]), [tail, total - tail])
    if add:
        begin = min(begin, np.searchsorted(np.cumsum(masses[0]), tail))
    last = pair.loss.size - 1
    low = float(pair.loss[min(begin, last)])
    high = float(pair.loss[min(end, last)])
    if not max(-low, high) < MAX_LOSS:
        raise RuntimeError("There is so little noise that ratios overflow.")
    mesh = max(mesh, (high - low) / most)
    count = ceil((high - low) / mesh) + 2
    # The halves: below the first node, of all cells, and beyond the last node.
    place = np.floor((pair.loss - low) / (0.5 * mesh)).astype(np.int64) + 1  # (N,)
    half = np.clip(place, 0, 2 * count - 1)
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
    """The laws of a pair on a lattice of N nodes from `low` on.

    They are made from the masses under Q and P, (2, 2 N), below the first node, in the halves of
    the cells, and beyond the last node.
    """
    ratios = np.exp(low + 0.5 * mesh * np.arange(halves.shape[1] - 1))  # (2 N - 1,)
    left_halves = halves[:, 1:-1:2]  # (2, N - 1)
    right_halves = halves[:, 2:-1:2]
    cells = Cells(ratios[::2], ratios[1::2], left_halves, right_halves)
    below = Below(float(halves[0, 0]), float(halves[1, 0]))
    excess = max(float(halves[1, -1] - halves[0, -1] * ratios[-1]), 0.0) + infinite
    beyond = Beyond(float(halves[0, -1]), excess)
    return laws_of_cells(cells, low, mesh, below, beyond)


def on_the_line(x: FloatArray, sigma: float) -> FloatArray:
    """The masses of N(0, sigma^2) below, between and beyond rising places, (n,) -> (n + 1,)."""
    return normal_between(np.concatenate([[-inf], x, [inf]]) / sigma)


def bounds_around(
    laws_on: LawsOn, whole: IntArray, begun: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower epsilon after (n,) completed rounds, and upper epsilon after (n,) begun ones.

    Both are at (n,) deltas. Errors: RuntimeError if not even the first lattice can be made.
    """
    rounds = np.concatenate([whole, begun]).astype(np.float64)
    asked = np.stack([rounds, np.concatenate([delta, delta])], axis=1)  # (2 n, 2)
    pairs, place = np.unique(asked, axis=0, return_inverse=True)  # each pair is counted once
    lower = np.zeros(len(pairs))
    upper = np.zeros(len(pairs))
    rows = np.flatnonzero(pairs[:, 0] > 0)
    if rows.size > 0:
        some_rounds = pairs[rows, 0].astype(np.int64)
        lower[rows], upper[rows] = law_bounds(laws_on, some_rounds, pairs[rows, 1])
    of_whole, of_begun = place.reshape(2, -1)
    return lower[of_whole], upper[of_begun]


def law_bounds(
    laws_on: LawsOn, rounds: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon after each of (n,) numbers of rounds, at (n,) deltas.

    The numbers do not decrease and are above 0. Errors: RuntimeError if not even the first lattice
    can be made.
    """
    most = most_nodes(rounds.size)
    laws = laws_on(1.0, most)
    lower, upper = _bounds_on(laws, rounds, delta)
    before = inf
    width = _widest(lower, upper)
    for finer in range(1, LATTICES):
        narrow = width <= NARROW_ENOUGH
        hardly_narrower = width > WORTH_ANOTHER * before
        if narrow or hardly_narrower or laws.nodes >= most:
            break
        try:
            laws = laws_on(FINER**finer, most)
            low, high = _bounds_on(laws, rounds, delta)
        except RuntimeError:
            break
        lower = np.maximum(lower, low)
        upper = np.minimum(upper, high)
        before = width
        width = _widest(lower, upper)
    lower, upper, _ = safe_ends(lower, upper, "")
    return lower, upper


def tail_mass(rounds: IntArray, delta: FloatArray) -> float:
    """The mass that the laws of a round may leave out at an end, for so many rounds and deltas."""
    return CUT_OFF * float(delta.min()) / int(rounds[-1])


def most_nodes(pairs: int) -> int:
    """The most nodes of a lattice for so many pairs of rounds and deltas.

    Each pair takes time for each node.
    """
    return min(NODES, WORK // pairs + FEWEST_NODES)


def step_bounds(
    laws_on: Callable[[float, float, int], StepLaws],
    unit: float,
    steps: IntArray,
    delta: FloatArray,
) -> EpsilonBounds:
    """As `law_bounds`, from the laws of a step on a mesh, `unit` at first, without about a tail."""
    tail = tail_mass(steps, delta)

    def round_laws_on(fineness: float, most: int) -> RoundLaws:
        return RoundLaws(laws_on(unit * fineness, tail, most), 0.0)

    lower, upper = law_bounds(round_laws_on, steps, delta)
    return EpsilonBounds(lower, upper)


def _widest(lower: FloatArray, upper: FloatArray) -> float:
    """The widest band relative to its epsilon, at most NO_BAND."""
    widths = (upper - lower) / np.maximum(lower, SMALL)
    return min(float(np.max(widths)), NO_BAND)


def upper_bounds(laws: StepLaws, rounds: IntArray, delta: FloatArray) -> FloatArray:
    """Upper epsilon after each of (n,) numbers of rounds, at (n,) deltas; (n,).

    The numbers do not decrease and are above 0.
    """
    remove = _upper(laws.remove, rounds, delta)
    add = _upper(laws.add, rounds, delta)
    return np.maximum(remove, add)


def _upper(law: LossLaw, rounds: IntArray, delta: FloatArray) -> FloatArray:
    """Upper epsilon in one direction."""
    moments = moments_of(law, rounds, delta)
    return composed_epsilons([law], rounds[:, None], delta, moments, +1)


def _bounds_on(
    given: RoundLaws, rounds: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon from the laws on one lattice.

    The error of the laws is charged to delta for each round.
    """
    error = rounds * given.error
    lower = np.zeros(delta.shape)
    upper = np.full(delta.shape, inf)
    rows = np.flatnonzero(error < MAX_SHARE_OF_DELTA * delta)
    if rows.size == 0:
        return lower, upper
    some_rounds = rounds[rows]
    less = (delta - error)[rows]
    more = np.minimum(delta + error, 1.0)[rows]
    remove = _upper(given.laws.remove, some_rounds, less)
    add = _upper(given.laws.add, some_rounds, less)
    upper[rows] = np.maximum(remove, add)
    # The dominated law is of the remove direction, whose upper end is the ceiling.
    dominated = given.laws.dominated
    moments = moments_of(dominated, some_rounds, more)
    lower[rows] = composed_epsilons([dominated], some_rounds[:, None], more, moments, -1, remove)
    return lower, upper


def moments_of(law: LossLaw, rounds: IntArray, delta: FloatArray) -> LogMoments:
    """The log-moments of one law at the orders that matter."""
    low = law.offset
    high = law.offset + law.mesh * (law.mass.size - 1)
    losses = law.offset + law.mesh * np.arange(law.mass.size)
    deviation = max(weighted_deviation(losses, law.mass), law.mesh)
    orders = orders_between(
        deviation * np.sqrt(rounds[0]),
        deviation * np.sqrt(rounds[-1]),
        max(high - low, law.mesh),
        delta,
    )
    largest = max(abs(low), abs(high)) + 1
    return log_moments_of([law], orders, np.array([largest]))


def weighted_deviation(loss: np.ndarray, mass: np.ndarray) -> float:
    """Standard deviation of (n,) losses with these masses, whose sum need not be 1."""
    weight = mass / mass.sum()
    return sqrt(weight @ (loss - weight @ loss) ** 2)
