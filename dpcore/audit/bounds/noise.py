"""Tests of the noise in releases: its amount, and its independence between steps.

In a direction without gradients a release is noise alone: Normal(0, sigma^2) in units of the
clipping norm.
"""

import math
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammainc, gammaincinv

from dpcore import check
from dpcore.audit.bounds.binomial import epsilon_with_noise
from dpcore.audit.bounds.finding import (
    CONFIDENCE,
    Evidence,
    Finding,
    bonferroni,
    least,
    nothing,
    numbers,
    trouble,
)
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.report.numbers import outward

ROWS_AT_ONCE = 256  # steps compared with all others at once


def audit_noise(
    projections: ArrayLike,
    mechanism: Mechanism,
    delta: float,
    *,
    sigma: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Bound sigma and epsilon from n noisy sums, each projected on a direction without gradient.

    The p-value tests noise as large as charged.
    `projections` are in units of the clipping norm, of any shape; `sigma`, which broadcasts to
    them, is the one charged for each, and may be left out if all releases of the mechanism share
    one. **Guarantees:** if the noise is normal, the figure `factor_below` fails with probability 1
    - confidence at most; epsilon is a lower bound for the mechanism with that much noise. Errors:
    ValueError if sigma is left out of a mechanism with several.

    >>> drawn = np.random.default_rng(1).normal(0.0, 2.0, 10_000)
    >>> found = audit_noise(drawn, Mechanism.constant(q=1.0, sigma=2.0, steps=4), 1e-5)
    >>> round(found.figures["sigma_below"], 2), round(found.epsilon, 1), found.rejected
    (2.02, 4.3, False)
    """
    x = np.asarray(projections, dtype=np.float64)
    kinds = {release.sigma for release in mechanism.releases}
    if sigma is None:
        if len(kinds) > 1:
            raise ValueError(
                f"Expected sigma of each projection: the mechanism has {len(kinds)} different ones."
            )
        sigma = max(kinds)
    charged = np.asarray(sigma, dtype=np.float64)
    check.positive(sigma=float(charged.min(initial=inf)))
    note = trouble(projections=x)
    if note:
        return nothing(note, confidence, projections=x.size)
    total = float(np.sum((x / charged) ** 2))
    below = factor_below(total, x.size, confidence)
    sigma_below = None
    bound = f"the noise is at most {outward(below, math.ceil, 4)} of the noise charged"
    if len(kinds) == 1:
        sigma_below = below * max(kinds)
        bound = f"sigma is at most {outward(sigma_below, math.ceil, 4)}"
    epsilon = epsilon_with_noise(mechanism, below, delta)
    proven = f"epsilon is at least {least(epsilon)}"
    if epsilon == inf:
        proven = "no epsilon holds"
    return Finding(
        confidence=confidence,
        p_value=float(gammainc(x.size / 2, total / 2)),
        epsilon=epsilon,
        evidence=Evidence.CONDITIONAL,
        shows=f"From {x.size:,} numbers, {bound}: {proven} if all else is as charged.",
        figures={
            "projections": x.size,
            "factor": sqrt(total / x.size),  # measured noise over the noise charged
            "factor_below": below,  # its upper bound
            "sigma_below": sigma_below,  # upper bound of sigma, if all releases share one
        },
    )


def factor_below(total: float, projections: int, confidence: float) -> float:
    """Return an upper bound of noise over noise charged, from the sum of squares of projections
    over sigma.

    README.md, Theorem 1; chi2 is 2 P^-1(n/2, 1 - confidence), with P the regularised incomplete
    gamma function.

    >>> round(factor_below(10_000, 10_000, 0.95), 4)
    1.0118
    """
    check.in_range(0, 1, ends="()", confidence=confidence)
    quantile = 2 * float(gammaincinv(projections / 2, 1 - confidence))
    return sqrt(total / quantile) if quantile > 0 else inf


def audit_repetition(projections: ArrayLike, *, confidence: float = CONFIDENCE) -> Finding:
    """Test whether each step draws fresh noise, from projections (steps, k) on the same k
    directions.

    Two tests are exact for any standard deviation that all steps share. The largest correlation of
    two steps, times the number of pairs, finds a seed that is used twice. The share of the mean
    over steps in all squares finds a part that all steps share, and noise that is taken back later.
    Transposed, the projections compare directions.

    >>> fresh = np.random.default_rng(0).normal(size=(20, 50))
    >>> audit_repetition(fresh).rejected
    False
    >>> repeated = np.vstack([fresh, fresh[:1]])
    >>> audit_repetition(repeated).figures["pair"]
    (0, 20)
    """
    z = numbers("projections", projections, dimensions=2)
    steps, directions = z.shape
    length = np.sqrt(np.sum(z**2, axis=1))
    note = trouble(projections=z) or _incomparable(length, directions)
    if note:
        return nothing(note, confidence, steps=steps)
    correlation, (first, second) = _largest_correlation(z / length[:, None])
    pairs = steps * (steps - 1) / 2
    # (1 + r) / 2 has the law Beta((k - 1) / 2, (k - 1) / 2), and the two tails of r are alike.
    half = (directions - 1) / 2
    tail = float(betainc(half, half, max((1 - abs(correlation)) / 2, 0.0)))
    p_pair = min(1.0, 2 * pairs * tail)
    p_together = _together(z)
    return Finding(
        confidence=confidence,
        p_value=bonferroni([p_pair, p_together]),
        shows=(
            f"Among {steps:,} steps, steps {first} and {second} have the most correlated noise:"
            f" {correlation:.3f}."
        ),
        figures={
            "steps": steps,
            "correlation": correlation,  # the largest of any two steps, by size
            "pair": (first, second),  # its steps, from 0
            "p_pair": p_pair,
            "p_together": p_together,
        },
    )


def _incomparable(length: FloatArray, directions: int) -> str:
    """Say why steps of these lengths cannot be compared; "" if they can."""
    steps = len(length)
    if min(steps, directions) < 2:
        return (
            f"Nothing can be shown of {steps} steps in {directions} directions: the test needs two"
            " of each."
        )
    if not length.all():
        return "Nothing can be shown: the noise of a step is 0 in every direction."
    return ""


def _largest_correlation(unit: FloatArray) -> tuple[float, tuple[int, int]]:
    """Return the largest product by size of two of (T, k) rows, and their places."""
    best = 0.0
    pair = (0, 1)
    for start in range(0, len(unit), ROWS_AT_ONCE):
        products = np.triu(unit[start : start + ROWS_AT_ONCE] @ unit[start:].T, k=1)
        row, column = divmod(int(np.argmax(np.abs(products))), products.shape[1])
        largest = float(products[row, column])
        if abs(largest) > abs(best):
            best = largest
            pair = (start + row, start + column)
    return max(-1.0, min(1.0, best)), pair


def _together(z: FloatArray) -> float:
    """Return the two-sided p-value of |sum of rows|^2 / T over all squares, of law Beta(k / 2, k (T
    - 1) / 2).
    """
    steps, directions = z.shape
    share = min(float(np.sum(z.sum(axis=0) ** 2) / steps / np.sum(z**2)), 1.0)
    mean = directions / 2
    rest = directions * (steps - 1) / 2
    below = float(betainc(mean, rest, share))
    above = float(betainc(rest, mean, 1 - share))
    return min(1.0, 2 * min(below, above))
