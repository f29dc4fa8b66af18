"""Tests of independent scores, from canaries of many runs or from the steps of one run: README.md, Theorem 7.

The losses of one trained model are counted alike, but give an estimate: its examples are not independent.

Source: Nasr et al. 2023, Tight auditing of differentially private machine learning, arXiv 2302.07956; Kairouz, Oh and
Viswanath 2015, arXiv 1311.0776, Theorem 2.1.
"""

import math
from dataclasses import dataclass
from math import inf, log
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import rate_above, rate_below
from dpcore.audit.bounds.finding import CONFIDENCE, Evidence, Finding, constant, numbers, trouble
from dpcore.audit.bounds.roc import Roc, roc_of
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import nearest, outward


class Rates(NamedTuple):
    """Bounds of both rates of a threshold; scores above it count as positive."""

    threshold: float
    true_positives: float  # from below
    false_positives: float  # from above

    def epsilon(self, delta: float) -> float:
        """Return the lower bound of epsilon that follows."""
        return max(
            _ratio(self.true_positives - delta, self.false_positives),
            _ratio(1 - self.false_positives - delta, 1 - self.true_positives),
            0.0,
        )


def _ratio(over: float, under: float) -> float:
    if over <= 0:
        return -inf
    return log(over / under) if under > 0 else inf


def rates_at(scores_in: FloatArray, scores_out: FloatArray, threshold: float, error: float) -> Rates:
    """Bound both rates of a threshold chosen in advance; together they fail with probability `error` at most."""
    right, wrong = np.count_nonzero(scores_in > threshold), np.count_nonzero(scores_out > threshold)
    above = float(rate_above(right, scores_in.size, error / 2))
    return Rates(threshold, above, float(rate_below(wrong, scores_out.size, error / 2)))


def best_threshold(scores_in: FloatArray, scores_out: FloatArray, delta: float, error: float) -> float:
    """Return the threshold, halfway between two scores, that would show the largest epsilon if chosen in advance."""
    values = np.unique(np.concatenate([scores_in, scores_out]))
    thresholds = (values[1:] + values[:-1]) / 2
    right = scores_in.size - np.searchsorted(np.sort(scores_in), thresholds, side="right")
    wrong = scores_out.size - np.searchsorted(np.sort(scores_out), thresholds, side="right")
    true = rate_above(right, scores_in.size, error / 2)
    false = rate_below(wrong, scores_out.size, error / 2)
    with np.errstate(divide="ignore", invalid="ignore"):  # of rates that show nothing
        worth = np.maximum((true - delta) / false, (1 - false - delta) / (1 - true))
    return float(thresholds[int(np.argmax(worth))])


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class TwoRunFinding(Finding):
    """The power of a threshold to separate scores with the canary from scores without it."""

    scores: tuple[int, int]  # in, out: the scores counted
    rates: Rates | None = None

    def _measured(self) -> str:
        rates = self.rates or Rates(0.0, 0.0, 1.0)
        return (
            f"At least {nearest(100 * rates.true_positives, 3)} % of scores with the canary, and at most "
            f"{nearest(100 * rates.false_positives, 3)} % of those without, exceed {nearest(rates.threshold)}: epsilon "
            f"is at least {outward(self.epsilon or 0.0, math.floor)}."
        )


def audit_two_run(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    delta: float,
    *,
    threshold: float | None = None,
    independent: bool = True,
    confidence: float = CONFIDENCE,
) -> TwoRunFinding:
    """Bound epsilon from scores with the canary, (n,), and without it, (k,); high scores speak for it.

    Without a given threshold, the scores at even places choose one and the others are counted. Scores of separate runs
    are `independent`; canaries of one run share its noise, and give an estimate.
    **Guarantees:** for independent scores the bound fails with probability 1 - confidence at most.

    >>> generator = np.random.default_rng(0)
    >>> found = audit_two_run(generator.normal(2, 1, 4000), generator.normal(0, 1, 4000), 1e-5)
    >>> round(found.epsilon, 1)  # of 9.9: so few scores show little of a tail
    3.8
    """
    inside, outside = numbers("scores_in", scores_in), numbers("scores_out", scores_out)
    check.in_range(0, 1, ends="()", confidence=confidence)
    check.in_range(0, 1, delta=delta)
    counted = (inside, outside) if threshold is not None else (inside[1::2], outside[1::2])
    sizes = (counted[0].size, counted[1].size)
    choosing = (inside, outside) if threshold is not None else (inside[::2], outside[::2])
    note = trouble(scores_with_the_canary=inside, scores_without_it=outside) or constant("scores", inside, outside)
    note = note or constant("scores that choose a threshold", *choosing) or _too_few(*sizes, confidence)
    if note:
        return TwoRunFinding(confidence=confidence, scores=sizes, note=note)
    error = 1 - confidence
    chosen = best_threshold(*choosing, delta, error) if threshold is None else threshold
    rates = rates_at(*counted, chosen, error)
    return TwoRunFinding(
        confidence=confidence,
        epsilon=rates.epsilon(delta),
        evidence=Evidence.BOUND if independent else Evidence.ESTIMATE,
        scores=sizes,
        rates=rates,
    )


def _too_few(inside: int, outside: int, confidence: float) -> str:
    """Return a sentence if even a threshold without errors would show nothing."""
    if inside and outside:
        error = (1 - confidence) / 2
        if rate_above(inside, inside, error) > rate_below(0, outside, error):
            return ""
    return (
        f"Nothing can be shown: {inside} scores with and {outside} without the canary are too few for a confidence of "
        f"{confidence:g}."
    )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LossFinding(Finding):
    """The power of a threshold on the loss to separate members from others: members tend to have a smaller loss.

    Source: Yeom et al. 2018, arXiv 1709.01604; Carlini et al. 2022, arXiv 2112.03570, on small false-positive rates.
    """

    roc: Roc | None = None
    rates: Rates | None = None  # of the threshold behind epsilon

    def _measured(self) -> str:
        told = self.roc.told if self.roc else ()
        shares = " and ".join(
            f"{nearest(100 * each.seen, 3)} % of members at {nearest(100 * each.rate, 3)} % false positives"
            for each in told
        )
        return (
            f"A threshold on the loss finds {shares}. If examples were independent, epsilon would be at least "
            f"{outward(self.epsilon or 0.0, math.floor)} (an estimate)."
        )


def audit_losses(members: ArrayLike, others: ArrayLike, delta: float, *, confidence: float = CONFIDENCE) -> LossFinding:
    """Compare the losses of training examples (n,) with those of other examples of the same kind (k,).

    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> audit_losses(generator.exponential(0.2, 500), generator.exponential(1.0, 500), 1e-5).epsilon > 0.3
    True
    """
    inside, outside = -numbers("members", members), -numbers("others", others)
    if note := trouble(losses_of_members=inside, losses_of_others=outside) or constant("losses", inside, outside):
        return LossFinding(confidence=confidence, note=note)
    counted = audit_two_run(inside, outside, delta, independent=False, confidence=confidence)
    return LossFinding(
        confidence=confidence,
        epsilon=counted.epsilon,
        evidence=Evidence.ESTIMATE,
        note=counted.note,
        roc=roc_of(inside, outside, confidence=confidence),
        rates=counted.rates,
    )
