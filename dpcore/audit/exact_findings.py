"""Findings that are no matter of chance: what is charged, against what was seen to happen."""

import math
from dataclasses import dataclass
from typing import ClassVar, final

from dpcore.audit.bounds.finding import CONFIDENCE, Evidence, Finding
from dpcore.audit.bounds.lower_epsilon import lower_epsilon
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest, outward

ALLOWED = 1e-3  # of the clipping norm: gradients and sums of float32 are rounded, and not alike in two ways of summing


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class GradientsFinding(Finding):
    """Whether the clipped gradients that are summed are those that are charged for."""

    title: ClassVar[str] = "Gradients"
    tests: ClassVar[str] = "What the engine sums are clipped gradients, as autograd gives them one example at a time."
    untested: ClassVar[str] = "Examples and steps that were not tried; how far a gradient of another length would go."
    source: ClassVar[str] = "Abadi et al. 2016, arXiv 1607.00133, Algorithm 1"

    tried: int
    largest: float  # distance of the two, in clipping norms

    def _measured(self) -> str:
        far = nearest(self.largest, 3)
        return f"None of {self.tried} examples tried is more than {far} clipping norms off the audit's own gradient."


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class HistoryFinding(Finding):
    """Whether the trainer remembers more than it released."""

    title: ClassVar[str] = "History"
    tests: ClassVar[str] = "What a step leaves behind is a function of its release: noise covers all that is kept."
    untested: ClassVar[str] = "Memory that shows in later steps only; examples and steps that were not tried."
    source: ClassVar[str] = "composition of adaptive mechanisms: a release may depend on earlier data by releases only"

    tried: int
    largest: float  # how far an example moved the release of a batch that it is not in, in clipping norms

    def _measured(self) -> str:
        far = nearest(self.largest, 3)
        return (
            f"Of {self.tried} examples tried, one that leaves an earlier batch moves a later release, whose batch it "
            f"is not in, by up to {far} clipping norms, though the earlier release stays as it was; 0 is charged."
        )


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasesFinding(Finding):
    """Whether everything that was released is charged."""

    title: ClassVar[str] = "Releases"
    tests: ClassVar[str] = "As many noisy sums are charged as were released."
    untested: ClassVar[str] = "How much noise each has, and what else left the trainer: losses, norms, accuracies."
    source: ClassVar[str] = "composition: each release is charged, whatever becomes of it"

    released: int
    charged: int

    def _measured(self) -> str:
        more = ""
        if self.epsilon is not None:
            more = f"; with all of them epsilon is at least {outward(self.epsilon, math.floor)}"
        return f"{self.released:,} noisy sums were released and {self.charged:,} are charged{more}."


def audit_gradients(distances: list[float], *, tried: int, confidence: float = CONFIDENCE) -> Finding:
    """What distances of clipped gradients from the audit's own show, in clipping norms; `tried` examples gave them."""
    if not distances:
        return GradientsFinding(confidence=confidence, tried=0, largest=0.0, note=nothing("step"))
    largest = max(distances)
    p_value = _certain(largest > ALLOWED)
    return GradientsFinding(confidence=confidence, p_value=p_value, tried=tried, largest=largest)


def audit_history(moves: list[float], *, tried: int, confidence: float = CONFIDENCE) -> Finding:
    """What moves of a release by an example that is not in its batch show, in clipping norms.

    >>> audit_history([0.0, 2.5], tried=4).p_value, audit_history([0.0], tried=2).p_value
    (0.0, 1.0)
    """
    if not moves:
        return HistoryFinding(confidence=confidence, tried=0, largest=0.0, note=nothing("step"))
    largest = max(moves)
    return HistoryFinding(confidence=confidence, p_value=_certain(largest > ALLOWED), tried=tried, largest=largest)


def audit_releases(
    released: Mechanism, claim: Mechanism | None, delta: float, *, confidence: float = CONFIDENCE
) -> Finding:
    """What follows from the releases that were seen and those that are charged; no claim charges none.

    Where all are charged, that shows no epsilon beside the one that is claimed.

    >>> seen, claim = Mechanism.constant(0.1, 2.0, 20), Mechanism.constant(0.1, 2.0, 15)
    >>> audit_releases(seen, claim, 1e-5).rejected, audit_releases(claim, claim, 1e-5).rejected
    (True, False)
    """
    charged = claim.steps if claim else 0
    more = released.steps > charged
    return ReleasesFinding(
        confidence=confidence,
        p_value=_certain(more),
        epsilon=lower_epsilon(released, delta) if more else None,
        evidence=Evidence.CONDITIONAL,
        released=released.steps,
        charged=charged,
    )


def nothing(what: str) -> str:
    """A sentence where there was nothing to look at."""
    return f"Nothing can be shown: no {what} with an example was seen."


def _certain(wrong: bool) -> float:
    return 0.0 if wrong else 1.0
