"""What many draws of a generator of normal numbers come to, counted block by block, so that 1e9 need no memory."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.special import ndtr

from dpcore import check
from dpcore.privacy.types import FloatArray, IntArray, read_only

TAIL = 3.5  # draws of this size are kept: 1 in 2,149
BINS = 256  # of equal probability
SHAPE = 2**22  # of the first draws fall into bins: a shape that is wrong shows long before a tail does
BLOCK = 2**20
FINEST = -60  # ties below 2^-60 in size are not expected in any number of draws


@dataclass(frozen=True, eq=False)
class NormalTally:
    """What is known of the draws so far."""

    draws: int
    smallest: float
    largest: float
    tail: FloatArray  # draws of size TAIL or more
    bins: IntArray  # (BINS,) of the first draws
    first: int  # draws of the first block, among which equal ones are counted
    distinct: int  # different numbers among them
    ties: int  # pairs of equal numbers among them
    ties_expected: float  # of normal numbers rounded to the type that is returned; 0 where that is too coarse
    ties_spread: float  # their variance over that
    not_finite: int

    @property
    def size(self) -> float:
        """The largest draw by size."""
        return max(abs(self.smallest), abs(self.largest))

    def beyond(self, threshold: float) -> int:
        """How many draws are larger than a threshold, which is at least TAIL, by size."""
        return int(np.count_nonzero(np.abs(self.tail) > threshold))

    def above(self, threshold: float) -> int:
        """How many draws are larger than a threshold, which is at least TAIL."""
        return int(np.count_nonzero(self.tail > threshold))


def tallies(draw: Callable[[int], ArrayLike], draws: int, *, block: int = BLOCK) -> Iterator[NormalTally]:
    """The tally after each block of draws; `draw(n)` returns n numbers that are claimed to be standard normal.

    Numbers that are not finite are counted and left out.
    Errors: ValueError if `draw` returns another number of them.

    >>> generator = np.random.default_rng(0)
    >>> *_, last = tallies(generator.standard_normal, 3000, block=1000)
    >>> last.draws, last.first, last.distinct, round(last.size, 2)
    (3000, 1000, 1000, 3.9)
    """
    check.whole(1, draws=draws, block=block)
    drawn, smallest, largest, not_finite = 0, math.inf, -math.inf, 0
    tail, bins, first = np.zeros(0), np.zeros(BINS, dtype=np.int64), None
    while drawn < draws:
        values = _finite(draw, min(block, draws - drawn))
        first = _ties(values) if first is None else first
        missing = min(block, draws - drawn) - values.size
        if drawn < SHAPE:
            bins = bins + _binned(values.astype(np.float64))
        far = values[np.abs(values) >= TAIL].astype(np.float64)
        tail = np.concatenate([tail, far]) if far.size else tail
        smallest, largest = float(values.min(initial=smallest)), float(values.max(initial=largest))
        drawn, not_finite = drawn + values.size + missing, not_finite + missing
        yield NormalTally(drawn, smallest, largest, read_only(tail), read_only(bins), *first, not_finite)


def _finite(draw: Callable[[int], ArrayLike], count: int) -> np.ndarray:
    """The finite ones of so many draws, in the type that they come in."""
    values = np.asarray(draw(count)).reshape(-1)
    if values.size != count:
        raise ValueError(f"Expected draw({count}) to return {count} numbers, not {values.size}.")
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    finite = np.isfinite(values)
    return values if finite.all() else values[finite]


def _binned(values: FloatArray) -> IntArray:
    """How many are in each of the bins of equal probability."""
    place = (ndtr(values) * BINS).astype(np.int64).clip(0, BINS - 1)
    return np.bincount(place, minlength=BINS).astype(np.int64)


def _ties(values: np.ndarray) -> tuple[int, int, int, float, float]:
    """(draws, distinct ones, pairs of equal ones, expected pairs, their variance over that) of a block.

    Types coarser than float32 have so many ties that their expectation is not known well enough: none are counted.
    """
    _, counts = np.unique(values, return_counts=True)
    if values.dtype.itemsize < np.dtype(np.float32).itemsize:
        return values.size, counts.size, 0, 0.0, 1.0
    pairs, n = int(np.sum(counts * (counts - 1) // 2)), values.size
    two, three = chance_of_a_tie(values.dtype), chance_of_a_tie(values.dtype, 3)
    # Two pairs that share a number are equal together with the chance of three, and not as if they were independent.
    spread = 1 - two + 2 * max(n - 2, 0) * (three - two**2) / two
    return n, counts.size, pairs, n * (n - 1) / 2 * two, spread


def chance_of_a_tie(dtype: DTypeLike, together: int = 2) -> float:
    """The probability that two normal numbers, or more together, are equal once they are rounded to a type of floats.

    Numbers in [2^e, 2^(e+1)) are multiples of 2^(e - digits), so for k of them it is the sum over e of that spacing to
    the power k - 1 times the integral of phi^k there, which is that of Normal(0, 1/k) over sqrt(k) (2 pi)^((k-1)/2). A
    type of whole numbers is taken for float64: its numbers are far too many ties.

    >>> f"{chance_of_a_tie(np.float32):.2e}, {chance_of_a_tie(np.float64):.2e}"
    '1.37e-08, 2.55e-17'
    """
    kind = np.dtype(dtype)
    digits = np.finfo(kind.name).nmant if kind.kind == "f" else np.finfo(np.float64).nmant
    exponent = np.arange(FINEST, 6)
    inside = 2 * (ndtr(np.sqrt(together) * 2.0 ** (exponent + 1)) - ndtr(np.sqrt(together) * 2.0**exponent))
    spacing = 2.0 ** ((together - 1) * (exponent - digits))
    return float(np.sum(spacing * inside) / np.sqrt(together) / (2 * np.pi) ** ((together - 1) / 2))
