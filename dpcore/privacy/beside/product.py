"""Gaussian steps and other releases on the same data, counted in one product.

The loss of a product is the sum of the losses, so that its delta at epsilon is the mean, over the
losses of the other releases, of the steps' delta at epsilon less that loss. README.md is the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import Accountant, Curve, Kind, TradeoffCurve
from dpcore.privacy.beside.laws import Law, Other
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.tradeoff import Pairs, never_below

CELLS = 6000  # of the lattice of all losses
FINEST = 1e-5  # mesh
MOST_EPSILON = 60.0  # a larger epsilon is not counted
GRID = 400  # deltas of the steps' profile
BELOW = 1e-5  # of the smallest delta: the smallest of these
SMALLEST = 1e-25
LAW_CELLS = 500  # of the law whose mean and variance are taken
# Deltas of the pairs that make a trade-off function.
PAIRS = np.unique(np.append(np.geomspace(1e-9, 0.01, 60), np.linspace(0.01, 0.98, 100)))
MARGIN = 1e-9  # relative: above the rounding of all sums
TOO_MUCH = f"No epsilon up to {MOST_EPSILON:g} is proven for the steps and the other releases."
UNSEEN = "The lower end counts nothing of releases of which only a guarantee is known."


@final
class Beside(Accountant):
    """The certified accountant of steps beside other releases, which are all counted first.

    >>> from dpcore.privacy.beside.laws import Guarantee
    >>> steps = Mechanism.constant(q=1.0, sigma=2.0, steps=4)  # exactly 1-GDP: 4.38
    >>> spent = Beside([Guarantee(epsilon=1.0)]).spent(steps, 1e-5)
    >>> 4.38 < spent.value < 5.38, round(spent.lower, 1)
    (True, 4.4)
    """

    name = CERTIFIED
    title = "Certified band of steps and other releases"
    source = "dpcore/privacy/beside/README.md"
    note = "The loss of the other releases is added to that of the steps, in one product."
    caveat = "Proven up to floating-point rounding."
    kind = Kind.CERTIFIED

    def __init__(self, others: Sequence[Other]) -> None:
        self.others = tuple(others)

    def own_tradeoff(self, mechanism: Mechanism) -> TradeoffCurve:
        """The curves below and above the exact one that follow from both ends of the profile."""
        curve = self.profile(mechanism, PAIRS)
        assert curve.lower is not None
        above = never_below(curve.lower, PAIRS)
        below = Pairs(curve.epsilon, PAIRS) if np.isfinite(curve.epsilon).any() else None
        return TradeoffCurve(below, above, self.kind, curve.note)

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        lower = np.zeros(delta.shape)
        upper = np.full(delta.shape, np.inf)
        notes = [each.looser for each in self.others if each.looser]
        if any(each.below(1.0) is None for each in self.others):
            notes.append(UNSEEN)
        profile = None
        for last in np.unique(steps):
            rows = np.flatnonzero(steps == last)
            profile = _Profile(_first(mechanism, int(last)), float(delta[rows].min()))
            lower[rows], upper[rows] = self._bounds(profile, delta[rows])
        if profile is not None and np.isinf(upper[-1]):  # the note is that of the last point
            notes.append(profile.note if profile.endless else TOO_MUCH)
        return Curve(steps, delta, upper, lower, self.kind, " ".join(dict.fromkeys(notes)))

    def _bounds(self, profile: _Profile, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper epsilon at (n,) deltas."""
        highest = min(self._highest(profile, float(delta.min()) * BELOW), MOST_EPSILON)
        mesh = max(highest / CELLS, FINEST)
        epsilon = mesh * np.arange(int(highest / mesh) + 2)
        laws = [(each.above(mesh), each.count) for each in self.others]
        above = _composed(laws, epsilon.size, up=True)
        at_most = _mixed(above, profile.above, epsilon.size, mesh) * (1 + MARGIN) + above.infinite
        known = []
        for each in self.others:
            law = each.below(mesh)
            if law is not None:
                known.append((law, each.count))
        below = _composed(known, epsilon.size, up=False)
        at_least = _mixed(below, profile.below, epsilon.size, mesh) * (1 - MARGIN)
        keeps = at_most[None, :] <= delta[:, None]  # (n, K)
        upper = np.where(keeps.any(axis=1), epsilon[np.argmax(keeps, axis=1)], np.inf)
        broken = np.sum(at_least[None, :] > delta[:, None], axis=1)
        lower = np.where(broken > 0, epsilon[np.maximum(broken - 1, 0)], 0.0)
        return lower, upper

    def _highest(self, profile: _Profile, chance: float) -> float:
        """An epsilon above all that matter; it chooses the mesh, and any is on the safe side."""
        largest = profile.highest + sum(each.most * each.count for each in self.others)
        rounded = sum(each.count for each in self.others) / CELLS  # up by so much of it at most
        if rounded >= 1:
            return largest
        return min(largest, (profile.highest + _likely(self.others, chance)) / (1 - rounded))


class _Profile:
    """Proven bounds of delta of the steps at any epsilon, also below 0; without steps, exact."""

    def __init__(self, mechanism: Mechanism | None, smallest: float) -> None:
        self.note = ""
        self._epsilon = np.zeros(1)  # without steps delta is 0 at epsilon 0
        self._lower = np.zeros(0)
        self._delta = np.zeros(1)
        if mechanism is None:
            return
        least = max(smallest * BELOW, SMALLEST)
        delta = np.append(np.geomspace(least, 0.1, GRID), np.linspace(0.1, 0.999, 100)[1:])
        curve = ACCOUNTANTS[CERTIFIED].profile(mechanism, delta)
        assert curve.lower is not None
        self.note = curve.note
        # As delta falls epsilon rises, so that each end also holds for those behind it.
        told = curve.lower > 0  # a lower end of 0 says nothing
        self._lower = np.maximum.accumulate(curve.lower[told][::-1])
        self._delta_below = delta[told][::-1]
        finite = np.isfinite(curve.epsilon)
        self._epsilon = np.maximum.accumulate(curve.epsilon[finite][::-1])
        self._delta = delta[finite][::-1]

    @property
    def endless(self) -> bool:
        """True if no epsilon is promised at any delta: then delta counts as 1 everywhere."""
        return self._epsilon.size == 0

    @property
    def highest(self) -> float:
        """The largest epsilon that is promised; infinite if none is."""
        return float(np.inf if self.endless else self._epsilon.max())

    def above(self, epsilon: FloatArray) -> FloatArray:
        """At most the delta of either neighbour: H is convex in t = e^epsilon, and 1 at t = 0."""
        size = np.abs(epsilon)
        with np.errstate(over="ignore"):  # the chord to a point at infinity is flat
            t = np.append(0.0, np.exp(self._epsilon))
        delta = np.append(1.0, self._delta)
        within = np.interp(np.exp(np.minimum(size, 700.0)), t, delta)
        return np.where(epsilon < 0, -np.expm1(-size) + np.exp(-size) * within, within)

    def below(self, epsilon: FloatArray) -> FloatArray:
        """At least the delta of the neighbour without the record: it falls as epsilon rises."""
        trivial = np.where(epsilon < 0, -np.expm1(-np.abs(epsilon)), 0.0)
        if self._lower.size == 0:
            return trivial
        place = np.searchsorted(self._lower, np.maximum(epsilon, 0.0))
        proven = np.append(self._delta_below, 0.0)[place]
        return np.maximum(trivial, proven)


def _first(mechanism: Mechanism, steps: int) -> Mechanism | None:
    """The first steps alone; None for no step."""
    counts = mechanism.compositions(steps)[0]
    kept = []
    for release, count in zip(mechanism.releases, counts, strict=True):
        if count:
            kept.append(replace(release, count=int(count)))
    return Mechanism(tuple(kept)) if kept else None


def _likely(others: Sequence[Other], chance: float) -> float:
    """A total loss that is passed with at most about this chance, by Bernstein's inequality."""
    mean = 0.0
    variance = 0.0
    for each in others:
        mesh = each.most / LAW_CELLS
        mass = each.above(mesh).mass
        middle = mass.size // 2
        loss = mesh * np.arange(-middle, middle + 1)
        of_one = float(loss @ mass)
        mean += each.count * of_one
        variance += each.count * max(float(loss**2 @ mass) - of_one**2, 0.0)
    nats = -np.log(chance)
    third = nats * max((each.most for each in others), default=0.0) / 3
    return float(mean + third + np.sqrt(third**2 + 2 * variance * nats))


def _composed(laws: Sequence[tuple[Law, int]], places: int, *, up: bool) -> Law:
    """The law of the sum of independent losses; each law is used as often as its count.

    Losses farther out than `places` meshes move to a larger one if `up`, else to a smaller one.
    """
    whole = Law(np.ones(1), 0.0)
    for law, count in laws:
        power = _within(law, places, up)
        left = count
        while left:
            if left % 2:
                whole = _within(_sum(whole, power), places, up)
            left //= 2
            if left:
                power = _within(_sum(power, power), places, up)
    return whole


def _sum(one: Law, other: Law) -> Law:
    return Law(np.convolve(one.mass, other.mass), one.infinite + other.infinite)


def _within(law: Law, places: int, up: bool) -> Law:
    """The law without the places farther out."""
    beyond = law.mass.size // 2 - places
    if beyond <= 0:
        return law
    mass = law.mass[beyond:-beyond].copy()
    if not up:
        mass[-1] += law.mass[-beyond:].sum()
        return Law(mass, 0.0)
    mass[0] += law.mass[:beyond].sum()
    return Law(mass, law.infinite + float(law.mass[-beyond:].sum()))


def _mixed(
    law: Law, delta_at: Callable[[FloatArray], FloatArray], size: int, mesh: float
) -> FloatArray:
    """The mean of the steps' delta at k mesh less the loss, for k = 0, .., size - 1."""
    middle = law.mass.size // 2
    at = mesh * np.arange(-middle, size + middle, dtype=np.float64)
    return np.convolve(delta_at(at), law.mass, mode="valid")
