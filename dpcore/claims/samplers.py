"""How a claim's batches may be drawn, and what is proven of epsilon then."""

import math
from functools import lru_cache
from typing import NamedTuple

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.statement import ADJACENCY
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.poisson import Poisson
from dpcore.privacy.sampling.replace_one import PoissonReplaceOne
from dpcore.privacy.types import Kind, Reading

BATCHES = {name: each.phrase for name, each in SAMPLERS.items() if name != PoissonReplaceOne.name}  # as in a sentence
ADJACENCIES = {"add_remove": "add/remove", "zero_out": "zero-out", "replace_one": "replace-one"}
MEANT = {  # in words, as within a sentence
    "add_remove": ADJACENCY,
    "zero_out": "zero-out: data sets that differ by one example, there or without a gradient in its place",
    "replace_one": "replace-one: data sets that differ by one example, there or another one in its place",
}
OWN = {name: next(key for key, words in ADJACENCIES.items() if words == SAMPLERS[name].adjacency) for name in BATCHES}
NOT_HERE = "Nothing is proven here yet for {} whose q or sigma changes."


class Bounds(NamedTuple):
    """What is proven of epsilon: it lies between them. The upper one is infinite where nothing is proven."""

    lower: float
    upper: float
    kind: Kind
    note: str = ""


def adjacency_of(sampler: str) -> str:
    """The adjacency under which a way of drawing batches is accounted for."""
    return OWN[sampler]


@lru_cache(maxsize=256)
def sampler_bounds(name: str, q: float, sigma: float, steps: int, delta: float) -> Bounds:
    """Proven bounds of epsilon after so many steps, under the sampler's own adjacency.

    One epoch is round(1/q) steps. Errors: ValueError for an unknown sampler or a value out of its range.

    >>> bounds = sampler_bounds("fixed_order", 0.01, 1.0, 100, 1e-5)
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (4.377, 4.377)
    """
    check.one_of(BATCHES, sampler=name)
    return _of(SAMPLERS[name].curve(q, sigma, steps, delta).last)


@lru_cache(maxsize=256)
def replaced_bounds(q: float, sigma: float, steps: int, delta: float) -> Bounds:
    """Proven bounds of epsilon of Poisson batches under replace-one adjacency."""
    return _of(SAMPLERS[PoissonReplaceOne.name].curve(q, sigma, steps, delta).last)


@lru_cache(maxsize=256)
def mechanism_bounds(mechanism: Mechanism, sampler: str, delta: float) -> Bounds:
    """The same for steps that are not all alike, which Poisson batches alone have bounds for."""
    if sampler == Poisson.name:
        return _of(ACCOUNTANTS[CERTIFIED].spent(mechanism, delta))
    return Bounds(0.0, math.inf, Kind.CERTIFIED, NOT_HERE.format(BATCHES[sampler]))


def _of(found: Reading) -> Bounds:
    return Bounds(found.lower or 0.0, found.value, found.kind, found.note)
