"""Random allocation, also called balls in bins: each record joins one batch of an epoch.

The batch is drawn for it alone. An epoch of T steps is the pair P = mean over t of N(e_t, sigma^2
I) and Q = N(0, sigma^2 I), whose likelihood ratio is the mean of T independent lognormal ratios w_t
of mean 1. A mean-preserving spread of each w is a spread of their sum. So a law of w on a grid
gives a dominating law of the epoch, by one power in the Fourier domain, and a contraction gives a
dominated law.

An even grid up to the largest ratios begins too far from 0, and a ratio rounded down to 0 is an
infinite loss in the add direction. For little noise and few steps, the points are even in
logarithms: two laws are added point by point, and each sum is split between the points beside it,
which is a spread again. README.md has the proof.

Source: Feldman, Shenfeld 2026, arXiv 2602.17284, for the sum of lognormals; the bounds are derived
here.
"""

from functools import lru_cache, partial
from math import ceil, exp, log, sqrt
from typing import NamedTuple, final

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore import check
from dpcore.privacy.certified.cells import Beyond, Cells, normal_between
from dpcore.privacy.certified.compose import composed_loss
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds
from dpcore.privacy.certified.lattice import LogMoments, log_moments_of
from dpcore.privacy.certified.step_law import (
    LossLaw,
    StepLaws,
    dominating,
    lowered_beyond_core,
    on_all_points,
    widening,
)
from dpcore.privacy.mechanism import MIN_SIGMA, FloatArray, IntArray, read_only
from dpcore.privacy.sampling.base import (
    WORDS,
    ZERO_OUT,
    Sampler,
    Words,
    epochs_around,
    steps_of_epoch,
)
from dpcore.privacy.sampling.orders import one_epoch, order_bounds
from dpcore.privacy.sampling.round_laws import (
    NODES,
    AtomPair,
    RoundLaws,
    bounds_around,
    laws_of_atoms,
    tail_mass,
)

MAX_EXPONENT = 300.0  # the square of e^300 is still a float
POINTS = 600  # of the first law
MAX_POINTS = 1800
MAX_LOG_GAP = 0.2  # distance of points in logarithms
UNIT = 2.0**-53
UNITS_PER_MASS = 32  # error of one mass, its share and its place, in units
GRID = 0.3  # first grid of w, in standard deviations of w
MESH = 0.15  # first mesh of losses, in standard deviations of an epoch's loss
CORE = 4  # standard deviations of w above 1 beyond which cells of w widen
LOST = 1e-3  # of the mean, if only small ratios matter
FIRST_NODES = 2**16  # of the first grid of w, at most
ORDERS = 24  # of the bounds of the sum's tails, on either side
MAX_EPOCH_STEPS = 10**6  # longer epochs take too long
HORIZONS = 14  # of an allocation that is kept, at most: each is an account of its own
WIDE = 1.01  # upper over lower end above which another law of the sum is tried


def largest(sigma: float, tail: float) -> float:
    """The ratio beyond which the record's own step has `tail` mass.

    Errors: RuntimeError if it overflows.
    """
    exponent = 0.5 / sigma**2 - float(ndtri(tail)) / sigma
    if max(exponent, sigma**-2) > MAX_EXPONENT:
        raise RuntimeError(f"At sigma={sigma:g} one step reveals so much that its ratios overflow.")
    return exp(exponent)


def place_of(sigma: float, w: float) -> float:
    """The place on the line with ratio w."""
    return sigma**2 * log(w) + 0.5


def cells_between(sigma: float, w: FloatArray) -> Cells:
    """Cells between w[0] = 0, w[2], .., halved at w[1], w[3], ..

    Their masses are those under N(0, sigma^2) and N(1, sigma^2).
    """
    with np.errstate(divide="ignore"):
        x = sigma**2 * np.log(w) + 0.5
    mass = np.stack([normal_between(x / sigma), normal_between((x - 1) / sigma)])
    return Cells(w[::2], w[1::2], mass[:, ::2], mass[:, 1::2])


def beyond(sigma: float, end: float) -> Beyond:
    """The mass above a ratio, and the excess of its part of the mean over mass times ratio."""
    x = place_of(sigma, end)
    mass = float(ndtr(-x / sigma))
    part_of_mean = float(ndtr((1 - x) / sigma))
    return Beyond(mass, max(part_of_mean - mass * end, 0.0))


class Splits(NamedTuple):
    """The points beside the sum of any two points, row by row."""

    lower: IntArray  # (N N,) the point below the sum
    share: FloatArray  # (N N,) the share of the next point
    terms: IntArray  # (N,) the number of masses that meet in each point


@lru_cache(maxsize=4)
def sum_of_ratios(
    steps: int, sigma: float, tail: float, fineness: float
) -> tuple[FloatArray, FloatArray, float]:
    """A dominating law of the sum of `steps` ratios.

    It is given as its values (N,), their masses under Q, and the error of these. Values beyond the
    last point move down to it, and the missing part of the mean lies at infinity. Errors:
    RuntimeError if ratios lie too far apart.
    """
    points = _points(steps, sigma, tail, min(int(POINTS / fineness), MAX_POINTS))
    splits = _splits(points)
    one = dominating(cells_between(sigma, _halved(points)))
    one[-1] += beyond(sigma, float(points[-1])).mass
    total = one
    count = 1
    error = steps * _rounded(one, points, splits, steps)
    # From the second binary digit on: each doubles, and a 1 adds one more.
    for bit in bin(steps)[3:]:
        total = _added(total, total, splits)
        count = 2 * count
        error += steps / count * _rounded(total, points, splits, steps)
        if bit == "1":
            total = _added(total, one, splits)
            count = count + 1
            error += steps / count * _rounded(total, points, splits, steps)
    return points, read_only(total), error


def _points(steps: int, sigma: float, tail: float, count: int) -> FloatArray:
    """The point 0, and points from below the smallest ratio that counts to the sum's largest.

    Errors: RuntimeError.
    """
    first = -0.5 / sigma**2 + float(ndtri(tail)) / sigma
    last = log(largest(sigma, tail)) + log(steps)
    if last - first > MAX_LOG_GAP * count:
        raise RuntimeError(
            f"At sigma={sigma:g} one step reveals so much that its ratios are too far apart to add."
        )
    positive = np.exp(np.linspace(first, last, count))
    return read_only(np.concatenate([[0.0], positive]))


def _splits(points: FloatArray) -> Splits:
    size = points.size
    total = np.minimum(points[:, None] + points, points[-1]).ravel()  # (N N,)
    lower = np.clip(np.searchsorted(points, total, side="right") - 1, 0, size - 2)
    share = (total - points[lower]) / (points[lower + 1] - points[lower])
    terms = np.bincount(lower, minlength=size) + np.bincount(lower + 1, minlength=size)
    return Splits(lower, np.clip(share, 0.0, 1.0), terms)


def _rounded(mass: FloatArray, points: FloatArray, splits: Splits, steps: int) -> float:
    """A bound of the effect of rounding on a divergence, if this law is one of the summands."""
    return UNIT * float((splits.terms + UNITS_PER_MASS) @ (mass * (1 + points / steps)))


def _added(first: FloatArray, second: FloatArray, splits: Splits) -> FloatArray:
    """The law of the sum of two."""
    both = np.outer(first, second).ravel()  # (N N,)
    up = both * splits.share
    size = first.size
    lower = np.bincount(splits.lower, both - up, size)
    upper = np.bincount(splits.lower + 1, up, size)
    return np.asarray(lower + upper, dtype=np.float64)


class Ratio(NamedTuple):
    """The law of one ratio w under Q; the rest of its mean 1 lies at infinity."""

    first: float
    grid: float
    mass: FloatArray  # (K,) at first, first + grid, ..


class Atoms(NamedTuple):
    """The law of the mean t of T ratios under P (with the record) or Q, and its error."""

    t: FloatArray  # (N,) increasing; rounding may have left some below 0
    mass: FloatArray  # (N,)
    infinite: float  # mass under P that Q never shows
    error: float  # of any divergence
    record: bool


def allocation_laws(
    steps: int,
    sigma: float,
    tail: float,
    fineness: float,
    most: int = NODES,
    *,
    few: bool = False,
) -> RoundLaws:
    """The laws of an epoch of `steps` steps on about `most` nodes at most.

    They leave out about `tail` mass at either end. `few` adds up few ratios on points that are even
    in logarithms, in both directions: over many epochs with little noise, ratios of middle size
    matter most. Errors: RuntimeError if the grid would be too long.
    """
    if steps > MAX_EPOCH_STEPS:
        raise RuntimeError(
            f"An epoch of {steps:,} steps is too long: at most {MAX_EPOCH_STEPS:,} can be counted."
        )
    end = largest(sigma, LOST * fineness)
    deviation = sqrt(np.expm1(sigma**-2))
    grid = GRID * fineness * deviation
    ratios = FIRST_NODES / fineness
    wide = max(grid, largest(sigma, tail) / ratios)
    if few:
        remove = _of_few(steps, sigma, tail, fineness, record=True)
    else:
        remove = _mean_of(spread(sigma, wide, tail), steps, record=True)
    # Without the record small ratios matter: hardly any may be 0, and the largest carry little of
    # the mean.
    least = 0.5 * exp(-0.5 / sigma**2 + float(ndtri(tail ** (1 / steps))) / sigma)
    narrow = max(min(grid, least), end / ratios)
    too_coarse = narrow > least  # a grid up to the largest ratios, for the smallest ones
    if few or too_coarse:
        add = _of_few(steps, sigma, tail, fineness, record=False)
    else:
        add = _mean_of(spread(sigma, narrow, LOST * fineness), steps, record=False)
    lower = contracted_mean(steps, sigma, wide, tail)
    mesh = MESH * fineness * _deviation(remove)
    found = [_on_losses(each, mesh, tail, most) for each in (remove, add, lower)]
    laws = StepLaws(found[0].laws.remove, found[1].laws.add, found[2].laws.dominated)
    return RoundLaws(laws, max(each.error for each in found))


def spread(sigma: float, grid: float, tail: float) -> Ratio:
    """A dominating law of w on 0, grid, 2 grid, ..: every cell is split between its ends."""
    nodes = _nodes(sigma, grid, tail)
    cells = cells_between(sigma, grid * _halved(nodes))
    mass = dominating(cells)
    mass[-1] += beyond(sigma, float(cells.w[-1])).mass
    return Ratio(0.0, grid, on_all_points(mass, nodes))


def contracted(sigma: float, grid: float, tail: float) -> Ratio:
    """A dominated law of w, on a grid that begins at the mean of everything below half a cell."""
    cut = 0.5 * grid
    place = place_of(sigma, cut) / sigma
    core = float(ndtr(place))  # the mass below the cut
    part_of_mean = float(ndtr(place - 1 / sigma))
    first = 0.5 * cut
    if core > 0:
        first = part_of_mean / core
    nodes = _nodes(sigma, grid, tail)
    halved = first + grid * _halved(nodes)[2:]
    cells = cells_between(sigma, np.concatenate([[cut, 0.5 * (cut + halved[0])], halved]))
    lower = lowered_beyond_core(cells, first, core, beyond(sigma, float(cells.w[-1])))
    lower[0] += max(1 - float(lower.sum()), 0.0)
    return Ratio(first, grid, on_all_points(lower, nodes))


def _nodes(sigma: float, grid: float, tail: float) -> IntArray:
    """The nodes of a grid, up to the ratio beyond which the record's own step has `tail` mass.

    The last are far apart.
    """
    deviation = sqrt(np.expm1(sigma**-2))
    core = int((1 + CORE * deviation) / grid) + 1
    last = ceil(largest(sigma, tail) / grid) + 2
    return widening(last, core)


def _halved(nodes: IntArray | FloatArray) -> FloatArray:
    """The nodes and their midpoints."""
    return np.interp(np.arange(2 * nodes.size - 1) / 2, np.arange(nodes.size), nodes)


def contracted_mean(steps: int, sigma: float, grid: float, tail: float) -> Atoms:
    """A dominated law of the mean of `steps` ratios under P.

    What a contracted ratio lacks of its mean 1 counts nowhere: at infinity only a spread may keep
    it.
    """
    return _mean_of(contracted(sigma, grid, tail), steps, record=True)._replace(infinite=0.0)


def _mean_of(ratio: Ratio, steps: int, record: bool) -> Atoms:
    """The law of the mean of the ratios under P, which has the record, or under Q.

    Under P one of the ratios is drawn in proportion to its size.
    """
    nodes = np.arange(ratio.mass.size, dtype=np.float64)
    places = ratio.first + ratio.grid * nodes  # (K,)
    own_mass = ratio.mass * places
    live = np.flatnonzero(ratio.mass)
    if live.size == 1:  # all ratios are one number, and so is their mean
        mass = own_mass if record else ratio.mass
        return Atoms(places[live], mass[live], 0.0, 0.0, record)
    without = LossLaw(ratio.first, ratio.grid, ratio.mass, 0.0)
    if record:
        own = LossLaw(ratio.first, ratio.grid, own_mass, max(1 - float(own_mass.sum()), 0.0))
        losses = [without, own]
        counts = np.array([steps - 1, 1])
    else:
        losses = [without]
        counts = np.array([steps])
    composed = composed_loss(losses, counts, np.ones(len(losses)), _moments(losses, steps))
    # Whole, so that places are hardly rounded.
    begin = round((composed.start - steps * ratio.first) / ratio.grid)
    t = ratio.first + (begin + np.arange(composed.mass.size)) * ratio.grid / steps
    infinite = composed.infinite if record else 0.0
    return Atoms(t, composed.mass, infinite, composed.error, record)


def _of_few(steps: int, sigma: float, tail: float, fineness: float, record: bool) -> Atoms:
    """The law of the mean of the ratios, by `sum_of_ratios`, under P or Q."""
    total, mass, error = sum_of_ratios(steps, sigma, tail, fineness)
    t = total / steps
    if not record:
        return Atoms(t, mass, 0.0, error, record)
    own_mass = mass * t
    infinite = max(1 - float(own_mass.sum()), 0.0)
    return Atoms(t, own_mass, infinite, error, record)


def _moments(losses: list[LossLaw], steps: int) -> LogMoments:
    """Log-moments of the ratios, at orders for the tails of their sum."""
    without = losses[0]
    places = without.offset + without.mesh * np.arange(without.mass.size)
    last = places[-1]
    deviation = sqrt(steps * (without.mass @ (places - 1) ** 2))
    nearest = min(0.01 / deviation, 1 / last)
    farthest = 100 / min(deviation, float(last))
    positive = np.geomspace(nearest, farthest, ORDERS)
    orders = np.concatenate([-positive[::-1], [0.0], positive])
    return log_moments_of(losses, orders, np.full(len(losses), last))


def _deviation(atoms: Atoms) -> float:
    """About the standard deviation of an epoch's loss."""
    live = (atoms.t > 0) & (atoms.mass > 0)
    loss = np.log(atoms.t[live])
    mass = atoms.mass[live]
    return sqrt(mass @ (loss - mass @ loss) ** 2)


def _on_losses(atoms: Atoms, mesh: float, tail: float, most: int) -> RoundLaws:
    """The laws of an epoch on a lattice of losses, from the masses of its mean ratios."""
    live = atoms.t > 0
    t = atoms.t[live]
    mass = atoms.mass[live]
    if atoms.record:
        pair = AtomPair(np.log(t), denominator=mass / t, numerator=mass)
    else:
        pair = AtomPair(np.log(t), denominator=mass, numerator=mass * t)
    laws, error = laws_of_atoms(pair, mesh, tail, atoms.infinite, add=not atoms.record, most=most)
    return RoundLaws(laws, atoms.error + error)


def allocation_bounds(
    length: int, sigma: float, whole: IntArray, begun: IntArray, delta: FloatArray
) -> EpsilonBounds:
    """Lower epsilon after (n,) whole epochs, and upper epsilon after (n,) begun ones.

    Each has `length` steps.
    """
    known_order = order_bounds(sigma, begun, delta)  # its upper end holds here, too
    if length == 1:
        return known_order
    deltas, place = np.unique(delta, return_inverse=True)
    after_one = one_epoch(length, sigma, deltas, own=1.0)[place]
    lower = np.where(whole > 0, after_one, 0.0)
    tail = tail_mass(begun, delta)
    laws_on = partial(allocation_laws, length, sigma, tail)
    try:
        low, upper = bounds_around(laws_on, whole, begun, delta)
        lower = np.maximum(lower, low)
        complete = whole == begun
        wide = np.any(upper[complete] > WIDE * lower[complete])
        if int(begun[-1]) > 1 and wide:
            low, high = bounds_around(partial(laws_on, few=True), whole, begun, delta)
            lower = np.maximum(lower, low)
            upper = np.minimum(upper, high)
    except RuntimeError as error:
        note = f"{error} The upper end is that of a fixed order."
        return EpsilonBounds(lower, known_order.upper, note)
    return EpsilonBounds(lower, np.minimum(upper, known_order.upper))


def drawn_as_a_whole(chosen: int, steps: int) -> tuple[float, int]:
    """The q and the steps of the allocation whose upper bound holds for steps drawn as a whole.

    A record is in `chosen` of `steps` steps, and all sets of so many are alike. Blocks are of equal
    size, the shorter one where `chosen` does not divide `steps`. Source: README.md, Theorem 14.
    Errors: ValueError.

    >>> drawn_as_a_whole(3, 12), drawn_as_a_whole(5, 12)
    ((0.25, 12), (0.5, 10))
    """
    check.whole(1, MAX_EPOCH_STEPS, steps=steps)
    check.whole(1, steps, chosen=chosen)
    length = steps // chosen
    return 1 / length, chosen * length


def allocated(n: int, q: float, words: Words) -> IntArray:
    """The step of each of n records, 0 ... T - 1, uniform and independent of all others; (n,).

    It is a word modulo T. Words above the largest multiple of T are drawn again, for equal chances.
    """
    length = steps_of_epoch(q)
    limit = WORDS - WORDS % length
    found = words(n).copy()
    beyond = np.flatnonzero(found >= limit)
    while beyond.size > 0:
        found[beyond] = words(beyond.size)
        beyond = np.flatnonzero(found >= limit)
    return found % length


@final
class RandomAllocation(Sampler):
    """Every record joins one of the T batches of an epoch, independently of all others.

    >>> curve = RandomAllocation().curve(0.01, 1.0, 100, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([0.62]), array([0.62]))
    """

    name = "random_allocation"
    title = "Random allocation"
    source = (
        "Feldman, Shenfeld 2026, arXiv 2602.17284, Theorem 4.6; certified here:"
        " dpcore/privacy/sampling/README.md"
    )
    phrase = "batches by random allocation"
    note = (
        "Each record joins one batch of every epoch, drawn for it alone. As after a shuffle, each"
        " record is seen once an epoch; unlike after a shuffle, batches vary in size and the other"
        " records reveal nothing. The cost is known closely, and is often no more than that of"
        " Poisson batches. A record in k of T steps, one in each of k equal blocks, is k epochs at"
        " q = k/T. The upper end of k epochs of floor(T/k) steps also holds for k of T drawn as a"
        " whole."
    )
    spellings = r"\brandom allocation\b|\bballs (?:in|and) bins\b"
    draw = staticmethod(allocated)
    adjacency = ZERO_OUT
    by_epoch = True
    slow = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        whole, begun = epochs_around(q, steps)
        return allocation_bounds(steps_of_epoch(q), sigma, whole, begun, delta)


@final
class RandomAllocationOnce(Sampler):
    """Every record joins one of T batches once, and is in that batch of every epoch.

    >>> curve = RandomAllocationOnce().curve(0.01, 4.0, 1000, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([0.34]), array([0.34]))
    """

    name = "random_allocation_once"
    title = "Allocated once"
    source = (
        "Chua et al. 2024, arXiv 2412.16802, for one epoch; all epochs by one with less noise:"
        " dpcore/privacy/sampling/README.md, Theorem 13"
    )
    phrase = "batches allocated once"
    note = (
        "Each record joins one batch, drawn for it alone, and every epoch takes the same batches."
        " An attacker may add up all epochs, so E epochs cost exactly what one costs with noise"
        " sigma/sqrt(E). That is more than with new batches for every epoch, and often far less"
        " than in an order that is known."
    )
    adjacency = ZERO_OUT
    by_epoch = True
    slow = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        whole, begun = epochs_around(q, steps)
        known = _known_epochs(whole, begun, sigma)
        # Between two numbers of epochs that are known, either is a bound.
        before = np.searchsorted(known, whole, side="right") - 1  # (n,)
        after = np.searchsorted(known, begun)
        lower = np.zeros(steps.shape)
        upper = order_bounds(sigma, begun, delta).upper
        note = ""
        for place, epochs in enumerate(known):
            rows = np.flatnonzero((before == place) | (after == place))
            less_noise = sigma / sqrt(epochs)
            one = np.ones(rows.shape, dtype=np.int64)
            found = allocation_bounds(steps_of_epoch(q), less_noise, one, one, delta[rows])
            least = np.minimum(found.upper, upper[rows])
            lower[rows] = np.where(before[rows] == place, found.lower, lower[rows])
            upper[rows] = np.where(after[rows] == place, least, upper[rows])
            note = found.note
        return EpsilonBounds(lower, upper, note)


def _known_epochs(whole: IntArray, begun: IntArray, sigma: float) -> IntArray:
    """The numbers of epochs to count, increasing, at most HORIZONS."""
    known = np.unique(np.concatenate([whole[whole > 0], begun]))
    known = known[known <= (sigma / MIN_SIGMA) ** 2]  # else the noise is below MIN_SIGMA
    if known.size <= HORIZONS:
        return known
    kept = np.geomspace(1, known.size, HORIZONS).round().astype(np.int64) - 1
    return known[np.unique(kept)]
