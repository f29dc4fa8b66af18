"""The outcome of an audit, and the numbers that it is given.

An outcome is a p-value, a lower bound of epsilon, and how far either can be trusted. Numbers of a wrong shape are
errors, and numbers from which nothing follows give a sentence.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore import check
from dpcore.privacy import words_in
from dpcore.privacy.mechanism import FloatArray

CONFIDENCE = 0.95


def words_of(audit: str) -> tuple[str, str, str]:
    """The title of an audit, the assumption that it tests, and what it leaves untested."""
    words = words_in(Path(__file__).with_name("findings.toml"))[audit]
    return words["title"], words["tests"], words["untested"]


class Evidence(StrEnum):
    """Degrees of trust in a lower bound of epsilon."""

    BOUND = "bound"  # holds at the confidence, whatever the trainer does
    CONDITIONAL = "conditional"  # holds at the confidence, if what the audit leaves untested is as it is charged
    ESTIMATE = "estimate"  # no bound: rests on an assumption that is known to hold at most roughly


@dataclass(frozen=True, kw_only=True, eq=False)
class Finding(ABC):
    """The outcome of one audit; subclasses are final and add what it measured.

    Where nothing can be shown, `p_value` and `epsilon` are None and `note` is a sentence that says why. An audit that
    has no test, or no epsilon, leaves that one None.
    """

    title: ClassVar[str]
    tests: ClassVar[str]  # the assumption that it tests
    untested: ClassVar[str]  # what may be false although it finds nothing

    confidence: float = CONFIDENCE
    p_value: float | None = None  # if the assumption holds, at most this probable to look as bad or worse
    epsilon: float | None = None  # lower bound; may be infinite
    evidence: Evidence = Evidence.BOUND  # what kind of number `epsilon` is
    note: str = ""

    def __post_init__(self) -> None:
        check.in_range(0, 1, ends="()", confidence=self.confidence)

    @property
    def rejected(self) -> bool:
        """True if the assumption is rejected at the confidence."""
        return self.p_value is not None and self.p_value <= 1 - self.confidence

    @property
    def shows(self) -> str:
        """A sentence: what was measured, or why nothing could be."""
        return self.note if self.p_value is None and self.epsilon is None else self._measured()

    @abstractmethod
    def _measured(self) -> str:
        """The sentence where there is a number."""


def bonferroni(p_values: Iterable[float]) -> float:
    """One p-value for several tests: the smallest, times their number.

    **Guarantees:** holds however the tests depend on one another. Edge case: without a test it is 1.

    >>> round(bonferroni([0.01, 0.5]), 12), bonferroni([0.9, 0.8]), bonferroni([])
    (0.02, 1.0, 1.0)
    """
    known = list(p_values)
    return min([1.0, *(len(known) * each for each in known)])


def numbers(name: str, values: ArrayLike, dimensions: int = 1) -> FloatArray:
    """The values as an array of floats.

    Errors: ValueError if it has not so many dimensions.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise ValueError(f"Expected {name} of shape {array.shape} to have {dimensions} dimensions.")
    return array


def flags(name: str, values: ArrayLike, dimensions: int = 1) -> NDArray[np.bool_]:
    """The values, which are false, true, 0 or 1, as an array of flags.

    Errors: ValueError if they are anything else, or have not so many dimensions.
    """
    array = np.asarray(values)
    if array.ndim != dimensions:
        raise ValueError(f"Expected {name} of shape {array.shape} to have {dimensions} dimensions.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"Expected {name} to be false or true.")
    return array.astype(np.bool_)


def scores_and_flags(scores: ArrayLike, included: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The scores of canaries and whether each was in the training data, both (m,).

    Errors: ValueError if they are not as many.
    """
    score, inside = numbers("scores", scores), flags("included", included)
    if score.shape != inside.shape:
        raise ValueError(f"Expected included of shape {inside.shape} to have the shape {score.shape} of scores.")
    return score, inside


def trouble(**arrays: FloatArray) -> str:
    """Why nothing can be shown from the arrays; "" where something can.

    Numbers that are not finite are not left out: whether one is may depend on who took part.

    >>> trouble(scores=np.array([1.0, np.nan])), trouble(losses=np.zeros(0)), trouble(scores=np.ones(2))
    ('Nothing can be shown: 1 of 2 scores is not a finite number.', 'Nothing can be shown: there are no losses.', '')
    """
    for name, array in arrays.items():
        words = name.replace("_", " ")
        if array.size == 0:
            return f"Nothing can be shown: there are no {words}."
        if bad := int(np.count_nonzero(~np.isfinite(array))):
            verb = "is not a finite number" if bad == 1 else "are not finite numbers"
            return f"Nothing can be shown: {bad} of {array.size} {words} {verb}."
    return ""


def constant(words: str, *arrays: FloatArray) -> str:
    """A sentence where all numbers, which are called `words`, are one number; "" otherwise."""
    together = np.concatenate(arrays)
    return f"Nothing can be shown: all {words} are equal." if np.ptp(together) == 0 else ""
