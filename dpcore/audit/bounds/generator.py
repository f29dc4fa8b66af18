"""Tests of a generator's numbers against the normal law: the reach of the tail, the shape, and the
spacing.

Draws are counted block by block, so 1e9 of them need no memory. README.md has the tests.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.special import gammainc, gammaincc, ndtr

from dpcore import check
from dpcore.audit.bounds.binomial import any_of, rate_above, rate_below, two_sided
from dpcore.audit.bounds.finding import CONFIDENCE, Evidence, Finding, bonferroni
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism, read_only
from dpcore.privacy.report.numbers import outward, short

Draw = Callable[[int], ArrayLike]  # a number of draws -> so many numbers

TAIL = 3.5  # from this size on draws are kept: 1 in 2,149
BINS = 256  # of equal probability
SHAPE = 2**22  # first draws that fall into bins: a wrong shape shows long before a tail does
BLOCK = 2**20
FINEST = -60  # no number of draws has ties below 2^-60 in size


class Ties(NamedTuple):
    """Equal numbers among the draws of the first block."""

    first: int  # draws of that block
    distinct: int  # different numbers among them
    pairs: int  # of equal numbers
    expected: float  # pairs of normal numbers rounded to the type; 0 if that is too coarse
    spread: float  # their variance over that


@dataclass(frozen=True, eq=False)
class NormalTally:
    """Counts of the draws so far."""

    draws: int
    size: float  # of the largest draw
    tail: FloatArray  # draws of size TAIL or more
    bins: IntArray  # (BINS,) of the first draws
    ties: Ties
    not_finite: int

    def beyond(self, threshold: float) -> int:
        """Count the draws larger by size than a threshold of at least TAIL."""
        return int(np.count_nonzero(np.abs(self.tail) > threshold))

    def above(self, threshold: float) -> int:
        """Count the draws larger than a threshold of at least TAIL."""
        return int(np.count_nonzero(self.tail > threshold))


def tally_of(draw: Draw, draws: int, *, block: int = BLOCK) -> NormalTally:
    """Count draws, block by block; `draw(n)` returns n numbers claimed to be standard normal.

    Numbers that are not finite are counted and left out. Errors: ValueError if `draw` returns too
    many or too few.

    >>> generator = np.random.default_rng(0)
    >>> last = tally_of(generator.standard_normal, 3000, block=1000)
    >>> last.draws, last.ties.first, last.ties.distinct, round(last.size, 2)
    (3000, 1000, 1000, 3.9)
    """
    check.whole(1, draws=draws, block=block)
    drawn = 0
    not_finite = 0
    size = 0.0
    tails = []
    bins = np.zeros(BINS, dtype=np.int64)
    ties = Ties(0, 0, 0, 0.0, 1.0)
    while drawn < draws:
        count = min(block, draws - drawn)
        values = _finite(draw, count)
        if not drawn:
            ties = _ties(values)
        if drawn < SHAPE:
            place = (ndtr(values.astype(np.float64)) * BINS).astype(np.int64).clip(0, BINS - 1)
            bins += np.bincount(place, minlength=BINS)
        sizes = np.abs(values)
        tails.append(values[sizes >= TAIL].astype(np.float64))
        size = float(sizes.max(initial=size))
        drawn += count
        not_finite += count - values.size
    tail = read_only(np.concatenate(tails))
    return NormalTally(drawn, size, tail, read_only(bins), ties, not_finite)


def _finite(draw: Draw, count: int) -> np.ndarray:
    """Return the finite numbers among `count` draws, in their own type."""
    values = np.asarray(draw(count)).reshape(-1)
    if values.size != count:
        raise ValueError(f"Expected draw({count}) to return {count} numbers, not {values.size}.")
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    return values[np.isfinite(values)]


def _ties(values: np.ndarray) -> Ties:
    """Count the equal numbers of a block.

    Types coarser than float32 have too many ties for the approximate expectation, so none are
    counted.
    """
    n = values.size
    _, counts = np.unique(values, return_counts=True)
    if values.dtype.itemsize < np.dtype(np.float32).itemsize:
        return Ties(n, counts.size, 0, 0.0, 1.0)
    pairs = int(np.sum(counts * (counts - 1) // 2))
    two = chance_of_a_tie(values.dtype)
    three = chance_of_a_tie(values.dtype, 3)
    # Two pairs that share a number are equal together with the chance of three equal numbers.
    spread = 1 - two + 2 * max(n - 2, 0) * (three - two**2) / two
    return Ties(n, counts.size, pairs, n * (n - 1) / 2 * two, spread)


def chance_of_a_tie(dtype: DTypeLike, together: int = 2) -> float:
    """Return the probability that `together` normal numbers are equal once rounded to a type of
    floats.

    Numbers in [2^e, 2^(e+1)) are multiples of 2^(e - digits). For k numbers it is the sum over e of
    that spacing to the power k - 1 times the integral of phi^k there, which is that of Normal(0,
    1/k) over sqrt(k) (2 pi)^((k-1)/2). A type of whole numbers counts as float64.

    >>> f"{chance_of_a_tie(np.float32):.2e}, {chance_of_a_tie(np.float64):.2e}"
    '1.37e-08, 2.55e-17'
    """
    kind = np.dtype(dtype)
    digits = np.finfo(kind.name if kind.kind == "f" else np.float64).nmant
    exponent = np.arange(FINEST, 6)
    root = np.sqrt(together)
    others = together - 1
    inside = 2 * (ndtr(root * 2.0 ** (exponent + 1)) - ndtr(root * 2.0**exponent))
    spacing = 2.0 ** (others * (exponent - digits))
    return float(np.sum(spacing * inside) / root / (2 * np.pi) ** (others / 2))


FAR = 4.5  # draws beyond it may be neither too few nor too many
# Of the counting attack, chosen before any draw.
THRESHOLDS = (4.0, 4.5, 5.0, 5.25, 5.5, 5.769, 6.0)


class Charged(NamedTuple):
    """The mechanism that uses the numbers."""

    mechanism: Mechanism
    delta: float
    radius: float  # the largest number that the generator's code can return


def audit_generator(
    draw: Draw,
    draws: int,
    *,
    charged: Charged | None = None,
    confidence: float = CONFIDENCE,
    block: int = BLOCK,
) -> Finding:
    """Test draws of a function `draw(n)` that returns n numbers claimed to be standard normal.

    The p-value combines four tests.

    >>> found = audit_generator(np.random.default_rng(0).standard_normal, 10**5)
    >>> found.rejected, found.figures["distinct"] == 10**5
    (False, True)
    """
    tally = tally_of(draw, draws, block=block)
    if tally.not_finite:
        return Finding(
            confidence=confidence,
            p_value=0.0,
            shows=f"{tally.not_finite:,} of {tally.draws:,} draws are not finite numbers.",
            figures={"draws": tally.draws},
        )
    tests = (p_reach(tally), p_far(tally), p_shape(tally), p_ties(tally))
    epsilon = None
    impossible = None
    evidence = Evidence.BOUND
    note = ""
    if charged:
        evidence = Evidence.CONDITIONAL
        epsilon, impossible, note = _spent(tally, charged, confidence)
    expected = 2 * tally.draws * float(ndtr(-tally.size))
    reach = (
        f"The largest of {tally.draws:,} draws is {tally.size:.3f}; {short(expected)} larger ones"
        " are expected."
    )
    return Finding(
        confidence=confidence,
        p_value=bonferroni(tests),
        epsilon=epsilon,
        evidence=evidence,
        shows=f"{reach} {note}".strip(),
        figures={
            "draws": tally.draws,
            "largest": tally.size,  # by size
            "expected_beyond": expected,  # normal draws expected beyond it
            "beyond_far": tally.beyond(FAR),
            "distinct": tally.ties.distinct,  # different numbers among the first `first`
            "first": tally.ties.first,
            "p_reach": tests[0],  # of no draw beyond the largest
            "p_far": tests[1],  # of the number beyond FAR
            "p_shape": tests[2],  # of the bins
            "p_ties": tests[3],  # of the pairs of equal numbers
            # Chance of a release beyond the radius, which proves that an example took part.
            "impossible": impossible,
        },
    )


def p_reach(tally: NormalTally) -> float:
    """Return the probability that no normal draw is beyond the largest."""
    return chance_of_none(tally.draws, tally.size)


def chance_of_none(draws: int, size: float) -> float:
    """Return the probability that no normal draw is larger by size: (1 - 2 Phi(-size))^draws.

    >>> round(chance_of_none(10**6, 5.0), 3)
    0.564
    """
    return exp(draws * log1p(-min(2 * float(ndtr(-size)), 1 - 1e-16)))


def p_far(tally: NormalTally) -> float:
    """Return the two-sided p-value of the number of draws beyond FAR."""
    return float(two_sided(tally.beyond(FAR), tally.draws, 2 * ndtr(-FAR)))


def p_shape(tally: NormalTally) -> float:
    """Return the p-value of the bins by Pearson's chi-square; 1 for too few draws."""
    expected = float(tally.bins.sum()) / BINS
    if expected < 5:
        return 1.0
    chi_square = float(np.sum((tally.bins - expected) ** 2)) / expected
    return float(gammaincc((BINS - 1) / 2, chi_square / 2))


def p_ties(tally: NormalTally) -> float:
    """Return the p-value of the pairs of equal numbers: Poisson, scaled to the variance of triples;
    1 for none.
    """
    ties = tally.ties
    if not ties.pairs:
        return 1.0
    return float(gammainc(ties.pairs / ties.spread, ties.expected / ties.spread))


def impossible_mass(mechanism: Mechanism, radius: float) -> float:
    """Return the probability of a release that proves membership, if noise ends at a radius:
    README.md, Theorem 2.

    **Guarantees:** delta(epsilon) of the mechanism with this noise is at least this, at every
    epsilon.

    >>> whole = Mechanism.constant(q=0.001, sigma=0.6, steps=10**5)
    >>> largest = 5.768  # of float32 normal numbers of a CPU
    >>> round(impossible_mass(whole, largest) / 1e-5)
    205
    """
    check.positive(radius=radius)
    chances = []
    for release in mechanism.releases:
        # The probability that a normal number within the radius is beyond it once moved.
        beyond = float(ndtr(-max(radius - 1 / release.sigma, -radius)) - ndtr(-radius))
        chances.append((release.q * max(beyond, 0.0), release.count))
    return any_of(*chances)


def counted_epsilon(
    tally: NormalTally, mechanism: Mechanism, delta: float, confidence: float
) -> float:
    """Return a lower bound of epsilon from an attack that looks for a release beyond a threshold:
    README.md, Theorem 3.

    **Guarantees:** holds at the confidence if draws are independent; 0 if nothing is shown.
    """
    kinds = {release.sigma for release in mechanism.releases}
    error = (1 - confidence) / len(THRESHOLDS) / (1 + len(kinds))
    best = 0.0
    for threshold in THRESHOLDS:
        wrong = float(rate_below(tally.above(threshold), tally.draws, error))
        without = any_of((wrong, mechanism.steps))
        reached = {}
        for sigma in kinds:
            count = tally.above(max(threshold - 1 / sigma, TAIL))  # draws below are not kept
            reached[sigma] = float(rate_above(count, tally.draws, error))
        present = any_of(*((r.q * reached[r.sigma], r.count) for r in mechanism.releases))
        if present > delta and without > 0:
            best = max(best, log((present - delta) / without))
    return best


def _spent(
    tally: NormalTally, charged: Charged, confidence: float
) -> tuple[float, float | None, str]:
    """Return epsilon, the impossible mass, and a note."""
    mechanism, delta, radius = charged
    epsilon = counted_epsilon(tally, mechanism, delta, confidence)
    if tally.size > radius:
        return epsilon, None, f"A draw lies beyond the given radius of {radius:g}."
    mass = impossible_mass(mechanism, radius)
    if mass > delta:
        epsilon = inf
    share = outward(mass / delta, math.floor)
    note = (
        f"The generator ends at {radius:g}; releases beyond it, of probability {share} times delta,"
        " prove membership."
    )
    return epsilon, mass, note
