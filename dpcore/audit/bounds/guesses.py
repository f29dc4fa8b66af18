"""Guesses which canaries took part, made from their scores alone, and how many of them are right."""

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcore.privacy.types import FloatArray

# Shares of the canaries that are guessed to be in and to be out; all others are abstentions. In subsampled training few
# canaries leave a trace, but those that do leave a clear one: so some of the options say little of who is out.
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


BONFERRONI, SPLIT = "bonferroni", "split"
CHOICES = (BONFERRONI, SPLIT)  # how trying several numbers of guesses is paid for
PLACES = int.from_bytes(b"places")  # seed of the order of canaries, which nobody's coins are flipped by


class Guesses(NamedTuple):
    """How many canaries were guessed to be in and out, and how many guesses were right."""

    inside: int
    outside: int
    correct: int

    @property
    def made(self) -> int:
        return self.inside + self.outside


class Attempts(NamedTuple):
    """What was guessed of so many canaries, in one or several ways of which each pays for all."""

    canaries: int
    tried: tuple[Guesses, ...]


def ranked(scores: FloatArray, included: NDArray[np.bool_], inside: int, outside: int) -> Guesses:
    """The canaries with the highest scores are guessed to be in, those with the lowest to be out.

    Equal scores are ranked by their place, which must say nothing of who took part: see `reordered`.

    >>> ranked(np.array([3.0, 1.0, 2.0, 0.0]), np.array([True, False, False, True]), 1, 2)
    Guesses(inside=1, outside=2, correct=2)
    """
    order = np.argsort(-scores, kind="stable")
    right_in = int(included[order[:inside]].sum())
    right_out = int((~included[order[len(order) - outside :]]).sum())
    return Guesses(inside, outside, right_in + right_out)


def reordered(scores: FloatArray, included: NDArray[np.bool_]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The same canaries in an order that depends on their number alone.

    Scores often come with those of all that took part first. Without this the place of an equal score would tell who
    did, and so would the half that it falls into.
    """
    order = np.random.default_rng(PLACES).permutation(scores.size)
    return scores[order], included[order]


def options(canaries: int) -> list[tuple[int, int]]:
    """The numbers of guesses in and out to choose from, which depend on the number of canaries alone.

    >>> options(4)
    [(1, 0), (1, 1), (2, 2)]
    """
    counts = ((ceil(up * canaries), ceil(down * canaries)) for up, down in OPTIONS)
    return list(dict.fromkeys((up, min(down, canaries - up)) for up, down in counts))


def attempts(
    scores: FloatArray,
    included: NDArray[np.bool_],
    chosen: tuple[int, int] | None,
    choice: str,
    worth: Callable[[int, Guesses], float],
) -> Attempts:
    """The guesses that count: those of numbers chosen before, or of all options, or of the one that half of the
    canaries, drawn by lot, shows to be worth most, counted on the other half.
    """
    scores, included = reordered(scores, included)
    if chosen is not None:
        return Attempts(scores.size, (ranked(scores, included, *chosen),))
    if choice == BONFERRONI:
        return Attempts(scores.size, tuple(ranked(scores, included, *each) for each in options(scores.size)))
    half = scores.size // 2
    first, second = ((scores[start::2][:half], included[start::2][:half]) for start in (0, 1))
    best = max(options(half), key=lambda each: worth(half, ranked(*first, *each)))
    return Attempts(half, (ranked(*second, *best),))
