"""Recounts of a claim by each accountant in each known variant, to find the source of the claimed
number.

Variants differ in the orders of their moments and in the conversion to epsilon. All assume Poisson
sampling.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from dpcore.claims.printed import Printed
from dpcore.claims.setup import ClaimedSetup, mechanism_bounds
from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import FloatArray, Kind, Mechanism
from dpcore.privacy.sampling.base import Poisson

Convert = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
OWN = "as in this program"
NUMERICAL = "as libraries compute it, within 1 % and 0.01"
SLACK, GRAIN = 1.01, 0.01  # the usual error of libraries that compose losses numerically
AGREED = 1e-4  # relative: two programs seldom agree in more digits
NEARLY = 0.01  # relative: what a sigma or a rate that was rounded may change
# Lambda up to 32, as in Abadi et al. 2016, arXiv 1607.00133.
MOMENTS: FloatArray = np.arange(2, 34.0)
WHOLE: FloatArray = np.arange(2, 65.0)
TENTHS: FloatArray = np.arange(11, 110) / 10
# Opacus.accountants.RDPAccountant, 1.6.
OPACUS: FloatArray = np.concatenate([TENTHS, np.arange(12, 64.0)])
# Of 2019.
TF_PRIVACY: FloatArray = np.concatenate([TENTHS, 12 + 0.2 * np.arange(240), np.arange(60, 100.0)])
for _orders in (MOMENTS, WHOLE, TENTHS, OPACUS, TF_PRIVACY):
    _orders.setflags(write=False)


class Way(NamedTuple):
    """A variant of an accountant of moments."""

    accountant: str
    how: str
    orders: FloatArray
    convert: Convert


CLASSIC = "by the classic tail bound"
WAYS = (
    Way("moments", "with moments up to 32", MOMENTS, renyi.epsilon_classic),
    Way(
        "moments", "at the orders of TensorFlow Privacy in 2019", TF_PRIVACY, renyi.epsilon_classic
    ),
    Way("rdp", "at the orders of Opacus", OPACUS, renyi.epsilon_improved),
    Way(
        "rdp",
        f"at the orders of TensorFlow Privacy in 2019, {CLASSIC}",
        TF_PRIVACY,
        renyi.epsilon_classic,
    ),
    Way("rdp", f"at the orders of Opacus, {CLASSIC}", OPACUS, renyi.epsilon_classic),
    Way("rdp", f"at whole orders up to 64, {CLASSIC}", WHOLE, renyi.epsilon_classic),
)


class Recount(NamedTuple):
    """An accountant's number in one variant: least and most over all readings of the claim."""

    accountant: str
    how: str
    least: float
    most: float
    kind: Kind = Kind.UPPER  # for Poisson batches
    note: str = ""  # the reason for an infinite number

    def gives(self, printed: Printed) -> bool:
        """True if it is the printed number, rounded to its digits or upwards."""
        near = AGREED * printed.value
        above = max(printed.unit / 2, near)
        below = max(printed.unit, near)
        if not math.isfinite(self.most):
            return False
        return self.least < printed.value + above and self.most > printed.value - below

    def nearly(self, printed: Printed) -> bool:
        """True if it is above the printed number by less than one in its last digit, or by 1 %."""
        allowed = max(printed.unit, NEARLY * printed.value)
        return printed.value < self.least < printed.value + allowed


def recounts(setup: ClaimedSetup) -> tuple[Recount, ...]:
    """Return the numbers of all accountants in all known variants, this program's first."""
    lengths: list[Mechanism] = []
    for case in setup.cases:
        for length in (case.fewest, case.most):
            if length not in lengths:
                lengths.append(length)
    counted = [_own(name, lengths, setup.delta) for name in ACCOUNTANTS]
    for way in WAYS:
        found = [_of_way(way, length, setup.delta) for length in lengths]
        counted.append(Recount(way.accountant, way.how, min(found), max(found)))
    return tuple(counted)


def giving(found: tuple[Recount, ...], printed: Printed) -> tuple[Recount, ...]:
    """Return the first variant of each accountant that gives a printed number."""
    first: dict[str, Recount] = {}
    for each in found:
        if each.gives(printed):
            first.setdefault(each.accountant, each)
    return tuple(first.values())


def _own(name: str, lengths: list[Mechanism], delta: float) -> Recount:
    if name == CERTIFIED:
        found = [mechanism_bounds(each, Poisson.name, delta) for each in lengths]
        last = max(found, key=lambda each: each.upper)
        lower = min(each.lower for each in found)
        return Recount(name, NUMERICAL, lower, last.upper * SLACK + GRAIN, last.kind, last.note)
    read = [ACCOUNTANTS[name].spent(each, delta) for each in lengths]
    by_value = attrgetter("value")
    least, most = min(read, key=by_value), max(read, key=by_value)
    return Recount(name, OWN, least.value, most.value, most.kind, most.note)


def _of_way(way: Way, mechanism: Mechanism, delta: float) -> float:
    total = np.zeros(len(way.orders))
    for release in mechanism.releases:
        total = total + release.count * _moments(release.q, release.sigma, WAYS.index(way))
    epsilon = way.convert(np.atleast_2d(total), way.orders, np.array([delta]))[0]
    return max(0.0, float(epsilon))


@lru_cache(maxsize=256)
def _moments(q: float, sigma: float, way: int) -> FloatArray:
    found = renyi.log_moments_at(q, sigma, WAYS[way].orders)
    found.setflags(write=False)
    return found
