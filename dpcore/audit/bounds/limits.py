"""What an audit of so many canaries can show at most, and what it shows of the best canaries that theory allows."""

from typing import NamedTuple

import numpy as np

from dpcore import check
from dpcore.audit.bounds.finding import CONFIDENCE
from dpcore.audit.bounds.guesses import Attempts, Guesses, options
from dpcore.audit.bounds.one_run import best_of, one_run_epsilon
from dpcore.audit.bounds.score_laws import ScoreLaws
from dpcore.privacy.types import FloatArray


def most_of_one_run(canaries: int, delta: float, confidence: float = CONFIDENCE) -> float:
    """The lower bound of epsilon that one run shows if the guesses of all m canaries are right: none shows more.

    >>> [round(most_of_one_run(m, 1e-5), 2) for m in (4, 100, 1000)]
    [0.0, 3.49, 5.78]
    """
    check.in_range(0, 1, ends="()", confidence=confidence)
    return one_run_epsilon(canaries, canaries, canaries, delta, 1 - confidence)


class Expected(NamedTuple):
    """What the best canaries show in one run, about: with as many right guesses as are expected."""

    epsilon: float
    guesses: Guesses


def expected_of_one_run(laws: ScoreLaws, canaries: int, delta: float, confidence: float = CONFIDENCE) -> Expected:
    """What `audit_one_run` shows of so many canaries whose scores have these laws, about."""
    seen = _expected(laws, canaries)
    return Expected(*best_of(seen, delta, (1 - confidence) / len(seen.tried)))


def _expected(laws: ScoreLaws, canaries: int) -> Attempts:
    check.whole(1, canaries=canaries)
    return Attempts(canaries, tuple(expected_guesses(laws, canaries, *each) for each in options(canaries)))


def expected_guesses(laws: ScoreLaws, canaries: int, inside: int, outside: int) -> Guesses:
    """How many guesses are right on average, where half of the canaries are in, rounded down.

    The guesses of who is in are those beyond the score that so large a share of all canaries is beyond; of them the
    part of those that are in is right.
    """
    false, true = laws.shares_above()
    beyond = (false + true) / 2  # falling with the score
    right_in = canaries * _at(beyond, true / 2, inside / canaries)
    right_out = canaries * _at(1 - beyond, (1 - false) / 2, outside / canaries)
    return Guesses(inside, outside, int(right_in + right_out + 1e-9))


def _at(share: FloatArray, right: FloatArray, wanted: float) -> float:
    order = np.argsort(share, kind="stable")
    return float(np.interp(wanted, np.append(0.0, share[order]), np.append(0.0, right[order])))
