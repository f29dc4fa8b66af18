"""Tests of independent scores, from canaries of many runs or from the steps of one run: README.md,
Theorem 7.

The losses of one trained model are counted alike, but give an estimate: its examples are not
independent.

Source: Nasr et al. 2023, Tight auditing of differentially private machine learning, arXiv
2302.07956; Kairouz, Oh and Viswanath 2015, arXiv 1311.0776, Theorem 2.1.
"""

from dataclasses import replace
from math import inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import rate_above, rate_below
from dpcore.audit.bounds.finding import (
    CONFIDENCE,
    Evidence,
    Finding,
    constant,
    least,
    nothing,
    numbers,
    trouble,
    trouble_of_scores,
    two_samples,
)
from dpcore.audit.bounds.roc import beyond, roc_of
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import nearest


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


def rates_at(
    scores_in: FloatArray, scores_out: FloatArray, threshold: float, error: float
) -> Rates:
    """Bound both rates of a threshold chosen in advance; together they fail with probability
    `error` at most.
    """
    right = np.count_nonzero(scores_in > threshold)
    wrong = np.count_nonzero(scores_out > threshold)
    true = float(rate_above(right, scores_in.size, error / 2))
    false = float(rate_below(wrong, scores_out.size, error / 2))
    return Rates(threshold, true, false)


def best_threshold(
    scores_in: FloatArray, scores_out: FloatArray, delta: float, error: float
) -> float:
    """Return the threshold, halfway between two scores, that would show the largest epsilon if
    chosen in advance.
    """
    values = np.unique(np.concatenate([scores_in, scores_out]))
    thresholds = (values[1:] + values[:-1]) / 2
    true = rate_above(beyond(scores_in, thresholds), scores_in.size, error / 2)
    false = rate_below(beyond(scores_out, thresholds), scores_out.size, error / 2)
    with np.errstate(divide="ignore", invalid="ignore"):  # of rates that show nothing
        worth = np.maximum((true - delta) / false, (1 - false - delta) / (1 - true))
    return float(thresholds[int(np.argmax(worth))])


def audit_two_run(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    delta: float,
    *,
    threshold: float | None = None,
    independent: bool = True,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Bound epsilon from scores with the canary, (n,), and without it, (k,); high scores speak for
    it.

    Without a given threshold, the scores at even places choose one and the others are counted.
    Scores of separate runs are `independent`; canaries of one run share its noise, and give an
    estimate. **Guarantees:** for independent scores the bound fails with probability 1 - confidence
    at most.

    >>> generator = np.random.default_rng(0)
    >>> found = audit_two_run(generator.normal(2, 1, 4000), generator.normal(0, 1, 4000), 1e-5)
    >>> round(found.epsilon, 1)  # of 9.9: so few scores show little of a tail
    3.8
    """
    check.in_range(0, 1, ends="()", confidence=confidence)
    check.in_range(0, 1, delta=delta)
    inside, outside = two_samples(scores_in, scores_out)
    rates = counted_rates(inside, outside, delta, threshold, confidence)
    if isinstance(rates, str):
        return nothing(rates, confidence)
    epsilon = rates.epsilon(delta)
    return Finding(
        confidence=confidence,
        epsilon=epsilon,
        evidence=Evidence.BOUND if independent else Evidence.ESTIMATE,
        shows=(
            f"At least {nearest(100 * rates.true_positives, 3)} % of scores with the canary, and at"
            f" most {nearest(100 * rates.false_positives, 3)} % of those without, exceed"
            f" {nearest(rates.threshold)}: epsilon is at least {least(epsilon)}."
        ),
        figures={"rates": rates},
    )


def counted_rates(
    inside: FloatArray,
    outside: FloatArray,
    delta: float,
    threshold: float | None,
    confidence: float,
) -> Rates | str:
    """Bound both rates of a threshold, or say why nothing follows.

    Without a given threshold, the scores at even places choose one and the others are counted.
    """
    note = trouble_of_scores(inside, outside)
    if note:
        return note
    error = 1 - confidence
    if threshold is None:
        choosing = (inside[::2], outside[::2])
        note = constant("scores that choose a threshold", *choosing)
        if note:
            return note
        threshold = best_threshold(*choosing, delta, error)
        inside = inside[1::2]
        outside = outside[1::2]
    note = _too_few(inside.size, outside.size, confidence)
    return note or rates_at(inside, outside, threshold, error)


def _too_few(inside: int, outside: int, confidence: float) -> str:
    """Return a sentence if even a threshold without errors would show nothing."""
    if inside and outside:
        error = (1 - confidence) / 2
        if rate_above(inside, inside, error) > rate_below(0, outside, error):
            return ""
    return (
        f"Nothing can be shown: {inside} scores with and {outside} without the canary are too few"
        f" for a confidence of {confidence:g}."
    )


def audit_losses(
    members: ArrayLike, others: ArrayLike, delta: float, *, confidence: float = CONFIDENCE
) -> Finding:
    """Compare the losses of training examples (n,) with those of other examples of the same kind
    (k,).

    Members tend to have a smaller loss, so a threshold separates them from others.
    Source: Yeom et al. 2018, arXiv 1709.01604; Carlini et al. 2022, arXiv 2112.03570, on small
    false-positive rates.

    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> members = generator.exponential(0.2, 500)
    >>> others = generator.exponential(1.0, 500)
    >>> audit_losses(members, others, 1e-5).epsilon > 0.3
    True
    """
    inside = -numbers("members", members)
    outside = -numbers("others", others)
    note = trouble(losses_of_members=inside, losses_of_others=outside)
    note = note or constant("losses", inside, outside)
    if note:
        return nothing(note, confidence)
    counted = audit_two_run(inside, outside, delta, independent=False, confidence=confidence)
    roc = roc_of(inside, outside, confidence=confidence)
    figures = {**counted.figures, "roc": roc}
    shares = []
    for rate, seen, above, below in roc.powers:
        name = f"tpr_at_{rate:g}_fpr"
        figures |= {name: seen, f"{name}_above": above, f"{name}_below": below}
        members = nearest(100 * seen, 3)
        shares.append(f"{members} % of members at {nearest(100 * rate, 3)} % false positives")
    shows = counted.shows
    if counted.epsilon is not None:
        shows = (
            f"A threshold on the loss finds {' and '.join(shares)}. If examples were independent,"
            f" epsilon would be at least {least(counted.epsilon)} (an estimate)."
        )
    return replace(counted, evidence=Evidence.ESTIMATE, shows=shows, figures=figures)
