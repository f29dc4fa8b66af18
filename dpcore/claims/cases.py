"""Every reading of a claim's numbers: which rate is meant, how many steps its epochs are, and how long an epoch is."""

import math
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from dpcore.claims.claim import Claim
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.sampling import SAMPLERS

NEAR = 1e-9  # of a float's own rounding


class Case(NamedTuple):
    """One reading: what is released is at least `fewest` and at most `most`, at the same rate and noise."""

    fewest: Mechanism
    most: Mechanism
    epoch: int = 1  # steps; it matters where a sampler goes by epochs
    left_out: float = 0.0  # share of the examples that such an epoch may leave out, each in its turn


def cases_of(claim: Claim, sampler: str) -> tuple[Case, ...]:
    """All readings of a claim in which nothing is missing. Errors: ValueError where epochs are too many steps.

    >>> [(each.epoch, each.most.steps) for each in cases_of(Claim(q=0.28, sigma=1.0, epochs=10.0), "fixed_order")]
    [(3, 30), (4, 40)]
    """
    mechanism = claim.mechanism
    if mechanism is not None and len(mechanism.releases) > 1:
        beside = rates_of(replace(claim, mechanism=None)) or (None,)
        variants = {mechanism, *(_as_said(mechanism, each, claim.sigma) for each in beside)}
        return tuple(Case(each, each) for each in sorted(variants, key=_size))
    released = () if mechanism is None else mechanism.releases
    sigmas = {claim.sigma, *(each.sigma for each in released)} - {None}
    return tuple(
        each
        for q, sigma in product(rates_of(claim), sorted(sigmas, reverse=True))  # type: ignore[type-var]
        for each in _at(claim, sampler, q, sigma)  # type: ignore[arg-type]
    )


def rates_of(claim: Claim) -> tuple[float, ...]:
    """The sampling rates that a claim says, ascending: of batch and examples, as it is given, and as it was released.

    >>> rates_of(Claim(q=0.0043, batch=256, examples=60_000))
    (0.004266666666666667, 0.0043)
    """
    said = {claim.q} - {None}
    if claim.batch is not None and claim.examples is not None:
        said.add(min(claim.batch / claim.examples, 1.0))
    if claim.mechanism is not None:
        said |= {each.q for each in claim.mechanism.releases}
    return tuple(sorted(said))  # type: ignore[type-var]


def epoch_lengths(q: float) -> tuple[int, int]:
    """The steps of an epoch where what remains of the examples is dropped, and where it is a batch of its own.

    >>> epoch_lengths(256 / 60_000), epoch_lengths(0.01)
    ((234, 235), (100, 100))
    """
    return max(1, math.floor(1 / q + NEAR)), math.ceil(1 / q - NEAR)


def steps_of(claim: Claim, low: int, high: int) -> tuple[int, int]:
    """The fewest and the most steps that a claim means, if an epoch has from `low` to `high` of them.

    >>> steps_of(Claim(epochs=60.0), 234, 235)
    (14040, 14100)
    """
    steps = claim.mechanism.steps if claim.mechanism is not None else claim.steps
    if steps is not None:
        return steps, steps
    assert claim.epochs is not None
    most = math.ceil(claim.epochs * high - NEAR)
    if most > MAX_STEPS:
        raise ValueError(f"Expected epochs={claim.epochs!r} to be at most {MAX_STEPS:,} steps.")
    return max(1, min(most, math.floor(claim.epochs * low + NEAR))), max(1, most)


def _at(claim: Claim, sampler: str, q: float, sigma: float) -> list[Case]:
    """The readings at one rate and noise: both lengths of an epoch where records are in one batch of each."""
    low, high = epoch_lengths(q)
    if not SAMPLERS[sampler].by_epoch:
        return [_case(q, sigma, steps_of(claim, low, high), 1, 0.0)]
    found = [_case(q, sigma, steps_of(claim, low, low), low, max(0.0, 1 - low * q) if low < high else 0.0)]
    return found if low == high else [*found, _case(q, sigma, steps_of(claim, high, high), high, 0.0)]


def _case(q: float, sigma: float, steps: tuple[int, int], epoch: int, left_out: float) -> Case:
    fewest, most = (Mechanism.constant(q, sigma, each) for each in steps)
    return Case(fewest, most, epoch, left_out)


def _as_said(mechanism: Mechanism, q: float | None, sigma: float | None) -> Mechanism:
    return Mechanism(tuple(Release(q or each.q, sigma or each.sigma, each.count) for each in mechanism.releases))


def _size(mechanism: Mechanism) -> tuple[float, float]:
    return max(each.q for each in mechanism.releases), -min(each.sigma for each in mechanism.releases)
