"""The certified band: proven lower and upper bounds around the exact epsilon."""

from collections import Counter
from math import ceil, inf, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcore.privacy.accountants.base import Accountant, Curve, FloatArray, IntArray, Kind
from dpcore.privacy.compose import epsilons
from dpcore.privacy.loss import Laws, laws, span, spread
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.orders import Moments

START = 0.12  # first mesh, in standard deviations of the loss of one step
TIGHT = 2.5e-3  # aim: predicted width of the band over epsilon
NEGLIGIBLE = 1e-4  # of the longest horizon's epsilon: a band that narrow is narrow enough anywhere
WIDE = 1e-2  # a band wider than this, both relative and absolute, is worth a finer mesh
COARSE = 2**14  # nodes of one step to begin with, at most
NODES = 2**17  # most nodes of the lattice of one step
LEVELS = 128  # most kinds of steps told apart
SMALLEST_SIGMA = 0.05


class Steps(NamedTuple):
    """Kinds of steps, and how often each was used at each horizon."""

    kinds: list[tuple[float, float]]  # (L,) of (q, sigma)
    uses: IntArray  # (n, L)


class Lattice(NamedTuple):
    """The laws of each kind of step on one mesh, with the log-moments of those that dominate."""

    mesh: float
    laws: list[Laws]
    remove: Moments
    add: Moments


class Pld(Accountant):
    """Privacy-loss distributions: a dominating and a dominated law of each step, composed in the Fourier domain."""

    name = "pld"
    title = "Certified band (PLD)"
    source = "Doroshenko et al. 2022, arXiv 2207.04380 (connect the dots); Zhu, Dong, Wang 2022, arXiv 2106.08567"
    kind = Kind.CERTIFIED
    caveat = "Proven up to floating-point rounding, for which a margin of one millionth of delta is charged."

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        epsilon, lower = np.zeros(steps.shape), np.zeros(steps.shape)
        rows = np.flatnonzero(steps > 0)
        smallest = min(release.sigma for release in mechanism.releases)
        if smallest < SMALLEST_SIGMA:
            epsilon[rows] = inf
            note = f"n/a, because sigma={smallest:g} is below {SMALLEST_SIGMA:g}, where one step already tells all."
            return Curve(steps, delta, epsilon, lower, self.kind, note)
        if rows.size:
            epsilon[rows], lower[rows] = _monotone(*_band(_steps(mechanism, steps[rows]), delta[rows]), delta[rows])
        note = "n/a, because rounding outweighs what is left of delta." if np.isinf(epsilon).any() else ""
        return Curve(steps, delta, epsilon, lower, self.kind, note)


def _steps(mechanism: Mechanism, steps: IntArray) -> Steps:
    """Composition does not depend on the order: equal releases are one kind."""
    kinds = list(dict.fromkeys((release.q, release.sigma) for release in mechanism.releases))
    member = np.array([[(r.q, r.sigma) == kind for kind in kinds] for r in mechanism.releases], dtype=np.int64)
    return Steps(kinds, mechanism.uses(steps) @ member)


def _merged(steps: Steps, up: bool) -> Steps:
    """At most LEVELS kinds (for each q): every sigma of a range replaced by its smallest (up) or largest.

    Less noise dominates more noise (post-processing), so either way the bound stays one.
    """
    if len(steps.kinds) <= LEVELS:
        return steps
    log_sigma = np.log([sigma for _, sigma in steps.kinds])
    bucket = np.floor((log_sigma - log_sigma.min()) / max(np.ptp(log_sigma), 1e-12) * LEVELS).astype(int)
    keys = [(q, int(b)) for (q, _), b in zip(steps.kinds, bucket, strict=True)]
    choose = min if up else max
    sigma_of = {k: choose(s for (_, s), key in zip(steps.kinds, keys, strict=True) if key == k) for k in set(keys)}
    uses = Counter()
    for key, column in zip(keys, steps.uses.T, strict=True):
        uses[key] = uses[key] + column
    return Steps([(key[0], sigma_of[key]) for key in uses], np.stack(list(uses.values()), axis=1))


def _band(steps: Steps, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Upper and lower epsilon at (n,) horizons and deltas; finer until the band is narrow or the lattice full."""
    above, below = _merged(steps, up=True), _merged(steps, up=False)
    upper, lower = np.full(delta.shape, inf), np.zeros(delta.shape)
    mesh = max(START * _deviation(above, -1) / np.sqrt(above.uses[-1].sum()), _extent(above, delta) / COARSE)
    for _ in range(3):
        lattice, finest = _fitted(above, delta, mesh)
        other = lattice if below is above else _lattice(below, delta, lattice.mesh)
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


def _deviation(steps: Steps, row: int) -> float:
    """About the standard deviation of the loss at one horizon."""
    return float(np.sqrt(steps.uses[row] @ np.array([spread(q, sigma) ** 2 for q, sigma in steps.kinds])))


def _fitted(steps: Steps, delta: FloatArray, mesh: float) -> tuple[Lattice, float]:
    """A lattice that promises a narrow band halfway and at the end of the curve; and the finest mesh allowed."""
    rows = [len(delta) // 2, len(delta) - 1]
    some = Steps(steps.kinds, steps.uses[rows]), delta[rows]
    for _ in range(8):
        lattice = _lattice(steps, delta, mesh)
        finest, excess = _finest(lattice, steps, delta), _predicted(lattice, *some)
        if excess > 1:  # the prediction is cheap, but far too high where losses are rare and large
            excess = _measured(lattice, *some)
        if excess <= 1 or mesh <= finest:
            break
        mesh = max(mesh * np.clip(0.9 / np.sqrt(excess), 0.2, 0.8), finest)
    return lattice, finest


def _lattice(steps: Steps, delta: FloatArray, mesh: float) -> Lattice:
    each = [laws(q, sigma, mesh, _tail(steps, delta)) for q, sigma in steps.kinds]
    orders = _orders(steps, delta)
    values = np.stack([law.remove.log_moments(orders) for law in each])
    ends = np.array([(law.remove.offset, law.remove.offset + mesh * (law.remove.mass.size - 1)) for law in each])
    # E_Q[t^-a] = E_P[t^(-1-a)]: the moments of one direction are those of the other, read backwards.
    active = np.array([1 - law.remove.mass.max() for law in each])
    remove, add = (values, ends), (values[:, ::-1], -ends[:, ::-1])
    return Lattice(mesh, each, Moments(orders, *remove, active), Moments(orders, *add, active))


def _tail(steps: Steps, delta: FloatArray) -> float:
    """Mass cut off each end of one step, far too little to be seen in delta."""
    return 1e-10 * float(delta.min()) / int(steps.uses[-1].sum())


def _extent(steps: Steps, delta: FloatArray) -> float:
    """The widest range of losses of any kind of step."""
    return max(span(q, sigma, _tail(steps, delta)) for q, sigma in steps.kinds)


def _orders(steps: Steps, delta: FloatArray) -> FloatArray:
    """Orders around what Gaussian losses would need, and rare large ones at the low end; symmetric about -1/2."""
    nats = -np.log(np.array([delta.max(), delta.min()]))
    low = min(sqrt(2 * nats[0]) / _deviation(steps, -1) / 64, 0.2 * nats[0] / _extent(steps, delta))
    high = sqrt(2 * nats[1]) / _deviation(steps, 0) * 16
    positive = np.geomspace(low, high, ceil(2.5 * log2(high / low)))
    return np.concatenate([-1 - positive[::-1], [-1.0, 0.0], positive])


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
        _extent(steps, delta) / NODES, lattice.remove.period(uses[None], order) / lattice.remove.most_nodes(steps.uses)
    )
