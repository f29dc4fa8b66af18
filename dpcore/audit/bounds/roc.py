"""ROC curves of scores, with a band that holds the whole true curve: README.md, Theorem 9."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import rate_above, rate_below
from dpcore.audit.bounds.finding import CONFIDENCE, trouble_of_scores, two_samples
from dpcore.privacy.mechanism import FloatArray, IntArray, read_only

LEVELS = 16  # counts at which shares are bounded, from either end
POINTS = 200  # false-positive rates of a curve
NONE = read_only(np.zeros(0))
SMALL = (0.01, 0.001)  # false-positive rates at which the true-positive rate is reported


class Power(NamedTuple):
    """The true-positive rate at one false-positive rate."""

    rate: float  # false-positive rate
    seen: float  # of the scores that were seen
    above: float  # lower bound
    below: float  # upper bound


@dataclass(frozen=True, eq=False)
class Roc:
    """True-positive rates at false-positive rates, with a band; without scores, empty arrays and a
    note.
    """

    false_positives: FloatArray  # (n,) rising, from 0 to 1
    seen: FloatArray  # (n,) of the scores that were seen
    above: FloatArray  # (n,) lower bound of the true curve
    below: FloatArray  # (n,) upper bound
    powers: tuple[Power, ...]  # at the rates of SMALL
    area: float  # under the curve that was seen
    scores: tuple[int, int]  # in, out
    note: str = ""


def roc_of(scores_in: ArrayLike, scores_out: ArrayLike, *, confidence: float = CONFIDENCE) -> Roc:
    """Return the ROC curve of scores with (n,) and without (k,) the canary; high scores speak for
    it.

    At a false-positive rate x it has the true-positive rate of the best threshold with at most that
    rate. **Guarantees:** for independent scores the true curve leaves the band with probability 1 -
    confidence at most.

    >>> generator = np.random.default_rng(0)
    >>> found = roc_of(generator.normal(1, 1, 2000), generator.normal(0, 1, 2000))
    >>> round(found.area, 2)
    0.76
    >>> true_rate = 0.092  # Phi(Phi^-1(0.01) + 1)
    >>> [found.powers[0].above < true_rate < found.powers[0].below]
    [True]
    """
    inside, outside = two_samples(scores_in, scores_out)
    check.in_range(0, 1, ends="()", confidence=confidence)
    sizes = (inside.size, outside.size)
    note = trouble_of_scores(inside, outside)
    if note:
        return Roc(NONE, NONE, NONE, NONE, (), 0.5, sizes, note)
    low = min(1e-4, 0.5 / outside.size)
    rates = np.unique([0.0, *np.geomspace(low, 1.0, POINTS), *SMALL])
    curves = _curves(inside, outside, rates, 1 - confidence)
    powers = []
    for rate in SMALL:
        at = int(np.searchsorted(rates, rate))
        powers.append(Power(rate, *(float(curve[at]) for curve in curves)))
    seen, above, below = map(read_only, curves)
    area = _area(inside, outside)
    return Roc(read_only(rates), seen, above, below, tuple(powers), area, sizes)


def _curves(
    inside: FloatArray, outside: FloatArray, rates: FloatArray, error: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the curve seen, its lower bound and its upper bound at each of (n,) false-positive
    rates.
    """
    # Falling: more is positive.
    thresholds = np.append(np.unique(np.concatenate([inside, outside]))[::-1], -np.inf)
    true = beyond(inside, thresholds)
    false = beyond(outside, thresholds)
    true_above, true_below = share_bounds(true, inside.size, error / 2)
    false_above, false_below = share_bounds(false, outside.size, error / 2)
    # A threshold counts at x if its false-positive rate is at most x: surely in the lower, possibly
    # in the upper bound.
    seen = _last(false / outside.size, true / inside.size, rates)
    return seen, _last(false_below, true_above, rates), _last(false_above, true_below, rates)


def beyond(scores: FloatArray, thresholds: FloatArray) -> IntArray:
    """Count the scores above each threshold."""
    return scores.size - np.searchsorted(np.sort(scores), thresholds, side="right")


def _last(false: FloatArray, true: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the largest true-positive rate at a false-positive rate up to each rate; both rise; 0
    for none.
    """
    after = np.searchsorted(false, rates, side="right")
    return np.append(0.0, true)[after]


def levels(size: int) -> IntArray:
    """Return the ranks at which shares of `size` scores are bounded, dense at either end.

    >>> levels(5).tolist(), len(levels(100_000))
    ([1, 2, 3, 4, 5], 30)
    """
    some = np.unique(np.round(np.geomspace(1, size, LEVELS)).astype(np.int64))
    return np.unique(np.concatenate([some, size + 1 - some]))


def share_bounds(counts: IntArray, size: int, error: float) -> tuple[FloatArray, FloatArray]:
    """Bound the probability of a score beyond each threshold (n,), from `counts` of `size` scores
    beyond it.

    All bounds together fail with probability `error` at most.
    """
    rank = levels(size)
    each = error / (2 * rank.size)
    lower = np.append(0.0, rate_above(rank, size, each))
    upper = np.append(rate_below(rank - 1, size, each), 1.0)
    # A threshold with k scores beyond it lies below the k-th largest score, and not below the next.
    above = lower[np.searchsorted(rank, counts, side="right")]
    below = upper[np.searchsorted(rank, counts + 1, side="left")]
    return above, below


def _area(inside: FloatArray, outside: FloatArray) -> float:
    """Return the share of pairs in which the score with the canary is larger; equal scores count
    half.
    """
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, side="left")
    through = np.searchsorted(ordered, inside, side="right")
    return float(np.mean(below + through)) / 2 / outside.size
