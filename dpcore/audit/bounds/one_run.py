"""The audit in one run: canaries are in or out of the training data by fair coins, and their scores tell which.

Source: Steinke, Nasr and Jagielski 2023, Privacy auditing with one (1) training run, arXiv 2305.08846, Theorem 5.2.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import at_least
from dpcore.audit.bounds.finding import CONFIDENCE, Evidence, Finding, bonferroni
from dpcore.audit.bounds.guesses import BONFERRONI, CHOICES, Attempts, Guesses, attempts
from dpcore.audit.bounds.inputs import constant, scored, trouble
from dpcore.privacy.report.numbers import outward

LARGEST = 100.0  # epsilon: that of more than e^100 canaries
HALVINGS = 17  # of an interval between a number and its double


def one_run_p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """Probability that so many guesses are right if the training is (epsilon, delta)-DP for each canary, at most.

        P[W >= v] + 2 m delta max over i = 1 ... v of P[v > W >= v - i] / i,   W of Bin(r, e^epsilon / (1 + e^epsilon))

    with m canaries, r guesses and v right ones. Source: arXiv 2305.08846, Theorem 5.2.
    Errors: ValueError unless correct <= guesses <= canaries.

    >>> round(one_run_p_value(100, 50, 40, 0.0, 0.0), 8)  # 40 heads of 50 fair coins
    1.193e-05
    """
    check.whole(1, canaries=canaries)
    check.whole(0, canaries, guesses=guesses)
    check.whole(0, guesses, correct=correct)
    check.in_range(0, math.inf, epsilon=epsilon)
    check.in_range(0, 1, delta=delta)
    rate = 1 / (1 + math.exp(-epsilon))
    if correct == 0:
        return 1.0
    wrong = np.arange(1, correct + 1)
    tail = at_least(correct, guesses, rate)
    gap = float(np.max((at_least(correct - wrong, guesses, rate) - tail) / wrong))
    return min(1.0, float(tail) + 2 * canaries * delta * gap)


def one_run_epsilon(canaries: int, guesses: int, correct: int, delta: float, error: float) -> float:
    """Largest epsilon whose p-value is at most `error`: a lower bound that fails with this probability at most; or 0.

    Training that is (e, delta)-DP is so at every epsilon above e, so that all of those that are rejected are below its
    own.

    >>> round(one_run_epsilon(1000, 1000, 1000, 1e-5, 0.05), 2)
    5.78
    """

    return largest(lambda epsilon: one_run_p_value(canaries, guesses, correct, epsilon, delta) <= error, LARGEST)


def largest(rejected: Callable[[float], bool], most: float, halvings: int = HALVINGS) -> float:
    """The largest number from 0 to `most` that is rejected, from below; 0 if not even 0 is.

    It doubles from 1 and then halves the interval that is left. All below what is rejected must be so too.

    >>> round(largest(lambda number: number < 5, 100.0), 4), largest(lambda number: number < 500, 100.0)
    (5.0, 100.0)
    """
    if not rejected(0.0):
        return 0.0
    low, high = 0.0, min(1.0, most)
    while rejected(high):
        if high == most:
            return most
        low, high = high, min(2 * high, most)
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class OneRunFinding(Finding):
    """How well the scores of one run tell which canaries took part.

    Its p-value is that of the epsilon claimed, where one is.
    """

    title: ClassVar[str] = "One run"
    tests: ClassVar[str] = "Everything together: the whole training is as private as is claimed."
    untested: ClassVar[str] = (
        "Nothing is assumed but fair coins; a bound from one run is loose, so that finding nothing says little."
    )
    source: ClassVar[str] = "Steinke, Nasr and Jagielski 2023, arXiv 2305.08846, Theorem 5.2"

    canaries: int
    guesses: Guesses | None = None  # those that show most
    tried: int = 1  # numbers of guesses that were tried, which Bonferroni's correction pays for

    def _measured(self) -> str:
        made = self.guesses or Guesses(0, 0, 0)
        return (
            f"{made.correct} of {made.made} guesses are right, of {self.canaries:,} canaries: epsilon is at least "
            f"{outward(self.epsilon or 0.0, math.floor)}."
        )


def audit_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    delta: float,
    *,
    guesses: tuple[int, int] | None = None,
    choice: str = BONFERRONI,
    claimed: float | None = None,
    confidence: float = CONFIDENCE,
) -> OneRunFinding:
    """A lower bound of epsilon from the scores of m canaries and whether each took part, both (m,).

    `guesses` says how many canaries are guessed to be in, and out, if that was chosen before. Else several numbers are
    tried, and `choice` says how that is paid for: "bonferroni", each pays for all, or "split", one half of the canaries
    chooses and the other is counted.
    **Guarantees:** the bound fails with probability 1 - confidence at most, over the fair coins and the training,
    however the scores depend on one another.

    >>> included = np.random.default_rng(0).random(1000) < 0.5
    >>> found = audit_one_run(included * 1.0, included, 1e-5, claimed=3.0)
    >>> round(found.epsilon, 1), found.rejected, audit_one_run(np.ones(9), included[:9], 1e-5).shows
    (4.7, True, 'Nothing can be shown: all scores are equal.')
    """
    score, inside = scored(scores, included)
    check.in_range(0, 1, ends="()", confidence=confidence)
    check.one_of(CHOICES, choice=choice)
    if note := trouble(scores=score) or constant("scores", score) or too_few(score.size, confidence):
        return OneRunFinding(confidence=confidence, canaries=score.size, note=note)

    def worth(canaries: int, made: Guesses) -> float:
        return one_run_epsilon(canaries, made.made, made.correct, delta, 1 - confidence)

    seen = attempts(score, inside, guesses, choice, worth)
    epsilon, best = best_of(seen, delta, (1 - confidence) / len(seen.tried))
    return OneRunFinding(
        confidence=confidence,
        p_value=None if claimed is None else _of_claim(seen, claimed, delta),
        epsilon=epsilon,
        evidence=Evidence.BOUND,
        canaries=seen.canaries,
        guesses=best,
        tried=len(seen.tried),
    )


def best_of(seen: Attempts, delta: float, error: float) -> tuple[float, Guesses]:
    """The largest lower bound of epsilon that any of the guesses gives at an error, and those guesses."""
    found = [one_run_epsilon(seen.canaries, each.made, each.correct, delta, error) for each in seen.tried]
    best = int(np.argmax(found))
    return found[best], seen.tried[best]


def _of_claim(seen: Attempts, claimed: float, delta: float) -> float:
    return bonferroni(one_run_p_value(seen.canaries, each.made, each.correct, claimed, delta) for each in seen.tried)


def too_few(canaries: int, confidence: float) -> str:
    """A sentence where even guesses that are all right would show nothing: 2^-m is more than the error allowed."""
    least = math.ceil(-math.log2(1 - confidence))
    if canaries >= least:
        return ""
    return f"Nothing can be shown: {canaries} canaries are too few for a confidence of {confidence:g}; take {least}."
