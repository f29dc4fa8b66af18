"""The certified band: proven lower and upper bounds around the exact epsilon."""

from math import inf
from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import CERTIFIED, Accountant, Curve, Kind, TradeoffCurve
from dpcore.privacy.certified.compose import epsilons
from dpcore.privacy.certified.lattice import (
    NODES,
    SMALLEST_SIGMA,
    START,
    Lattice,
    Steps,
    deviation,
    extent,
    lattice_of,
    merged,
    steps_of,
)
from dpcore.privacy.certified.tradeoff_bounds import certified
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.types import FloatArray, IntArray

TIGHT = 2.5e-3  # aim: predicted width of the band over epsilon
NEGLIGIBLE = 1e-4  # of the longest horizon's epsilon: a band that narrow is narrow enough anywhere
WIDE = 1e-2  # a band wider than this, both relative and absolute, is worth a finer mesh
COARSE = 2**14  # nodes of one step to begin with, at most


@final
class Pld(Accountant):
    """Privacy-loss distributions: a dominating and a dominated law of each step, composed in the Fourier domain."""

    name: ClassVar[str] = CERTIFIED
    title: ClassVar[str] = "Certified band (PLD)"
    note: ClassVar[str] = (
        "The grey band comes from the privacy-loss distribution itself, composed numerically with every rounding "
        "error charged to the bounds: the exact epsilon lies inside it, so whatever lies below the band claims more "
        "privacy than there is."
    )
    source: ClassVar[str] = (
        "Doroshenko et al. 2022, arXiv 2207.04380 (connect the dots); Zhu, Dong, Wang 2022, arXiv 2106.08567"
    )
    kind: ClassVar[Kind] = Kind.CERTIFIED
    caveat: ClassVar[str] = (
        "Proven up to floating-point rounding, for which a margin of one millionth of delta is charged."
    )

    def own_tradeoff(self, mechanism: Mechanism) -> TradeoffCurve:
        """The certified trade-off curves, below and above the exact one."""
        band = certified(mechanism)
        return TradeoffCurve(None if band.note else band.lower, band.upper, self.kind, band.note)

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        epsilon, lower = np.zeros(steps.shape), np.zeros(steps.shape)
        rows = np.flatnonzero(steps > 0)
        smallest = min(release.sigma for release in mechanism.releases)
        if smallest < SMALLEST_SIGMA:
            epsilon[rows] = inf
            note = f"sigma={smallest:g} is below {SMALLEST_SIGMA:g}, where one step already tells all."
            return Curve(steps, delta, epsilon, lower, self.kind, note)
        if rows.size:
            epsilon[rows], lower[rows] = _monotone(*_band(steps_of(mechanism, steps[rows]), delta[rows]), delta[rows])
        note = "rounding outweighs what is left of delta." if np.isinf(epsilon).any() else ""
        return Curve(steps, delta, epsilon, lower, self.kind, note)


def _band(steps: Steps, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Upper and lower epsilon at (n,) horizons and deltas; finer until the band is narrow or the lattice full."""
    above, below = merged(steps, up=True), merged(steps, up=False)
    upper, lower = np.full(delta.shape, inf), np.zeros(delta.shape)
    mesh = max(START * deviation(above, -1) / np.sqrt(above.uses[-1].sum()), extent(above, delta) / COARSE)
    for _ in range(3):
        lattice, finest = _fitted(above, delta, mesh)
        other = lattice if below is above else lattice_of(below, delta, lattice.mesh)
        # An upper bound needs both directions; one of them is enough for a lower bound.
        remove = epsilons([each.remove for each in lattice.laws], above.uses, delta, lattice.remove, +1)
        add = epsilons([each.add for each in lattice.laws], above.uses, delta, lattice.add, +1)
        proven = epsilons([each.lower for each in other.laws], below.uses, delta, other.remove, -1, remove)
        upper, lower = np.minimum(upper, np.maximum(remove, add)), np.maximum(lower, proven)
        if np.all(upper - lower <= WIDE * np.maximum(lower, 1.0)) or lattice.mesh <= finest:
            break
        mesh = 0.4 * lattice.mesh
    # Bounds that cross would prove rounding worse than what is charged for it: then nothing is promised.
    crossed = lower > upper * (1 + 1e-9)
    return np.where(crossed, inf, upper), np.where(crossed, 0.0, np.minimum(lower, upper))


def _monotone(upper: FloatArray, lower: FloatArray, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At one delta more steps never cost less, so each bound speaks for the horizons after or before it too."""
    if np.ptp(delta) > 0:
        return upper, lower
    return np.minimum.accumulate(upper[::-1])[::-1], np.maximum.accumulate(lower)


def _fitted(steps: Steps, delta: FloatArray, mesh: float) -> tuple[Lattice, float]:
    """A lattice that promises a narrow band halfway and at the end of the curve; and the finest mesh allowed."""
    rows = [len(delta) // 2, len(delta) - 1]
    some = Steps(steps.kinds, steps.uses[rows]), delta[rows]
    for _ in range(8):
        lattice = lattice_of(steps, delta, mesh)
        finest, excess = _finest(lattice, steps, delta), _predicted(lattice, *some)
        if excess > 1:  # the prediction is cheap, but far too high where losses are rare and large
            excess = _measured(lattice, *some)
        if excess <= 1 or mesh <= finest:
            break
        mesh = max(mesh * np.clip(0.9 / np.sqrt(excess), 0.2, 0.8), finest)
    return lattice, finest


def _aims(lattice: Lattice, steps: Steps, delta: FloatArray) -> FloatArray:
    """The width of the band to aim at, at each horizon, (n,)."""
    epsilon = lattice.remove.chernoff(steps.uses, np.log(delta))
    return np.maximum(TIGHT * epsilon, np.maximum(NEGLIGIBLE * epsilon.max(), 1e-7))


def _predicted(lattice: Lattice, steps: Steps, delta: FloatArray) -> float:
    """Width of the band over what is aimed at, from the gap between the log-moments of its laws at the last horizon."""
    uses, log_delta = steps.uses[-1:], np.log(delta[-1:])
    epsilon = lattice.remove.chernoff(uses, log_delta)
    order = np.array([lattice.remove.tilt(uses[0], float(log_delta[0]), float(epsilon[0]), inf)])
    gaps = np.array([law.remove.log_moments(order)[0] - law.lower.log_moments(order)[0] for law in lattice.laws])
    return float(uses[0] @ np.maximum(gaps, 0.0)) / order[0] / float(_aims(lattice, steps, delta)[-1])


def _measured(lattice: Lattice, steps: Steps, delta: FloatArray) -> float:
    """The same ratio, the largest of all horizons, from the band itself."""
    upper = epsilons([each.remove for each in lattice.laws], steps.uses, delta, lattice.remove, +1)
    lower = epsilons([each.lower for each in lattice.laws], steps.uses, delta, lattice.remove, -1, upper)
    return float(np.max((upper - lower) / _aims(lattice, steps, delta)))


def _finest(lattice: Lattice, steps: Steps, delta: FloatArray) -> float:
    """The mesh at which a lattice is full."""
    uses, log_delta = steps.uses[-1], float(np.log(delta[-1]))
    epsilon = float(lattice.remove.chernoff(uses[None], np.array([log_delta]))[0])
    order = lattice.remove.tilt(uses, log_delta, epsilon, inf)
    return max(
        extent(steps, delta) / NODES, lattice.remove.period(uses[None], order) / lattice.remove.most_nodes(steps.uses)
    )
