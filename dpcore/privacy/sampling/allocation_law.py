"""The law of an epoch of random allocation: every record takes part in one step of T, drawn for it alone.

One epoch is the pair P = mean over t of N(e_t, sigma^2 I) and Q = N(0, sigma^2 I) on T steps, whose likelihood ratio is
the mean of T independent lognormal ratios w_t of mean 1. A spread of each w that keeps its mean is a spread of their
sum, so that a law of w on a grid gives one of the epoch that dominates it, by one power in the Fourier domain; a
contraction gives one that is dominated. README.md is the proof.

Source: Feldman, Shenfeld 2026, arXiv 2602.17284, for the sum of lognormals; the bounds are derived here.
"""

from math import exp
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.privacy.certified.composed_loss import composed_loss
from dpcore.privacy.certified.lattice import log_moments_of
from dpcore.privacy.certified.log_moments import LogMoments
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.lower_law import Gaps, dominated, needed
from dpcore.privacy.certified.step_law import StepLaws, dominating, on_all_points, widening
from dpcore.privacy.sampling.atoms import AtomPair, laws_of_atoms
from dpcore.privacy.sampling.few_ratios import sum_of_ratios
from dpcore.privacy.sampling.one_ratio import beyond, cells_between, largest, place_of
from dpcore.privacy.sampling.round_laws import RoundLaws
from dpcore.privacy.types import FloatArray, IntArray

GRID = 0.3  # first grid of w, in standard deviations of w
MESH = 0.15  # first mesh of losses, in standard deviations of an epoch's loss
CORE = 4  # standard deviations of w above 1 beyond which cells of w widen
LOST = 1e-3  # of the mean, where only small ratios matter
FIRST_NODES = 2**16  # of the first grid of w, at most
ORDERS = 24  # on either side: of the bounds of the sum's tails
LONGEST = 10**6  # steps of an epoch: more take longer than anybody waits


class Ratio(NamedTuple):
    """The law of one ratio w under Q: masses at first, first + grid, ..; what its mean lacks of 1 lies at infinity."""

    first: float
    grid: float
    mass: FloatArray  # (K,)


class Atoms(NamedTuple):
    """The mean t of T ratios: its values, with their masses under P (with the record) or Q, and their errors."""

    t: FloatArray  # (N,) increasing; rounding may have left some below 0
    mass: FloatArray  # (N,)
    infinite: float  # mass under P that Q never shows
    error: float  # of any divergence
    record: bool


def allocation_laws(steps: int, sigma: float, tail: float, fineness: float, *, few: bool = False) -> RoundLaws:
    """The laws of an epoch of so many steps, with about `tail` mass cut off at an end.

    `few` adds up few ratios on points that lie evenly in logarithms, in both directions: over many epochs with little
    noise ratios of middle size matter most.
    Errors: RuntimeError where the grid would be too long.
    """
    if steps > LONGEST:
        raise RuntimeError(f"An epoch of {steps:,} steps is too long: {LONGEST:,} are counted at most.")
    end = largest(sigma, LOST * fineness)
    deviation = float(np.sqrt(np.expm1(sigma**-2)))
    grid = GRID * fineness * deviation
    most = FIRST_NODES / fineness
    wide = max(grid, largest(sigma, tail) / most)
    # Without the record small ratios matter: hardly any may be 0, and the largest only carry a little of the mean.
    least = 0.5 * exp(-0.5 / sigma**2 + float(ndtri(tail ** (1 / steps))) / sigma)
    narrow = max(min(grid, least), end / most)
    if few:
        remove = _of_few(steps, sigma, tail, fineness, record=True)
    else:
        remove = _mean_of(spread(sigma, wide, tail), steps, record=True)
    if few or narrow > least:  # a grid that reaches the largest ratios would be too wide for the smallest
        add = _of_few(steps, sigma, tail, fineness, record=False)
    else:
        add = _mean_of(spread(sigma, narrow, LOST * fineness), steps, record=False)
    lower = _mean_of(contracted(sigma, wide, tail), steps, record=True)
    mesh = MESH * fineness * _deviation(remove)
    both = [_on_losses(atoms, mesh, tail) for atoms in (remove, add, lower)]
    laws = StepLaws(both[0].laws.remove, both[1].laws.add, both[2].laws.dominated)
    return RoundLaws(laws, max(each.error for each in both))


def spread(sigma: float, grid: float, tail: float) -> Ratio:
    """A law of w on 0, grid, 2 grid, .. that dominates it: every cell is split between its ends."""
    nodes = _nodes(sigma, grid, tail)
    cells = cells_between(sigma, grid * _halved(nodes))
    mass = dominating(cells)
    mass[-1] += beyond(sigma, float(cells.w[-1])).mass
    return Ratio(0.0, grid, on_all_points(mass, nodes))


def contracted(sigma: float, grid: float, tail: float) -> Ratio:
    """A law of w that is dominated by it, on a grid that begins at the mean of all that lies below half a cell."""
    cut = 0.5 * grid
    place = place_of(sigma, cut) / sigma
    core, share = float(ndtr(place)), float(ndtr(place - 1 / sigma))
    first = share / core if core > 0 else 0.5 * cut
    nodes = _nodes(sigma, grid, tail)
    halved = first + grid * _halved(nodes)[2:]
    cells = cells_between(sigma, np.concatenate([[cut, 0.5 * (cut + halved[0])], halved]))
    cells.w[0] = first
    mass, error = dominating(cells), cells.chord_error()
    error[0] = (
        mass[0] * cells.width[0]
    )  # the curve touches the first node, so its slope there must not exceed the truth
    lowering = needed(error)
    lowering[0] = 0.0
    above = beyond(sigma, float(cells.w[-1]))
    mass[0] += core
    mass[-1] += above.mass
    lower = dominated(cells.w, mass, lowering, Gaps(0.0, 0.0, above.excess))
    lower[0] += max(1 - float(lower.sum()), 0.0)
    return Ratio(first, grid, on_all_points(lower, nodes))


def _nodes(sigma: float, grid: float, tail: float) -> IntArray:
    """Which points of a grid are nodes: up to where the record's own step has `tail` mass, the last ones far apart."""
    core = int((1 + CORE * float(np.sqrt(np.expm1(sigma**-2)))) / grid) + 1
    return widening(int(np.ceil(largest(sigma, tail) / grid)) + 2, core)


def _halved(nodes: IntArray) -> FloatArray:
    """The nodes, and the middles between them."""
    return np.interp(np.arange(2 * nodes.size - 1) / 2, np.arange(nodes.size), nodes)


def _mean_of(ratio: Ratio, steps: int, record: bool) -> Atoms:
    """The law of the mean of the ratios: under P, where one of them is drawn by its own size, or under Q."""
    own_mass = ratio.mass * (ratio.first + ratio.grid * np.arange(ratio.mass.size))
    without = LossLaw(ratio.first, ratio.grid, ratio.mass, 0.0)
    own = LossLaw(ratio.first, ratio.grid, own_mass, max(1 - float(own_mass.sum()), 0.0))
    losses, counts = ([without, own], [steps - 1, 1]) if record else ([without], [steps])
    composed = composed_loss(losses, np.array(counts), np.ones(len(losses)), _moments(losses, steps))
    begin = round((composed.start - steps * ratio.first) / ratio.grid)  # whole, so that places are hardly rounded
    t = ratio.first + (begin + np.arange(composed.mass.size)) * ratio.grid / steps
    return Atoms(t, composed.mass, composed.infinite if record else 0.0, composed.error, record)


def _of_few(steps: int, sigma: float, tail: float, fineness: float, record: bool) -> Atoms:
    """The same of a law of w that dominates it, on points that lie evenly in logarithms."""
    total, mass, error = sum_of_ratios(steps, sigma, tail, fineness)
    t = total / steps
    shown = mass * t if record else mass
    return Atoms(t, shown, max(1 - float(shown.sum()), 0.0) if record else 0.0, error, record)


def _moments(losses: list[LossLaw], steps: int) -> LogMoments:
    """Log-moments of the ratios at orders that bound the tails of their sum."""
    mass, grid = losses[0].mass, losses[0].mesh
    places = losses[0].offset + grid * np.arange(mass.size)
    deviation = float(np.sqrt(steps * (mass @ (places - 1) ** 2)))
    farthest = 100 / min(deviation, float(places[-1]))
    orders = np.geomspace(min(0.01 / deviation, 1 / places[-1]), farthest, ORDERS)
    return log_moments_of(losses, np.concatenate([-orders[::-1], [0.0], orders]), np.full(len(losses), places[-1]))


def _deviation(atoms: Atoms) -> float:
    """About the standard deviation of an epoch's loss."""
    live = (atoms.t > 0) & (atoms.mass > 0)
    loss, mass = np.log(atoms.t[live]), atoms.mass[live]
    return float(np.sqrt(mass @ (loss - mass @ loss) ** 2))


def _on_losses(atoms: Atoms, mesh: float, tail: float) -> RoundLaws:
    """The laws of an epoch on a lattice of losses, from the masses of its mean ratios."""
    live = atoms.t > 0
    t, mass = atoms.t[live], atoms.mass[live]
    pair = AtomPair(np.log(t), mass / t, mass) if atoms.record else AtomPair(np.log(t), mass, mass * t)
    laws = laws_of_atoms(pair, mesh, tail, atoms.infinite, add=not atoms.record)
    return RoundLaws(laws.laws, atoms.error + laws.error)
