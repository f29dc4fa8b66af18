"""All readings of a claim's numbers, and contradictions between these numbers.

A claim may leave open its rate, the steps of its epochs, and the length of an epoch.
"""

import math
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import NamedTuple

from dpcore.claims.claim import Claim
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.numbers import epochs_of, nearest, plain
from dpcore.privacy.sampling import sampler_of
from dpcore.privacy.sampling.base import Poisson

NEAR = 1e-9  # relative rounding of floats
COARSE = 0.05  # the largest relative error of a rounded number


class Case(NamedTuple):
    """One reading, with between `fewest` and `most` releases at the same rate and noise."""

    fewest: Mechanism
    most: Mechanism
    epoch: int = 1  # steps, for samplers that go by epochs
    left_out: float = 0.0  # share of the examples that an epoch may leave out


def cases_of(claim: Claim, sampler: str) -> tuple[Case, ...]:
    """Return all readings of a complete claim. Errors: ValueError if its epochs are too many steps.

    >>> claim = Claim(q=0.28, sigma=1.0, epochs=10.0)
    >>> [(each.epoch, each.most.steps) for each in cases_of(claim, "fixed_order")]
    [(3, 30), (4, 40)]
    """
    mechanism = claim.mechanism
    if mechanism is not None and len(mechanism.releases) > 1:
        beside = rates_of(replace(claim, mechanism=None)) or (None,)
        variants = {mechanism} | {
            Mechanism(
                tuple(
                    Release(q or each.q, claim.sigma or each.sigma, each.count)
                    for each in mechanism.releases
                )
            )
            for q in beside
        }
        return tuple(Case(each, each) for each in sorted(variants, key=_size))
    released = () if mechanism is None else mechanism.releases
    sigmas = {claim.sigma, *(each.sigma for each in released)} - {None}
    return tuple(
        each
        for q, sigma in product(rates_of(claim), sorted(sigmas, reverse=True))  # type: ignore[type-var]
        for each in _at(claim, sampler, q, sigma)  # type: ignore[arg-type]
    )


def rates_of(claim: Claim) -> tuple[float, ...]:
    """Return the sampling rates that a claim states, ascending: from batch and examples, as q, and
    as released.

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
    """Return the steps of an epoch without and with the last partial batch.

    >>> epoch_lengths(256 / 60_000), epoch_lengths(0.01)
    ((234, 235), (100, 100))
    """
    return max(1, math.floor(1 / q + NEAR)), math.ceil(1 / q - NEAR)


def steps_of(claim: Claim, low: int, high: int) -> tuple[int, int]:
    """Return the fewest and the most steps of a claim, if an epoch has from `low` to `high` of
    them.

    >>> steps_of(Claim(epochs=60.0), 234, 235)
    (14040, 14100)
    """
    steps = claim.mechanism.steps if claim.mechanism is not None else claim.steps
    if steps is not None:
        return steps, steps
    assert claim.epochs is not None
    most = math.ceil(claim.epochs * high - NEAR)
    if most > MAX_STEPS:
        raise ValueError(
            f"Expected epochs={claim.epochs!r} to be at most {MAX_STEPS:,} steps: write fewer"
            " epochs."
        )
    return max(1, min(most, math.floor(claim.epochs * low + NEAR))), max(1, most)


def _at(claim: Claim, sampler: str, q: float, sigma: float) -> list[Case]:
    """Return the readings at one rate and noise; a sampler that goes by epochs has two lengths of
    an epoch.
    """
    low, high = epoch_lengths(q)
    if not sampler_of(sampler).by_epoch:
        return [_case(q, sigma, steps_of(claim, low, high), 1, 0.0)]
    found = [
        _case(
            q, sigma, steps_of(claim, low, low), low, max(0.0, 1 - low * q) if low < high else 0.0
        )
    ]
    return (
        found if low == high else [*found, _case(q, sigma, steps_of(claim, high, high), high, 0.0)]
    )


def _case(q: float, sigma: float, steps: tuple[int, int], epoch: int, left_out: float) -> Case:
    fewest, most = (Mechanism.constant(q, sigma, each) for each in steps)
    return Case(fewest, most, epoch, left_out)


def _size(mechanism: Mechanism) -> tuple[float, float]:
    return max(each.q for each in mechanism.releases), -min(
        each.sigma for each in mechanism.releases
    )


def clashes(claim: Claim) -> tuple[str, ...]:
    """Describe contradictions between numbers of the claim.

    >>> clashes(Claim(q=0.01, batch=256, examples=60_000))
    ('A batch of 256 of 60,000 examples is q = 0.004267, not the claimed 0.01.',)
    """
    batch = _batch_clash(claim)
    drawn_from = sampler_of(claim.sampler or Poisson.name).examples
    both_known = drawn_from is not None and claim.examples is not None
    if both_known and claim.examples != drawn_from:
        return (f"The batches are of {drawn_from:,} examples, not the claimed {claim.examples:,}.",)
    if claim.mechanism is not None:
        return (*batch, *_mechanism_clashes(claim, claim.mechanism))
    if claim.q is None and (batch or claim.batch is None or claim.examples is None):
        return batch
    q = claim.batch / claim.examples if claim.batch and claim.examples else claim.q
    assert q is not None
    return (*batch, *(() if batch else _steps_clash(claim, q)))


def rounds_to(value: float, shown: float) -> bool:
    """True if a number rounds to the shown digits; one digit is too coarse for most.

    >>> rounds_to(256 / 60_000, 0.0043), rounds_to(256 / 60_000, 0.0042)
    (True, False)
    >>> rounds_to(512 / 60_000, 0.01)
    False
    """
    unit = 10.0 ** int(Decimal(repr(shown)).as_tuple().exponent)
    return abs(value - shown) <= min(unit / 2, COARSE * value) + NEAR * value


def is_rate_of(batch: int, examples: int, q: float) -> bool:
    """True if q is the rate of these batches, exact, rounded, or as one over the steps of an epoch.

    >>> is_rate_of(512, 60_000, 0.0085)
    True
    >>> is_rate_of(512, 60_000, 1 / 118), is_rate_of(512, 60_000, 1 / 119)
    (True, False)
    """
    rate = batch / examples
    return rounds_to(rate, q) or any(abs(q * each - 1) <= NEAR for each in epoch_lengths(rate))


def _batch_clash(claim: Claim) -> tuple[str, ...]:
    if claim.batch is None or claim.examples is None:
        return ()
    size = f"A batch of {claim.batch:,} of {claim.examples:,} examples"
    if claim.batch > claim.examples:
        return (f"A batch of {claim.batch:,} is larger than the {claim.examples:,} examples.",)
    said = () if claim.q is None else (claim.q,)
    released = () if claim.mechanism is None else tuple(each.q for each in claim.mechanism.releases)
    other = [q for q in (*said, *released) if not is_rate_of(claim.batch, claim.examples, q)]
    if not other:
        return ()
    rate = nearest(claim.batch / claim.examples)
    return (
        (
            f"{size} is q = {rate}, not the {'released' if other[0] in released else 'claimed'}"
            f" {plain(other[0])}."
        ),
    )


def _steps_clash(claim: Claim, q: float) -> tuple[str, ...]:
    if (
        claim.steps is None
        or claim.epochs is None
        or _are_epochs(claim.epochs, Mechanism.constant(q, 1, claim.steps))
    ):
        return ()
    length = epochs_of(claim.epochs)
    return (
        (
            f"At q = {nearest(q)}, {length} are {claim.epochs / q:,.0f} steps, not the claimed"
            f" {claim.steps:,}."
        ),
    )


def _are_epochs(epochs: float, mechanism: Mechanism) -> bool:
    """True if these releases may be this many epochs, with or without last partial batches, up to a
    step.
    """
    lengths = [(*epoch_lengths(each.q), each.count) for each in mechanism.releases]
    fewest = sum(count / high for _, high, count in lengths) - 1 / min(
        high for _, high, _ in lengths
    )
    most = sum(count / low for low, _, count in lengths) + 1 / min(low for low, _, _ in lengths)
    return fewest * (1 - NEAR) <= epochs <= most * (1 + NEAR)


def _mechanism_clashes(claim: Claim, mechanism: Mechanism) -> tuple[str, ...]:
    wrong = []
    for name, said in (("q", claim.q), ("sigma", claim.sigma)):
        other = [getattr(each, name) for each in mechanism.releases if said is not None]
        if said is not None and (far := [each for each in other if not rounds_to(each, said)]):
            wrong.append(
                f"The mechanism has {name} = {nearest(far[0])}, not the claimed {plain(said)}."
            )
    if claim.steps not in (None, mechanism.steps):
        wrong.append(
            f"The mechanism has {mechanism.steps:,} steps, not the claimed {claim.steps:,}."
        )
    if claim.epochs is not None and not _are_epochs(claim.epochs, mechanism):
        passes = sum(each.q * each.count for each in mechanism.releases)
        wrong.append(
            f"The mechanism lasts {epochs_of(passes)}, not the claimed {nearest(claim.epochs)}."
        )
    return tuple(wrong)
