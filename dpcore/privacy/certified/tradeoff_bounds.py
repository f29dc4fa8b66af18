"""The certified trade-off function of composed sampled Gaussians, between proven curves below and
above.
"""

from dataclasses import dataclass

import numpy as np

from dpcore.privacy.certified.compose import composed_loss
from dpcore.privacy.certified.gaussian_bounds import gaussian_tradeoffs, unsampled
from dpcore.privacy.certified.lattice import (
    SMALLEST_SIGMA,
    Composition,
    composed_deviation,
    composition_of,
    full_mesh,
    lattice_of,
    merged,
    widest_span,
)
from dpcore.privacy.ends import CROSSED, CROSSING
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.tradeoff import Pairs, Points, Tradeoff

# Of the pairs that matter here; `epsilon_bounds` keeps full precision below.
MIN_DELTA = np.array([1e-9])
LINES = 200  # nodes kept of each lattice: tangents below f, tests above it
NARROW = 4e-4  # aim: widest gap between the curves
CHECKED = np.concatenate([np.geomspace(1e-7, 0.02, 24), np.linspace(0.025, 0.5, 20)])
# Measured for many equal steps: gap over mu (mesh / standard deviation of one step's loss)^2.
GAP = 0.056
LARGE_MU = 5.0  # from this mu on the curves are close at any mesh
WIDEST = 0.17  # first mesh at most, in standard deviations of one step's loss
FIRST_NODES_OF_TRADEOFF = 2**12  # nodes of one step on the first lattice, at most
ROUNDS = 4
SHRUNK = 0.7  # of the previous gap: if merged levels leave more, the mesh is not the reason


@dataclass(frozen=True)
class Band:
    """Two trade-off functions with the exact one between them; two that cross are not kept.

    >>> from dpcore.privacy.tradeoff import Gaussian
    >>> crossing = Band(Gaussian(1.0), Gaussian(2.0))
    >>> crossing.empty, float(crossing.lower.power(0.1)), float(crossing.upper.power(0.1))
    (True, 1.0, 0.1)
    """

    lower: Tradeoff
    upper: Tradeoff
    note: str = ""  # the reason for a wide band, or empty
    empty: bool = False  # true if nothing is certified and the functions are trivial

    def __post_init__(self) -> None:
        least = self.upper.power(CHECKED)
        most = self.lower.power(CHECKED)
        if np.all(least <= most * (1 + CROSSED)):
            return
        object.__setattr__(self, "lower", Pairs([], []))
        object.__setattr__(self, "upper", Points([], []))
        object.__setattr__(self, "note", CROSSING)
        object.__setattr__(self, "empty", True)


def tradeoff_bounds(mechanism: Mechanism) -> Band:
    """The band of the whole mechanism, under add/remove adjacency, symmetric.

    The pairs of the dominating law hold for the mechanism and give the curve below. An attacker on
    the mechanism does at least as well as tests on the dominated law, which give the curve above.
    Source: arXiv 1905.02383, Proposition 2.12 for duality, section 4 for min{f, its inverse}**;
    README.md is the proof. Edge cases: at q = 1 both curves are G_mu, rounded outwards; else sigma
    below 0.05 gives trivial curves and a note.

    >>> band = tradeoff_bounds(Mechanism.constant(q=1.0, sigma=2.0, steps=4))  # exactly G_1
    >>> float(band.lower.beta(0.05).round(3)), float(band.upper.beta(0.05).round(3))
    (0.74, 0.74)
    """
    if unsampled(mechanism):
        return Band(*gaussian_tradeoffs(mechanism))
    smallest = min(release.sigma for release in mechanism.releases)
    if smallest < SMALLEST_SIGMA:
        return _nothing(
            f"sigma={smallest:g} is below {SMALLEST_SIGMA:g}, where one step already tells all."
        )
    composition = composition_of(mechanism, np.array([mechanism.steps]))
    above = merged(composition, dominating=True)
    below = merged(composition, dominating=False)
    whole = composed_deviation(above, 0)  # about mu
    first = min(WIDEST, np.sqrt(0.8 * NARROW / (GAP * min(whole, LARGE_MU))))
    mesh = max(
        first * whole / np.sqrt(above.counts[0].sum()),
        widest_span(above, MIN_DELTA) / FIRST_NODES_OF_TRADEOFF,
    )
    finest = full_mesh(above, MIN_DELTA)
    band = None
    before = np.inf
    for _ in range(ROUNDS):
        try:
            band = _bounds_on(above, below, mesh)
        except RuntimeError:
            if band is not None:
                break
            mesh = 2 * mesh
            continue
        gap = float(np.max(band.lower.power(CHECKED) - band.upper.power(CHECKED)))
        # A finer mesh would not close that gap.
        merging = below is not above and gap > SHRUNK * before
        if gap <= NARROW or mesh <= finest or merging:
            break
        before = gap
        mesh = max(mesh * np.clip(0.78 * np.sqrt(NARROW / gap), 0.1, 0.7), finest)
    return band or _nothing("the lattice would be too long.")


def _nothing(note: str) -> Band:
    return Band(Pairs([], []), Points([], []), note, empty=True)


def _bounds_on(above: Composition, below: Composition, mesh: float) -> Band:
    """The band on one mesh."""
    lattice = lattice_of(above, MIN_DELTA, mesh)
    other = lattice if below is above else lattice_of(below, MIN_DELTA, mesh)
    q, q_below = (np.array([q for q, _ in composition.kinds]) for composition in (above, below))
    remove = composed_loss(
        [each.remove for each in lattice.laws], above.counts[0], q, lattice.remove
    )
    add = composed_loss([each.add for each in lattice.laws], above.counts[0], q, lattice.add)
    lower = composed_loss(
        [each.dominated for each in other.laws], below.counts[0], q_below, other.dominated
    )
    epsilon, delta = _thinned(*remove.pairs())
    pairs = Pairs(epsilon, np.maximum(delta, _one_way(epsilon, *add.pairs())))
    alpha, power = lower.tests()
    return Band(pairs, Points(*_thinned(alpha[::-1], power[::-1])))


def _one_way(epsilon: FloatArray, known: FloatArray, delta: FloatArray) -> FloatArray:
    """Delta of one direction at (n,) epsilons: convex in e^epsilon, it lies on or below the chords
    between its pairs.

    `Pairs` assumes symmetry, which one direction alone lacks.
    """
    inside = np.minimum(epsilon, known[-1])
    after = np.clip(np.searchsorted(known, inside), 1, known.size - 1)
    low = known[after - 1]
    high = known[after]
    # Of two pairs at one epsilon the second is tighter.
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.exp(inside - high) * np.expm1(low - inside) / np.expm1(low - high)
    share = np.where(high > low, share, 1.0)
    between = delta[after - 1] + share * (delta[after] - delta[after - 1])
    return np.where(epsilon < known[0], 1.0, between)


def _thinned(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Select a few of many nodes: evenly spaced ones, and those at evenly spaced values of y."""
    even = np.linspace(0, x.size - 1, LINES).astype(int)
    levels = np.linspace(float(y.min()), float(y.max()), LINES)
    rising = y if y[-1] >= y[0] else y[::-1]
    at_levels = np.minimum(np.searchsorted(rising, levels), x.size - 1)
    kept = np.unique(np.concatenate([even, at_levels if rising is y else x.size - 1 - at_levels]))
    return x[kept], y[kept]
