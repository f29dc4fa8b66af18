"""How far one example moves the sum that is released, against the clipping norm that is charged."""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.finding import CONFIDENCE, Evidence, Finding
from dpcore.audit.bounds.inputs import numbers, trouble
from dpcore.audit.bounds.lower_epsilon import epsilon_with_noise
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest, outward

ALLOWED = 1e-4  # of the clipping norm: sums of float32 are rounded


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class InfluenceFinding(Finding):
    """The largest influence of any example that was tried. It is no matter of chance: its p-value is 0 or 1."""

    title: ClassVar[str] = "Influence"
    tests: ClassVar[str] = "No example moves the sum that is released by more than the clipping norm."
    untested: ClassVar[str] = "Examples and weights that were not tried; the noise and the sampling."
    source: ClassVar[str] = "the definition of sensitivity"

    tried: int
    largest: float | None = None  # in clipping norms
    place: int | None = None  # which of those that were tried

    def _measured(self) -> str:
        bound, moved = outward(self.epsilon or 0.0, math.floor), nearest(self.largest or 0.0)
        return (
            f"Of {self.tried:,} examples tried the one that moves a sum most moves it by {moved} clipping norms; where "
            f"one can do so in every step, epsilon is at least {bound}."
        )


def audit_influence(
    influences: ArrayLike,
    mechanism: Mechanism,
    delta: float,
    *,
    clip_norm: float = 1.0,
    allowed: float = ALLOWED,
    confidence: float = CONFIDENCE,
) -> InfluenceFinding:
    """What the lengths by which examples moved the sum (k,) show of the clipping norm and of epsilon.

    An influence is the length of (sum with the example - sum without it), before noise. `allowed`, in clipping norms,
    is what the rounding of both sums can make of it; so much is taken off before epsilon is computed: that of the
    mechanism with noise of sigma C / influence, from below. An example that always moves the sum less than C costs less
    than is charged, and shows a smaller epsilon.
    Errors: ValueError if an influence is negative.

    >>> found = audit_influence([0.5, 2.0], Mechanism.constant(q=1.0, sigma=4.0, steps=4), 1e-5)
    >>> found.rejected, round(found.epsilon, 2)  # as 1-GDP
    (True, 4.38)
    """
    check.positive(clip_norm=clip_norm)
    check.in_range(0, 1, allowed=allowed)
    lengths = numbers("influences", influences) / clip_norm
    if note := trouble(influences=lengths):
        return InfluenceFinding(confidence=confidence, tried=lengths.size, note=note)
    check.in_range(0, math.inf, influence=float(lengths.min()))
    largest = float(lengths.max())
    sure = max(largest - allowed, 0.0)
    return InfluenceFinding(
        confidence=confidence,
        p_value=0.0 if sure > 1 else 1.0,
        epsilon=_with_sensitivity(mechanism, sure, delta),
        evidence=Evidence.CONDITIONAL,
        tried=lengths.size,
        largest=largest,
        place=int(np.argmax(lengths)),
    )


def _with_sensitivity(mechanism: Mechanism, sensitivity: float, delta: float) -> float:
    return epsilon_with_noise(mechanism, 1 / sensitivity, delta) if sensitivity > 0 else 0.0
