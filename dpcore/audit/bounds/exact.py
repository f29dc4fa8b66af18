"""Tests without chance: the influence of one example, and the releases seen against the releases
charged.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import epsilon_with_noise, lower_epsilon
from dpcore.audit.bounds.finding import (
    CONFIDENCE,
    Evidence,
    Finding,
    least,
    nothing,
    numbers,
    trouble,
)
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest

# In clipping norms: float32 rounds gradients and sums, and two ways of summing round differently.
ALLOWED = 1e-3
ALLOWED_OF_A_SUM = 1e-4  # for two sums taken in the same way
NO_STEP = "Nothing can be shown: no step had an example."


def audit_influence(
    influences: ArrayLike,
    mechanism: Mechanism,
    delta: float,
    *,
    clip_norm: float = 1.0,
    allowed: float = ALLOWED_OF_A_SUM,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Compare influences (k,) with the clipping norm, and bound epsilon; the p-value is 0 or 1.

    An influence is the length of (sum with the example - sum without it), before noise. `allowed`,
    in clipping norms, covers the rounding of both sums and is subtracted first. Epsilon is a lower
    bound for the mechanism with noise of sigma C / influence, so an example that moves each sum by
    less than C shows less than is charged. Errors: ValueError if an influence is negative.

    >>> found = audit_influence([0.5, 2.0], Mechanism.constant(q=1.0, sigma=4.0, steps=4), 1e-5)
    >>> found.rejected, round(found.epsilon, 2)  # as 1-GDP
    (True, 4.38)
    """
    check.positive(clip_norm=clip_norm)
    check.in_range(0, 1, allowed=allowed)
    lengths = numbers("influences", influences) / clip_norm
    note = trouble(influences=lengths)
    if note:
        return nothing(note, confidence, tried=lengths.size)
    check.in_range(0, math.inf, influence=float(lengths.min()))
    largest = float(lengths.max())
    sure = max(largest - allowed, 0.0)
    epsilon = 0.0
    if sure > 0:
        epsilon = epsilon_with_noise(mechanism, 1 / sure, delta)
    return Finding(
        confidence=confidence,
        p_value=0.0 if sure > 1 else 1.0,
        epsilon=epsilon,
        evidence=Evidence.CONDITIONAL,
        shows=(
            f"Of {lengths.size:,} examples tried, one moves a sum by {nearest(largest)} clipping"
            f" norms. If one does so in every step, epsilon is at least {least(epsilon)}."
        ),
        figures={
            "tried": lengths.size,
            "largest": largest,  # in clipping norms
            "place": int(np.argmax(lengths)),  # among those tried
        },
    )


# of the engine's clipped gradients from the audit's own
GRADIENTS = (
    "Of {tried} examples tried, none is over {far} clipping norms from the audit's own gradient."
)
# Of releases that an example outside their batches moves: memory of the data beyond the releases.
HISTORY = (
    "{tried} examples were left out of an earlier batch. With its release unchanged, a later"
    " release moves by up to {far} clipping norms."
)


def audit_distances(
    sentence: str, distances: list[float], *, tried: int, confidence: float = CONFIDENCE
) -> Finding:
    """Compare distances of `tried` examples, in clipping norms, with the error of rounding.

    Only rounding may keep their vectors apart. The sentence is GRADIENTS or HISTORY.

    >>> [audit_distances(HISTORY, each, tried=4).p_value for each in ([0.0, 2.5], [0.0])]
    [0.0, 1.0]
    """
    if not distances:
        return nothing(NO_STEP, confidence, tried=tried, largest=0.0)
    largest = max(distances)
    return Finding(
        confidence=confidence,
        p_value=0.0 if largest > ALLOWED else 1.0,
        shows=sentence.format(tried=tried, far=nearest(largest, 3)),
        figures={"tried": tried, "largest": largest},
    )


def audit_releases(
    released: Mechanism | None,
    claim: Mechanism | None,
    delta: float,
    *,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Compare the releases seen, None for none, with those charged; no claim charges none.

    If all are charged, there is no epsilon.

    >>> seen, claim = Mechanism.constant(0.1, 2.0, 20), Mechanism.constant(0.1, 2.0, 15)
    >>> audit_releases(seen, claim, 1e-5).rejected, audit_releases(claim, claim, 1e-5).rejected
    (True, False)
    """
    seen = released.steps if released else 0
    charged = claim.steps if claim else 0
    p_value = 1.0
    epsilon = None
    end = ""
    if released and seen > charged:
        p_value = 0.0
        epsilon = lower_epsilon(released, delta)
        end = f"; epsilon of all is at least {least(epsilon)}"
    return Finding(
        confidence=confidence,
        p_value=p_value,
        epsilon=epsilon,
        evidence=Evidence.CONDITIONAL,
        shows=f"{seen:,} noisy sums were released and {charged:,} are charged{end}.",
        figures={"released": seen, "charged": charged},
    )
