"""What an audit shows: a p-value, a lower bound of epsilon, and how far either can be trusted."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from dpcore import check

CONFIDENCE = 0.95


class Evidence(StrEnum):
    """How far a lower bound of epsilon can be trusted."""

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
    source: ClassVar[str]

    confidence: float = CONFIDENCE
    p_value: float | None = None  # if the assumption holds, at most this probable to look as bad or worse
    epsilon: float | None = None  # lower bound; may be infinite
    evidence: Evidence = Evidence.BOUND  # what kind of number `epsilon` is
    note: str = ""

    def __post_init__(self) -> None:
        check.in_range(0, 1, ends="()", confidence=self.confidence)

    @property
    def rejected(self) -> bool:
        """Whether the assumption is rejected at the confidence."""
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
