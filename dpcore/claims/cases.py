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
        return _with_several_releases(claim, mechanism)
    sigmas: set[float] = set()
    if claim.sigma is not None:
        sigmas.add(claim.sigma)
    if mechanism is not None:
        sigmas.update(each.sigma for each in mechanism.releases)
    found: list[Case] = []
    for q, sigma in product(rates_of(claim), sorted(sigmas, reverse=True)):
        found += _at(claim, sampler, q, sigma)
    return tuple(found)


def _with_several_releases(claim: Claim, mechanism: Mechanism) -> tuple[Case, ...]:
    """Return the readings of releases that differ: as they are, and with the rates and the noise
    that the claim states beside them.
    """
    variants = {mechanism}
    for q in rates_of(replace(claim, mechanism=None)) or (None,):
        releases = []
        for each in mechanism.releases:
            releases.append(Release(q or each.q, claim.sigma or each.sigma, each.count))
        variants.add(Mechanism(tuple(releases)))
    return tuple(Case(each, each) for each in sorted(variants, key=_size))


def rates_of(claim: Claim) -> tuple[float, ...]:
    """Return the sampling rates that a claim states, ascending: from batch and examples, as q, and
    as released.

    >>> rates_of(Claim(q=0.0043, batch=256, examples=60_000))
    (0.004266666666666667, 0.0043)
    """
    said: set[float] = set()
    if claim.q is not None:
        said.add(claim.q)
    if claim.batch is not None and claim.examples is not None:
        said.add(min(claim.batch / claim.examples, 1.0))
    if claim.mechanism is not None:
        said.update(each.q for each in claim.mechanism.releases)
    return tuple(sorted(said))


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
    steps = claim.steps
    if claim.mechanism is not None:
        steps = claim.mechanism.steps
    if steps is not None:
        return steps, steps
    assert claim.epochs is not None
    most = math.ceil(claim.epochs * high - NEAR)
    if most > MAX_STEPS:
        raise ValueError(
            f"Expected epochs={claim.epochs!r} to be at most {MAX_STEPS:,} steps: write fewer"
            " epochs."
        )
    fewest = min(most, math.floor(claim.epochs * low + NEAR))
    return max(1, fewest), max(1, most)


def _at(claim: Claim, sampler: str, q: float, sigma: float) -> list[Case]:
    """Return the readings at one rate and noise; a sampler that goes by epochs has two lengths of
    an epoch.
    """
    low, high = epoch_lengths(q)
    if not sampler_of(sampler).by_epoch:
        return [_case(q, sigma, steps_of(claim, low, high), 1, 0.0)]
    if low == high:
        return [_case(q, sigma, steps_of(claim, low, low), low, 0.0)]
    left_out = max(0.0, 1 - low * q)
    without_last_batch = _case(q, sigma, steps_of(claim, low, low), low, left_out)
    with_last_batch = _case(q, sigma, steps_of(claim, high, high), high, 0.0)
    return [without_last_batch, with_last_batch]


def _case(q: float, sigma: float, steps: tuple[int, int], epoch: int, left_out: float) -> Case:
    fewest = Mechanism.constant(q, sigma, steps[0])
    most = Mechanism.constant(q, sigma, steps[1])
    return Case(fewest, most, epoch, left_out)


def _size(mechanism: Mechanism) -> tuple[float, float]:
    largest_rate = max(each.q for each in mechanism.releases)
    least_noise = min(each.sigma for each in mechanism.releases)
    return largest_rate, -least_noise


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
    if batch:
        return batch
    if claim.batch is not None and claim.examples is not None:
        return _steps_clash(claim, claim.batch / claim.examples)
    if claim.q is not None:
        return _steps_clash(claim, claim.q)
    return ()


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
    if rounds_to(rate, q):
        return True
    low, high = epoch_lengths(rate)
    return abs(q * low - 1) <= NEAR or abs(q * high - 1) <= NEAR


def _batch_clash(claim: Claim) -> tuple[str, ...]:
    if claim.batch is None or claim.examples is None:
        return ()
    size = f"A batch of {claim.batch:,} of {claim.examples:,} examples"
    if claim.batch > claim.examples:
        return (f"A batch of {claim.batch:,} is larger than the {claim.examples:,} examples.",)
    said = [] if claim.q is None else [claim.q]
    released = []
    if claim.mechanism is not None:
        released = [each.q for each in claim.mechanism.releases]
    for q in said + released:
        if is_rate_of(claim.batch, claim.examples, q):
            continue
        rate = nearest(claim.batch / claim.examples)
        origin = "released" if q in released else "claimed"
        return (f"{size} is q = {rate}, not the {origin} {plain(q)}.",)
    return ()


def _steps_clash(claim: Claim, q: float) -> tuple[str, ...]:
    if claim.steps is None or claim.epochs is None:
        return ()
    if _are_epochs(claim.epochs, Mechanism.constant(q, 1, claim.steps)):
        return ()
    length = epochs_of(claim.epochs)
    expected = f"{claim.epochs / q:,.0f} steps"
    return (f"At q = {nearest(q)}, {length} are {expected}, not the claimed {claim.steps:,}.",)


def _are_epochs(epochs: float, mechanism: Mechanism) -> bool:
    """True if these releases may be this many epochs, with or without last partial batches, up to a
    step.
    """
    lows, highs = [], []
    fewest = most = 0.0
    for release in mechanism.releases:
        low, high = epoch_lengths(release.q)
        lows.append(low)
        highs.append(high)
        fewest += release.count / high
        most += release.count / low
    fewest -= 1 / min(highs)
    most += 1 / min(lows)
    return fewest * (1 - NEAR) <= epochs <= most * (1 + NEAR)


def _mechanism_clashes(claim: Claim, mechanism: Mechanism) -> tuple[str, ...]:
    wrong = []
    for name, said in (("q", claim.q), ("sigma", claim.sigma)):
        if said is None:
            continue
        for release in mechanism.releases:
            value = getattr(release, name)
            if not rounds_to(value, said):
                wrong.append(
                    f"The mechanism has {name} = {nearest(value)}, not the claimed {plain(said)}."
                )
                break
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
