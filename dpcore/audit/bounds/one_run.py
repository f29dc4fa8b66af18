"""The audit in one run: fair coins put canaries in or out of the training data, and scores guess
which are in.

Source: Steinke, Nasr and Jagielski 2023, Privacy auditing with one (1) training run, arXiv
2305.08846, Theorem 5.2.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import at_least
from dpcore.audit.bounds.finding import (
    CONFIDENCE,
    Finding,
    Flags,
    bonferroni,
    constant,
    least,
    nothing,
    scores_and_flags,
    trouble,
)
from dpcore.audit.bounds.score_laws import ScoreLaws
from dpcore.privacy.mechanism import FloatArray

# Shares of the canaries guessed to be in and to be out; the attacker abstains on the rest. In
# subsampled training few canaries leave a trace, but a clear one, so some options guess only
# members.
OPTIONS = (
    (0.01, 0.0),
    (0.03, 0.0),
    (0.1, 0.0),
    (0.25, 0.0),
    (0.01, 0.01),
    (0.05, 0.05),
    (0.15, 0.15),
    (0.3, 0.3),
    (0.5, 0.5),
)
MAX_EPSILON = 100.0  # would take more than e^100 canaries
HALVINGS = 17  # of an interval between a number and its double
PLACES = int.from_bytes(b"places")  # seed of the order of canaries; no coin uses it


class Guesses(NamedTuple):
    """Numbers of guesses "in", guesses "out", and right guesses."""

    inside: int
    outside: int
    correct: int

    @property
    def made(self) -> int:
        return self.inside + self.outside


def ranked(scores: FloatArray, included: Flags, inside: int, outside: int) -> Guesses:
    """Guess that the canaries with the highest scores are in, and those with the lowest out.

    Equal scores are ranked by place, which must not depend on membership: see `attempts`.

    >>> ranked(np.array([3.0, 1.0, 2.0, 0.0]), np.array([True, False, False, True]), 1, 2)
    Guesses(inside=1, outside=2, correct=2)
    """
    order = np.argsort(-scores, kind="stable")
    right_in = int(included[order[:inside]].sum())
    right_out = int((~included[order[len(order) - outside :]]).sum())
    return Guesses(inside, outside, right_in + right_out)


def options(canaries: int) -> list[tuple[int, int]]:
    """Return the numbers of guesses in and out to try; they depend on the number of canaries alone.

    >>> options(4)
    [(1, 0), (1, 1), (2, 2)]
    """
    counts = []
    for up, down in OPTIONS:
        inside = math.ceil(up * canaries)
        outside = min(math.ceil(down * canaries), canaries - inside)
        if (inside, outside) not in counts:
            counts.append((inside, outside))
    return counts


def attempts(scores: FloatArray, included: Flags) -> tuple[Guesses, ...]:
    """Return the guesses of all options, each of which pays for all.

    Canaries are first shuffled by a fixed seed: scores often come with members first, so the place
    of an equal score would reveal membership.
    """
    order = np.random.default_rng(PLACES).permutation(scores.size)
    counts = options(scores.size)
    return tuple(ranked(scores[order], included[order], *each) for each in counts)


def one_run_p_value(
    canaries: int, guesses: int, correct: int, epsilon: float, delta: float
) -> float:
    """Bound the probability of this many right guesses if the training is (epsilon, delta)-DP for
    each canary:

        P[W >= v] + 2 m delta max over i = 1 ... v of P[v > W >= v - i] / i

    with m canaries, r guesses, v right ones, and W of Bin(r, e^epsilon / (1 + e^epsilon)).
    Source: arXiv 2305.08846, Theorem 5.2.
    Errors: ValueError unless correct <= guesses <= canaries.

    >>> round(one_run_p_value(100, 50, 40, 0.0, 0.0), 8)  # 40 heads of 50 fair coins
    1.193e-05
    """
    check_counts(canaries, guesses, correct)
    check.in_range(0, math.inf, epsilon=epsilon)
    check.in_range(0, 1, delta=delta)
    rate = 1 / (1 + math.exp(-epsilon))
    if correct == 0:
        return 1.0
    wrong = np.arange(1, correct + 1)
    tail = at_least(correct, guesses, rate)
    gap = float(np.max((at_least(correct - wrong, guesses, rate) - tail) / wrong))
    return min(1.0, float(tail) + 2 * canaries * delta * gap)


def check_counts(canaries: int, guesses: int, correct: int) -> None:
    """Raise ValueError unless correct <= guesses <= canaries, all whole numbers."""
    check.whole(1, canaries=canaries)
    check.whole(0, canaries, guesses=guesses)
    check.whole(0, guesses, correct=correct)


def one_run_epsilon(canaries: int, guesses: int, correct: int, delta: float, error: float) -> float:
    """Return the largest epsilon whose p-value is at most `error`, or 0.

    It is a lower bound, wrong with a chance of at most `error`: what is (e, delta)-DP is so at
    every epsilon above e as well, so whoever rejects an epsilon from there on rejects a true claim.

    >>> round(one_run_epsilon(1000, 1000, 1000, 1e-5, 0.05), 2)
    5.78
    """

    def rejected(epsilon: float) -> bool:
        return one_run_p_value(canaries, guesses, correct, epsilon, delta) <= error

    return largest(rejected, MAX_EPSILON)


def largest(rejected: Callable[[float], bool], most: float, halvings: int = HALVINGS) -> float:
    """Return the largest rejected number from 0 to `most`, from below; 0 if 0 is not rejected.

    It doubles from 1, then halves the interval. Every number below a rejected one must be rejected
    too.

    >>> round(largest(lambda number: number < 5, 100.0), 4)
    5.0
    >>> largest(lambda number: number < 500, 100.0)
    100.0
    """
    if not rejected(0.0):
        return 0.0
    low = 0.0
    high = min(1.0, most)
    while rejected(high):
        if high == most:
            return most
        low = high
        high = min(2 * high, most)
    for _ in range(halvings):
        middle = (low + high) / 2
        if rejected(middle):
            low = middle
        else:
            high = middle
    return low


def sentence_of(best: Guesses, canaries: int, epsilon: float, condition: str = "") -> str:
    """Say how many of the guesses are right, and the lower bound of epsilon under its condition."""
    bound = f"{least(epsilon)} {condition}".strip()
    return (
        f"{best.correct} of {best.made} guesses on {canaries:,} canaries are right: epsilon is at"
        f" least {bound}."
    )


def audit_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    delta: float,
    *,
    claimed: float | None = None,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Bound epsilon from the scores of m canaries and their membership, both (m,); the p-value
    tests `claimed`.

    Several numbers of guesses are tried, and Bonferroni's correction pays for all of them.
    **Guarantees:** the bound fails with probability 1 - confidence at most, over the fair coins and
    the training, whatever the dependence between scores.

    >>> included = np.random.default_rng(0).random(1000) < 0.5
    >>> found = audit_one_run(included * 1.0, included, 1e-5, claimed=3.0)
    >>> round(found.epsilon, 1), found.rejected, audit_one_run(np.ones(9), included[:9], 1e-5).shows
    (4.7, True, 'Nothing can be shown: all scores are equal.')
    """
    score, inside = scores_and_flags(scores, included)
    canaries = score.size
    note = no_guesses(score, confidence)
    if note:
        return nothing(note, confidence, canaries=canaries)
    tried = attempts(score, inside)
    epsilon, best = best_guesses(canaries, tried, delta, confidence)
    p_value = None
    if claimed is not None:
        p_value = bonferroni(
            one_run_p_value(canaries, each.made, each.correct, claimed, delta) for each in tried
        )
    return Finding(
        confidence=confidence,
        p_value=p_value,
        epsilon=epsilon,
        shows=sentence_of(best, canaries, epsilon),
        figures={
            "canaries": canaries,
            "tried": len(tried),  # numbers of guesses, for Bonferroni's correction
        },
    )


def best_guesses(
    canaries: int, tried: Sequence[Guesses], delta: float, confidence: float
) -> tuple[float, Guesses]:
    """Return the largest lower bound of epsilon that any of the guesses gives, and those guesses;
    the error allowed is divided among all.
    """
    error = (1 - confidence) / len(tried)
    found = [one_run_epsilon(canaries, each.made, each.correct, delta, error) for each in tried]
    best = int(np.argmax(found))
    return found[best], tried[best]


def no_guesses(scores: FloatArray, confidence: float) -> str:
    """Say why guesses by these scores show nothing; "" where they may show something.

    Even right guesses only show nothing if 2^-m exceeds the error allowed.
    """
    check.in_range(0, 1, ends="()", confidence=confidence)
    note = trouble(scores=scores) or constant("scores", scores)
    fewest = math.ceil(-math.log2(1 - confidence))
    if note or scores.size >= fewest:
        return note
    return (
        f"Nothing can be shown: {scores.size} canaries are too few for a confidence of"
        f" {confidence:g}; take {fewest}."
    )


def most_of_one_run(canaries: int, delta: float, confidence: float = CONFIDENCE) -> float:
    """Return the most that one run can show: its lower bound of epsilon if all m guesses are right.

    >>> [round(most_of_one_run(m, 1e-5), 2) for m in (4, 100, 1000)]
    [0.0, 3.49, 5.78]
    """
    check.in_range(0, 1, ends="()", confidence=confidence)
    return one_run_epsilon(canaries, canaries, canaries, delta, 1 - confidence)


def expected_of_one_run(
    laws: ScoreLaws, canaries: int, delta: float, confidence: float = CONFIDENCE
) -> float:
    """Return the lower bound of epsilon from the expected number of right guesses, for scores with
    these laws.
    """
    check.whole(1, canaries=canaries)
    tried = [expected_guesses(laws, canaries, *each) for each in options(canaries)]
    return best_guesses(canaries, tried, delta, confidence)[0]


def expected_guesses(laws: ScoreLaws, canaries: int, inside: int, outside: int) -> Guesses:
    """Return the average number of right guesses, rounded down, if half of the canaries are in.

    The guesses "in" are the canaries beyond the score that leaves their share beyond it; the
    members among them are right.
    """
    false, true = laws.shares_above()
    beyond = (false + true) / 2  # falls with the score
    right_in = canaries * _at(beyond, true / 2, inside / canaries)
    right_out = canaries * _at(1 - beyond, (1 - false) / 2, outside / canaries)
    return Guesses(inside, outside, int(right_in + right_out + 1e-9))


def _at(share: FloatArray, right: FloatArray, wanted: float) -> float:
    order = np.argsort(share, kind="stable")
    return float(np.interp(wanted, np.append(0.0, share[order]), np.append(0.0, right[order])))
