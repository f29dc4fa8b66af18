"""Outcomes of an audit's tests, and checks of the numbers that they take.

An outcome is a p-value, a lower bound of epsilon, and the trust that either deserves. Numbers of a
wrong shape raise an error; numbers from which nothing follows give a sentence.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore import check
from dpcore.privacy import words_in
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import outward

Flags = NDArray[np.bool_]

CONFIDENCE = 0.95
# Name -> its words, in the order of the reports.
TESTS = words_in(Path(__file__).with_name("findings.toml"))


class Evidence(StrEnum):
    """Degrees of trust in a lower bound of epsilon."""

    BOUND = "bound"  # holds at the confidence, whatever the trainer does
    # Holds at the confidence if all that the test leaves untested is as charged.
    CONDITIONAL = "conditional"
    ESTIMATE = "estimate"  # no bound: its assumption holds only roughly


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Finding:
    """The outcome of one test; one that shows nothing has neither a p-value nor an epsilon."""

    confidence: float = CONFIDENCE
    # Upper bound of the chance to look as bad or worse if the assumption holds.
    p_value: float | None = None
    epsilon: float | None = None  # lower bound; may be infinite
    evidence: Evidence = Evidence.BOUND  # of `epsilon`
    shows: str  # a sentence: the measurement, or the reason why there is none
    # Measurements by names; events keep the finite numbers.
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check.in_range(0, 1, ends="()", confidence=self.confidence)

    @property
    def rejected(self) -> bool:
        """True if the test rejects its assumption at the confidence."""
        return self.p_value is not None and self.p_value <= 1 - self.confidence


def nothing(note: str, confidence: float, **figures: float) -> Finding:
    """Return the finding of a test that shows nothing, for the reason in the note."""
    return Finding(confidence=confidence, shows=note, figures=figures)


def least(epsilon: float) -> str:
    """Write a lower bound of epsilon, rounded down.

    >>> least(1.23456)
    '1.23'
    """
    return outward(epsilon, math.floor)


def bonferroni(p_values: Iterable[float]) -> float:
    """Return one p-value for several tests: the smallest, times their number; 1 without a test.

    **Guarantees:** holds however the tests depend on one another.

    >>> round(bonferroni([0.01, 0.5]), 12), bonferroni([0.9, 0.8]), bonferroni([])
    (0.02, 1.0, 1.0)
    """
    known = list(p_values)
    if not known:
        return 1.0
    return min(1.0, len(known) * min(known))


def numbers(name: str, values: ArrayLike, dimensions: int = 1) -> FloatArray:
    """Return the values as an array of floats.

    Errors: ValueError for another number of dimensions.
    """
    array = np.asarray(values, dtype=np.float64)
    _check_dimensions(name, array, dimensions)
    return array


def flags(name: str, values: ArrayLike, dimensions: int = 1) -> Flags:
    """Return values of 0 or 1 as an array of flags.

    Errors: ValueError for others, or another number of dimensions.
    """
    array = np.asarray(values)
    _check_dimensions(name, array, dimensions)
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"Expected {name} to be false or true.")
    return array.astype(np.bool_)


def _check_dimensions(name: str, array: np.ndarray, dimensions: int) -> None:
    if array.ndim != dimensions:
        raise ValueError(f"Expected {name} of shape {array.shape} to have {dimensions} dimensions.")


def scores_and_flags(scores: ArrayLike, included: ArrayLike) -> tuple[FloatArray, Flags]:
    """Return the scores of canaries and their membership, both (m,).

    Errors: ValueError if their numbers differ.
    """
    score = numbers("scores", scores)
    inside = flags("included", included)
    if score.shape != inside.shape:
        raise ValueError(
            f"Expected included of shape {inside.shape} to have the shape {score.shape} of scores."
        )
    return score, inside


def trouble(**arrays: FloatArray) -> str:
    """Say why the arrays show nothing; "" where they may show something.

    A number that is not finite is not left out: its presence may depend on the training data.

    >>> trouble(scores=np.array([1.0, np.nan]))
    'Nothing can be shown: 1 of 2 scores is not a finite number.'
    >>> trouble(losses=np.zeros(0))
    'Nothing can be shown: there are no losses.'
    >>> trouble(scores=np.ones(2))
    ''
    """
    for name, array in arrays.items():
        words = name.replace("_", " ")
        if array.size == 0:
            return f"Nothing can be shown: there are no {words}."
        bad = int(np.count_nonzero(~np.isfinite(array)))
        if bad:
            verb = "is not a finite number" if bad == 1 else "are not finite numbers"
            return f"Nothing can be shown: {bad} of {array.size} {words} {verb}."
    return ""


def constant(words: str, *arrays: FloatArray) -> str:
    """Return a sentence if all numbers are equal, "" otherwise; `words` names them."""
    if np.ptp(np.concatenate(arrays)):
        return ""
    return f"Nothing can be shown: all {words} are equal."


def two_samples(scores_in: ArrayLike, scores_out: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return scores with the canary (n,) and without it (k,)."""
    return numbers("scores_in", scores_in), numbers("scores_out", scores_out)


def trouble_of_scores(inside: FloatArray, outside: FloatArray) -> str:
    """Say why scores with and without the canary show nothing; "" where they may show something."""
    note = trouble(scores_with_the_canary=inside, scores_without_it=outside)
    return note or constant("scores", inside, outside)
