"""How a claim's batches may be drawn, and what is proven of epsilon then.

Fixed order and shuffling are judged under zero-out adjacency: an example's gradient is there, or is zero.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from dpcore import check
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.answers import epsilon_at_end
from dpcore.privacy.types import Kind

SAMPLERS = {  # id -> as in a sentence
    "poisson": "Poisson batches",
    "fixed_order": "batches in a fixed order",
    "shuffle": "shuffled batches",
    "random_allocation": "batches by random allocation",
    "fixed_size": "batches of a fixed size",
}
ADJACENCIES = {"add_remove": "add/remove", "zero_out": "zero-out", "replace_one": "replace-one"}
OWN = {"poisson": "add_remove", "random_allocation": "zero_out", "fixed_size": "replace_one"}  # else zero-out
REACH, CUTS = 12.0, 4001  # of the largest coordinate, in units of sigma, and how many of its values are tried
LEAST = 1e-280  # of a probability: smaller ones lose their digits
ROUNDING = 1e-9  # relative, charged to every term: more than the logarithms lose
UNPROVEN_UPPER = "No amplification by shuffling is proven: the upper bound is that of a fixed order."
NOT_HERE = "Nothing is proven here yet for {}."


class Bounds(NamedTuple):
    """What is proven of epsilon: it lies between them. The upper one is infinite where nothing is proven."""

    lower: float
    upper: float
    kind: Kind
    note: str = ""


def adjacency_of(sampler: str) -> str:
    """The adjacency under which a way of drawing batches is accounted for."""
    return OWN.get(sampler, "zero_out")


def sampler_bounds(name: str, q: float, sigma: float, steps: int, delta: float) -> Bounds:
    """Proven bounds of epsilon after so many steps, under the sampler's own adjacency.

    One epoch is round(1/q) steps. Errors: ValueError for an unknown sampler or a value out of its range.

    >>> bounds = sampler_bounds("fixed_order", 0.01, 1.0, 100, 1e-5)
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (4.377, 4.377)
    """
    check.one_of(SAMPLERS, sampler=name)
    if name == "poisson":
        return _certified(Mechanism.constant(q, sigma, steps), delta)
    if name in ("fixed_order", "shuffle"):
        ordered = _certified(Mechanism.constant(1.0, sigma, epochs_in(q, steps)), delta)
        if name == "fixed_order":
            return ordered
        lower = min(shuffled_lower(q, sigma, steps, delta), ordered.upper)
        return Bounds(lower, ordered.upper, Kind.CERTIFIED, UNPROVEN_UPPER)
    return Bounds(0.0, math.inf, Kind.CERTIFIED, NOT_HERE.format(SAMPLERS[name]))


def mechanism_bounds(mechanism: Mechanism, sampler: str, delta: float) -> Bounds:
    """The same for steps that are not all alike, which Poisson batches alone have bounds for."""
    if sampler == "poisson":
        return _certified(mechanism, delta)
    return Bounds(0.0, math.inf, Kind.CERTIFIED, NOT_HERE.format(f"{SAMPLERS[sampler]} whose q or sigma changes"))


def per_epoch(q: float) -> int:
    """Steps of one pass over the data.

    >>> per_epoch(512 / 60_000)
    117
    """
    return max(1, round(1 / q))


def epochs_in(q: float, steps: int) -> int:
    """Passes over the data that so many steps begin."""
    return -(-steps // per_epoch(q))


def shuffled_lower(q: float, sigma: float, steps: int, delta: float) -> float:
    """Proven lower bound of epsilon of shuffled batches, from their first epoch alone: what follows only adds to it.

    With T batches an epoch, the event that the largest coordinate exceeds c tells the two neighbours apart:

        delta >= [1 - Phi((c-2)/sigma) Phi(c/sigma)^(T-1)] - e^epsilon [1 - Phi((c-1)/sigma) Phi(c/sigma)^(T-1)]

    for every c; the best of many is taken. Nothing is proven (0) where not even one epoch is complete.
    Source: Chua et al. 2024, arXiv 2403.17673.

    >>> round(shuffled_lower(1 / 100, 1.0, 100, 1e-5), 3)
    4.063
    """
    batches = per_epoch(q)
    if steps < batches:
        return 0.0
    cuts = np.linspace(-2.0, 2.0 + REACH * sigma, CUTS)  # (c,)
    others = (batches - 1) * log_ndtr(cuts / sigma)
    likely = -np.expm1(log_ndtr((cuts - 2) / sigma) + others) * (1 - ROUNDING) - delta
    rare = -np.expm1(log_ndtr((cuts - 1) / sigma) + others) * (1 + ROUNDING)
    telling = (likely > 0) & (rare > LEAST)
    return max(0.0, float((np.log(likely[telling]) - np.log(rare[telling])).max(initial=0.0)))


@lru_cache(maxsize=256)
def _certified(mechanism: Mechanism, delta: float) -> Bounds:
    value, lower, kind, note = epsilon_at_end(CERTIFIED, mechanism, delta).last
    return Bounds(lower or 0.0, value, kind, note)
