"""The noise of the releases: how much of it there is, and whether it is drawn anew in every step.

In a direction in which no example has a gradient a release is noise alone: Normal(0, sigma^2) in units of the clip
norm.
"""

import math
from dataclasses import dataclass
from math import inf, sqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammainc, gammaincinv

from dpcore import check
from dpcore.audit.bounds.binomial import epsilon_with_noise
from dpcore.audit.bounds.finding import CONFIDENCE, Evidence, Finding, bonferroni, numbers, trouble, words_of
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.report.numbers import outward

ROWS_AT_ONCE = 256  # steps that are compared with all others at once


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseFinding(Finding):
    """The amount of noise, as a part of what is charged. Its p-value is that of noise as large as charged."""

    title, tests, untested = words_of("noise")

    projections: int
    factor: float | None = None  # measured noise over what is charged
    factor_below: float | None = None  # upper bound of it
    sigma_below: float | None = None  # the same of sigma, where all releases have one

    def _measured(self) -> str:
        below = "the noise" if self.sigma_below is None else "sigma"
        bound = self.factor_below if self.sigma_below is None else self.sigma_below
        return (
            f"{self.projections:,} projections: {below} is at most {outward(bound or 0.0, math.ceil, 4)}"
            f"{' of what is charged' if self.sigma_below is None else ''}, so epsilon is at least "
            f"{outward(self.epsilon or 0.0, math.floor)} if all else is as charged."
        )


def audit_noise(
    projections: ArrayLike,
    mechanism: Mechanism,
    delta: float,
    *,
    sigma: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
) -> NoiseFinding:
    """The finding from n noisy sums, each projected on a direction without gradient, of sigma and epsilon.

    `projections` are in units of the clipping norm, of any shape; `sigma`, which broadcasts to it, is what is charged
    for each, and may be left out where all releases of the mechanism have one.
    **Guarantees:** if the noise is normal, `factor_below` is false with probability 1 - confidence at most; epsilon is
    that of the mechanism with so much noise, from below.
    Errors: ValueError where sigma is left out of a mechanism that has several.

    >>> drawn = np.random.default_rng(1).normal(0.0, 2.0, 10_000)
    >>> found = audit_noise(drawn, Mechanism.constant(q=1.0, sigma=2.0, steps=4), 1e-5)
    >>> round(found.sigma_below, 2), round(found.epsilon, 1), found.rejected
    (2.02, 4.3, False)
    """
    x = np.asarray(projections, dtype=np.float64)
    same = sorted({release.sigma for release in mechanism.releases})
    if sigma is None and len(same) > 1:
        raise ValueError(f"Expected sigma of each projection: the mechanism has {len(same)} of them.")
    charged = np.asarray(same[0] if sigma is None else sigma, dtype=np.float64)
    check.positive(sigma=float(charged.min(initial=inf)))
    if note := trouble(projections=x):
        return NoiseFinding(confidence=confidence, projections=x.size, note=note)
    total = float(np.sum((x / charged) ** 2))
    below = factor_below(total, x.size, confidence)
    return NoiseFinding(
        confidence=confidence,
        projections=x.size,
        p_value=float(gammainc(x.size / 2, total / 2)),
        epsilon=epsilon_with_noise(mechanism, below, delta),
        evidence=Evidence.CONDITIONAL,
        factor=sqrt(total / x.size),
        factor_below=below,
        sigma_below=below * same[0] if len(same) == 1 else None,
    )


def factor_below(total: float, projections: int, confidence: float) -> float:
    """Upper bound of the noise over what is charged, from the sum of squares of projections over the sigma charged.

    It is sqrt(total / chi2), with chi2 the quantile at 1 - confidence of the chi-square law: 2 P^-1(n/2, 1 -
    confidence), P the regularised incomplete gamma function.

    >>> round(factor_below(10_000, 10_000, 0.95), 4)
    1.0118
    """
    check.in_range(0, 1, ends="()", confidence=confidence)
    quantile = 2 * float(gammaincinv(projections / 2, 1 - confidence))
    return sqrt(total / quantile) if quantile > 0 else inf


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class RepetitionFinding(Finding):
    """A test of whether the noise of a step says anything of that of another."""

    title, tests, untested = words_of("repetition")

    steps: int
    correlation: float | None = None  # the largest of any two steps, by size
    pair: tuple[int, int] | None = None  # the steps that it is of, from 0
    p_pair: float | None = None
    p_together: float | None = None

    def _measured(self) -> str:
        first, second = self.pair or (0, 0)
        return (
            f"Of {self.steps:,} steps, the noise of steps {first} and {second} has the largest correlation, "
            f"{self.correlation:.3f}."
        )


def audit_repetition(projections: ArrayLike, *, confidence: float = CONFIDENCE) -> RepetitionFinding:
    """A test of whether noise is drawn anew in every step, from projections (steps, k) on the same k directions.

    Two tests, each exact whatever the standard deviation of the noise, if all steps have one: the largest correlation
    of any two steps, times the number of pairs (a seed that is used twice), and the share that the mean over steps has
    of all squares (a part that all steps have in common; or noise of which a part is taken back later).
    Transposed, the projections show whether one direction's noise is that of another.

    >>> fresh = np.random.default_rng(0).normal(size=(20, 50))
    >>> audit_repetition(fresh).rejected, audit_repetition(np.vstack([fresh, fresh[:1]])).pair
    (False, (0, 20))
    """
    z = numbers("projections", projections, dimensions=2)
    steps, directions = z.shape
    note, length = trouble(projections=z), np.sqrt(np.sum(z**2, axis=1))
    if not note and min(steps, directions) < 2:
        note = f"Nothing can be shown of {steps} steps in {directions} directions: it takes two of each."
    if not note and not length.all():
        note = "Nothing can be shown: the noise of a step is 0 in every direction."
    if note:
        return RepetitionFinding(confidence=confidence, steps=steps, note=note)
    correlation, pair = _largest_correlation(z / length[:, None])
    pairs = steps * (steps - 1) / 2
    # (1 + r) / 2 has the law Beta((k - 1) / 2, (k - 1) / 2), and the two tails of r are alike.
    tail = float(betainc((directions - 1) / 2, (directions - 1) / 2, max((1 - abs(correlation)) / 2, 0.0)))
    p_pair, p_together = min(1.0, 2 * pairs * tail), _together(z)
    return RepetitionFinding(
        confidence=confidence,
        p_value=bonferroni([p_pair, p_together]),
        steps=steps,
        correlation=correlation,
        pair=pair,
        p_pair=p_pair,
        p_together=p_together,
    )


def _largest_correlation(unit: FloatArray) -> tuple[float, tuple[int, int]]:
    """The largest product by size of two of (T, k) rows, and which they are."""
    best, pair = 0.0, (0, 1)
    for start in range(0, len(unit), ROWS_AT_ONCE):
        products = np.triu(unit[start : start + ROWS_AT_ONCE] @ unit[start:].T, k=1)
        place = np.unravel_index(int(np.argmax(np.abs(products))), products.shape)
        if abs(products[place]) > abs(best):
            best, pair = float(products[place]), (start + int(place[0]), start + int(place[1]))
    return max(-1.0, min(1.0, best)), pair


def _together(z: FloatArray) -> float:
    """Two-sided p-value of |sum of rows|^2 / T over all squares, which has the law Beta(k / 2, k (T - 1) / 2)."""
    steps, directions = z.shape
    share = min(float(np.sum(z.sum(axis=0) ** 2) / steps / np.sum(z**2)), 1.0)
    below = float(betainc(directions / 2, directions * (steps - 1) / 2, share))
    above = float(betainc(directions * (steps - 1) / 2, directions / 2, 1 - share))
    return min(1.0, 2 * min(below, above))
