"""The ROC curve of scores, with a band that holds the true curve everywhere at once.

Clopper and Pearson's bounds at a few ranks that are chosen before, each with its part of the error, bound the share of
scores beyond any threshold, all thresholds at once; README.md has the proof.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import rate_above, rate_below
from dpcore.audit.bounds.finding import CONFIDENCE, constant, numbers, trouble
from dpcore.privacy.mechanism import FloatArray, IntArray, read_only

LEVELS = 16  # of the counts at which shares are bounded, from either end
POINTS = 200  # of the false-positive rates of a curve
NONE = read_only(np.zeros(0))
TOLD = (0.01, 0.001)  # false-positive rates at which the true-positive rate is told


class Power(NamedTuple):
    """The true-positive rate at one false-positive rate."""

    rate: float  # false-positive rate
    seen: float  # of the scores that were seen
    above: float  # lower bound
    below: float  # upper bound


@dataclass(frozen=True, eq=False)
class Roc:
    """True-positive rates at false-positive rates, with a band; empty arrays and a note where there is none."""

    false_positives: FloatArray  # (n,) rising, from 0 to 1
    seen: FloatArray  # (n,) of the scores that were seen
    above: FloatArray  # (n,) lower bound of the true curve
    below: FloatArray  # (n,) upper bound
    told: tuple[Power, ...]  # at the rates of TOLD
    area: float  # under the curve that was seen
    scores: tuple[int, int]  # in, out
    confidence: float
    note: str = ""


def roc_of(scores_in: ArrayLike, scores_out: ArrayLike, *, confidence: float = CONFIDENCE) -> Roc:
    """The ROC curve of scores with (n,) and without (k,) the canary; high scores speak for it.

    The true-positive rate at a false-positive rate x is that of the best threshold whose false-positive rate is at most
    x. **Guarantees:** for independent scores the true curve leaves the band anywhere with probability 1 - confidence at
    most.

    >>> generator = np.random.default_rng(0)
    >>> found = roc_of(generator.normal(1, 1, 2000), generator.normal(0, 1, 2000))
    >>> round(found.area, 2), [found.told[0].above < 0.092 < found.told[0].below]  # Phi(Phi^-1(0.01) + 1)
    (0.76, [True])
    """
    inside, outside = numbers("scores_in", scores_in), numbers("scores_out", scores_out)
    check.in_range(0, 1, ends="()", confidence=confidence)
    sizes = (inside.size, outside.size)
    if note := trouble(scores_with_the_canary=inside, scores_without_it=outside) or constant("scores", inside, outside):
        return Roc(NONE, NONE, NONE, NONE, (), 0.5, sizes, confidence, note)
    low = min(1e-4, 0.5 / outside.size)
    rates = np.concatenate([[0.0], np.unique(np.append(np.geomspace(low, 1.0, POINTS), TOLD))])
    seen, above, below = _curves(inside, outside, rates, 1 - confidence)
    places = [int(np.searchsorted(rates, rate)) for rate in TOLD]
    told = tuple(Power(float(rates[i]), float(seen[i]), float(above[i]), float(below[i])) for i in places)
    curves = (read_only(rates), read_only(seen), read_only(above), read_only(below))
    return Roc(*curves, told, _area(inside, outside), sizes, confidence)


def _curves(
    inside: FloatArray, outside: FloatArray, rates: FloatArray, error: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The curve seen, and its lower and upper bound, at each of (n,) false-positive rates."""
    thresholds = np.append(np.unique(np.concatenate([inside, outside]))[::-1], -np.inf)  # falling: more is positive
    true, false = _counts(inside, thresholds), _counts(outside, thresholds)
    true_above, true_below = share_bounds(true, inside.size, error / 2)
    false_above, false_below = share_bounds(false, outside.size, error / 2)
    # A threshold counts at x if its false-positive rate is at most x: surely, or possibly.
    seen = _last(false / outside.size, true / inside.size, rates)
    return seen, _last(false_below, true_above, rates), _last(false_above, true_below, rates)


def _counts(scores: FloatArray, thresholds: FloatArray) -> IntArray:
    """Numbers of scores above each threshold."""
    return scores.size - np.searchsorted(np.sort(scores), thresholds, side="right")


def _last(false: FloatArray, true: FloatArray, rates: FloatArray) -> FloatArray:
    """The largest of the true-positive rates whose false-positive rate is at most each rate; both rise; 0 for none."""
    after = np.searchsorted(false, rates, side="right")
    return np.append(0.0, true)[after]


def levels(size: int) -> IntArray:
    """The ranks at which shares of so many scores are bounded: dense at either end, as the rates of a curve.

    >>> levels(5).tolist(), len(levels(100_000))
    ([1, 2, 3, 4, 5], 30)
    """
    some = np.unique(np.round(np.geomspace(1, size, LEVELS)).astype(np.int64))
    return np.unique(np.concatenate([some, size + 1 - some]))


def share_bounds(counts: IntArray, size: int, error: float) -> tuple[FloatArray, FloatArray]:
    """Bounds of the shares of a law of scores beyond thresholds, of which `counts` of `size` are beyond each, (n,).

    Together they fail with probability `error` at most, over all thresholds.
    """
    rank = levels(size)
    each = error / (2 * rank.size)
    lower, upper = np.append(0.0, rate_above(rank, size, each)), np.append(rate_below(rank - 1, size, each), 1.0)
    # With k scores beyond a threshold it lies below the k-th largest, and not below the one after.
    return lower[np.searchsorted(rank, counts, side="right")], upper[np.searchsorted(rank, counts + 1, side="left")]


def _area(inside: FloatArray, outside: FloatArray) -> float:
    """The share of pairs of which the score with the canary is larger; equal ones count half."""
    ordered = np.sort(outside)
    below, through = (np.searchsorted(ordered, inside, side=side) for side in ("left", "right"))
    return float(np.mean(below + through)) / 2 / outside.size
