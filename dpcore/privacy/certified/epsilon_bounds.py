"""Proven bounds of epsilon at each horizon, which the certified accountant reports.

Steps without sampling have a closed form. Otherwise each kind of step gets a dominating and a
dominated law on one lattice. These are composed, and delta is solved for epsilon: once for each
direction of the dominating law, and once for the dominated law. If the bounds lie too far apart, a
finer lattice follows. Where no lattice gives a lower bound, it comes from one bit of each step.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from dpcore.privacy.certified.bit_bounds import bit_epsilons
from dpcore.privacy.certified.compose import Work, composed_epsilons
from dpcore.privacy.certified.gaussian_bounds import gaussian_epsilons, unsampled
from dpcore.privacy.certified.lattice import (
    SMALLEST_SIGMA,
    START,
    Composition,
    Lattice,
    composed_deviation,
    composition_of,
    full_mesh,
    lattice_of,
    merged,
    widest_span,
)
from dpcore.privacy.ends import CROSSED as CROSSED
from dpcore.privacy.ends import safe_ends
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism

WANTED = 2.5e-3  # aim: predicted width of the band over epsilon
NEGLIGIBLE = 1e-4  # of the longest horizon's epsilon: so narrow a band is narrow enough anywhere
WIDE = 1e-2  # of epsilon: a wider band gets a finer mesh, and a note if it stays so wide
WORTH_REFINING = 1e-2  # a smaller epsilon gets no finer mesh
WORTH_TELLING = 1e-4  # a smaller epsilon gets no note
# Epsilon above which a lower bound of 0 is replaced by that of one bit of each step.
WORTH_A_BIT = 1.0
MOST_ROWS = 500  # of a long curve, about, that get such a bound of their own
# Of the previous width: if more remains, the mesh is not the reason for a wide band.
WORTH_ANOTHER = 0.8
SEEN_ROWS = 12  # of a profile, about, whose periods are looked at
# Values of a transform in one call, some seconds: no closer bounds are looked for beyond.
MOST_WORK = 2**27
TOO_FAR = 100.0  # ratio to the lower bound from which the note gives no number
FIRST_NODES_OF_EPSILON = 2**14  # nodes of one step on the first lattice, at most


class EpsilonBounds(NamedTuple):
    """Lower and upper bounds of epsilon; `note` says why there are no closer ones, or is ""."""

    lower: FloatArray  # (n,)
    upper: FloatArray  # (n,) +inf where nothing is promised
    note: str = ""


def epsilon_bounds(mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
    """Bounds of epsilon at (n,) horizons, which do not decrease, and (n,) deltas."""
    if unsampled(mechanism):
        lower, upper = gaussian_epsilons(mechanism, steps, delta)
        note = ""
    else:
        lower, upper, note = _sampled_bounds(mechanism, steps, delta)
    return EpsilonBounds(*safe_ends(*_monotone(lower, upper, delta), note))


def _sampled_bounds(
    mechanism: Mechanism, steps: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray, str]:
    """Lower and upper epsilon at (n,) horizons and deltas, and the reason where there is none."""
    lower = np.zeros(steps.shape)
    upper = np.where(steps > 0, inf, 0.0)
    note = ""
    rows = np.flatnonzero(steps > 0)
    smallest = min(release.sigma for release in mechanism.releases)
    if smallest < SMALLEST_SIGMA:
        note = f"sigma={smallest:g} is below {SMALLEST_SIGMA:g}, where one step already tells all."
    elif rows.size:
        composition = composition_of(mechanism, steps[rows])
        try:
            lower[rows], upper[rows], note = _refined(composition, delta[rows])
        except RuntimeError as error:
            note = str(error)
    rows = np.flatnonzero((lower == 0) & (upper > WORTH_A_BIT))
    # Of many, some and the last: later horizons cost no less.
    rows = rows[:: -max(1, rows.size // MOST_ROWS)]
    lower[rows] = bit_epsilons(mechanism, steps[rows], delta[rows])
    return lower, upper, note


def width_note(lower: FloatArray, upper: FloatArray) -> str:
    """The warning about bounds at the last horizon that lie far apart, or ""."""
    if np.isinf(upper).any():
        return "rounding outweighs the rest of delta."
    apart = (upper - lower) / np.maximum(lower, WORTH_TELLING)
    if np.max(apart) <= WIDE:
        return ""
    percent = 100 * float(np.max(apart))
    told = f"{percent:.2g}" if percent < 99 else f"{percent:,.0f}"
    width = f"{told} % of the lower one" if np.min(lower) > 0 and percent < 100 * TOO_FAR else "far"
    return f"The two bounds lie {width} apart: the exact epsilon may be anywhere between them."


def _monotone(
    lower: FloatArray, upper: FloatArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """At one delta more steps never cost less, so each bound also holds at the horizons after or
    before it.
    """
    if np.ptp(delta) > 0:
        return lower, upper
    return np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]


def _refined(composition: Composition, delta: FloatArray) -> tuple[FloatArray, FloatArray, str]:
    """The best bounds on finer and finer lattices, until they are close or the lattice is full; and
    their note.
    """
    above = merged(composition, dominating=True)
    below = merged(composition, dominating=False)
    lower = np.zeros(delta.shape)
    upper = np.full(delta.shape, inf)
    mesh = max(
        START * composed_deviation(above, -1) / np.sqrt(above.counts[-1].sum()),
        widest_span(above, delta) / FIRST_NODES_OF_EPSILON,
    )
    width = np.full(delta.shape, inf)
    measured = inf
    work = Work(MOST_WORK)
    for _ in range(3):
        try:
            lattice, finest, measured = _suited_lattice(above, delta, mesh, measured, work)
            other = lattice if below is above else lattice_of(below, delta, lattice.mesh)
            low, high = _bounds_on(lattice, other, above, below, delta, work)
        except RuntimeError:
            if np.isinf(upper).all():
                raise
            break
        lower = np.maximum(lower, low)
        upper = np.minimum(upper, high)
        before = width
        width = upper - lower
        wide = width > WIDE * np.maximum(lower, max(WORTH_REFINING, 0.01 * float(lower.max())))
        if lattice.mesh <= finest or not np.any(wide & (width < WORTH_ANOTHER * before)):
            break
        mesh = 0.4 * lattice.mesh
    # Before the bits: a bound of Theorem 18 holds beside bounds that cross.
    return safe_ends(lower, upper, "")


def _bounds_on(
    lattice: Lattice,
    other: Lattice,
    above: Composition,
    below: Composition,
    delta: FloatArray,
    work: Work | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon from the dominating laws on one lattice and the dominated ones on the
    other.
    """
    # An upper bound needs both directions, a lower bound one.
    remove = composed_epsilons(
        [each.remove for each in lattice.laws], above.counts, delta, lattice.remove, +1, work=work
    )
    add = composed_epsilons(
        [each.add for each in lattice.laws], above.counts, delta, lattice.add, +1, work=work
    )
    lower = composed_epsilons(
        [each.dominated for each in other.laws],
        below.counts,
        delta,
        other.dominated,
        -1,
        remove,
        work,
    )
    return lower, np.maximum(remove, add)


def _suited_lattice(
    composition: Composition, delta: FloatArray, mesh: float, measured: float, work: Work
) -> tuple[Lattice, float, float]:
    """A lattice that should give a narrow band halfway and at the end of the curve, and the finest
    mesh allowed.

    The third is the width that was measured last: of a coarser mesh at first, infinite without one.
    """
    rows = [len(delta) // 2, len(delta) - 1]
    some = Composition(composition.kinds, composition.counts[rows]), delta[rows]
    for _ in range(8):
        lattice = lattice_of(composition, delta, mesh)
        finest = _finest_mesh(lattice, composition, delta)
        excess = _predicted_width(lattice, *some)
        if excess > 1:  # the cheap prediction is far too high for rare, large losses
            before = measured
            measured = _measured_width(lattice, *some, work)
            excess = measured if measured < 0.9 * before else 1.0  # a finer one would not help
        if mesh >= finest and (excess <= 1 or mesh <= 1.01 * finest):
            break
        mesh = max(mesh * np.clip(0.9 / np.sqrt(max(excess, 1.0)), 0.2, 0.8), finest)
    return lattice, finest, measured


def _wanted_width(lattice: Lattice, composition: Composition, delta: FloatArray) -> FloatArray:
    """The wanted width of the band at each horizon, (n,)."""
    epsilon = lattice.remove.chernoff(composition.counts, np.log(delta))
    return np.maximum(WANTED * epsilon, np.maximum(NEGLIGIBLE * epsilon.max(), 1e-7))


def _predicted_width(lattice: Lattice, composition: Composition, delta: FloatArray) -> float:
    """The band's width at the last horizon over the wanted width, from the gap between its laws'
    log-moments.

    To first order ln delta differs by that gap at the order of the Chernoff bound, and epsilon by
    gap / order.
    """
    counts = composition.counts[-1:]
    order = lattice.remove.chernoff_order(counts[0], float(np.log(delta[-1])))
    gaps = lattice.remove.at(order) - lattice.dominated.at(order)
    return (
        float(counts[0] @ np.maximum(gaps, 0.0))
        / order
        / float(_wanted_width(lattice, composition, delta)[-1])
    )


def _measured_width(
    lattice: Lattice, composition: Composition, delta: FloatArray, work: Work
) -> float:
    """The largest ratio of the band's width to the wanted width, from the band itself."""
    counts = composition.counts
    upper = composed_epsilons(
        [each.remove for each in lattice.laws], counts, delta, lattice.remove, +1, work=work
    )
    lower = composed_epsilons(
        [each.dominated for each in lattice.laws], counts, delta, lattice.dominated, -1, upper, work
    )
    return float(np.max((upper - lower) / _wanted_width(lattice, composition, delta)))


def _finest_mesh(lattice: Lattice, composition: Composition, delta: FloatArray) -> float:
    """The mesh of a full lattice."""
    moments = lattice.remove
    period = 0.0
    # At one delta the last has the longest.
    some = range(len(delta)) if np.ptp(delta) > 0 else [len(delta) - 1]
    for row in list(some)[:: -max(1, len(some) // SEEN_ROWS)]:
        counts = composition.counts[row]
        log_delta = float(np.log(delta[row]))
        epsilon = float(moments.chernoff(counts[None], np.array([log_delta]))[0])
        order = moments.tilt(counts, log_delta, epsilon, inf)
        period = max(period, moments.period(counts[None], order))
    return max(full_mesh(composition, delta), period / moments.most_nodes(composition.counts))
