"""The audit in one run against a trade-off function, sharper than against one pair: README.md,
Theorems 5 and 6.

Source: Mahloujifar, Melis and Chaudhuri 2024, Auditing f-differential privacy in one run, arXiv
2410.22235.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.audit.bounds.binomial import epsilon_with_noise, with_noise
from dpcore.audit.bounds.finding import (
    CONFIDENCE,
    Evidence,
    Finding,
    bonferroni,
    nothing,
    scores_and_flags,
)
from dpcore.audit.bounds.one_run import (
    Guesses,
    attempts,
    check_counts,
    largest,
    no_guesses,
    sentence_of,
)
from dpcore.privacy import gaussian
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import MAX_SIGMA, Mechanism
from dpcore.privacy.tradeoff import Gaussian, Tradeoff


@final
@dataclass(frozen=True)
class NoiseFamily:
    """The charged mechanism with another amount of noise; the strength s is noise charged over
    noise drawn.

    Its trade-off functions f_s fall as s rises from 0, where no attack works. Each is the certified
    curve below the exact one, so a refuted f_s refutes the mechanism.
    """

    mechanism: Mechanism

    # Of the interval between a strength and its double; a curve takes a tenth of a second.
    halvings: ClassVar[int] = 9
    condition: ClassVar[str] = "if all but the noise is as charged"  # of its epsilon

    @property
    def most(self) -> float:
        """The largest strength tried: the least noise that has an accountant."""
        return min(release.sigma for release in self.mechanism.releases) / SMALLEST_SIGMA

    def tradeoff(self, strength: float) -> Tradeoff:
        """Return f_s, or a lower function if no release may have so much noise: to refute that
        refutes f_s.
        """
        check.in_range(0, np.inf, strength=strength)
        # Whatever it rounds to.
        most = 0.999 * MAX_SIGMA / max(release.sigma for release in self.mechanism.releases)
        factor = min(1 / max(strength, 1e-3), most)
        return tradeoff_bounds(with_noise(self.mechanism, factor)).lower

    def epsilon(self, strength: float, delta: float) -> float:
        """Return a lower bound of epsilon for f_s and for every lower trade-off function."""
        if strength == 0:
            return 0.0
        return epsilon_with_noise(self.mechanism, 1 / strength, delta)


@final
class GaussianFamily:
    """The trade-off functions G_mu; the strength is mu. README.md, the corollary in section 4."""

    most: ClassVar[float] = 100.0
    halvings: ClassVar[int] = 17
    condition: ClassVar[str] = "if the trade-off curve is that of mu-GDP for some mu"

    def tradeoff(self, strength: float) -> Tradeoff:
        """Return G_mu."""
        return Gaussian(strength)

    def epsilon(self, strength: float, delta: float) -> float:
        """Return the epsilon of G_mu, which rises with mu."""
        return float(gaussian.epsilon_of(delta, strength))


Family = NoiseFamily | GaussianFamily
MIN_TAIL = 1e-12  # the least p-value
NODES = 2000  # of the table of g: evenly spaced, and evenly in logarithms from either end


class LeastError:
    """Bounds g(power), the least type I error at a power, from below by a table, and by lines
    between its nodes.

    A convex g lies above the line through two neighbouring nodes, left of both and right of both.
    """

    def __init__(self, f: Tradeoff, top: float) -> None:
        share = np.geomspace(1e-9, 1, NODES)
        even = np.linspace(0, top, NODES)  # from 0
        power = np.unique(np.concatenate([even, top * share, top * (1 - share)]))
        error = np.minimum(f.beta(1 - power), 1.0)  # f is its own inverse
        error[0] = 0.0
        slope = np.maximum(np.diff(error) / np.diff(power), 0.0)
        self._power = power.tolist()
        self._error = error.tolist()
        self._before = [0.0, *slope.tolist()]  # of the line that ends at a node
        self._after = [*slope.tolist(), math.inf]  # of the line that begins there

    def __call__(self, power: float) -> float:
        left = min(bisect_right(self._power, power) - 1, len(self._power) - 2)
        from_left = self._error[left] + self._before[left] * (power - self._power[left])
        slope = self._after[left + 1]
        if math.isinf(slope):
            return from_left
        return max(from_left, self._error[left + 1] - slope * (self._power[left + 1] - power))


def impossible(canaries: int, guesses: int, correct: int, tail: float, error: LeastError) -> bool:
    """True if no training has this many right guesses with the probability `tail` or more.

    r and h are those of README.md, Theorem 6: their sum is at most the share of all guesses.
    """
    r = tail * correct / canaries
    h = tail * (guesses - correct) / canaries
    all_guesses = guesses / canaries
    for right in range(correct - 1, -1, -1):
        least = error(r) if r <= all_guesses else math.inf
        if least > h:
            r += right / (guesses - right) * (least - h)
            h = least
        if r + h > all_guesses:
            return True
    return False


def tradeoff_p_value(canaries: int, guesses: int, correct: int, f: Tradeoff) -> float:
    """Bound the probability of as many right guesses under the symmetric trade-off function f; at
    least 1e-12.

    **Guarantees:** holds for every training whose trade-off function is not below f.
    Errors: ValueError unless correct <= guesses <= canaries.

    >>> from dpcore.privacy.tradeoff import Gaussian
    >>> round(tradeoff_p_value(100, 50, 40, Gaussian(0.0)), 6) >= 1.2e-5
    True
    >>> tradeoff_p_value(100, 50, 0, Gaussian(1.0))
    1.0
    """
    check_counts(canaries, guesses, correct)
    if correct == 0:
        return 1.0
    error = LeastError(f, guesses / canaries)

    def rejected(nats: float) -> bool:
        return impossible(canaries, guesses, correct, math.exp(-nats), error)

    return math.exp(-largest(rejected, -math.log(MIN_TAIL)))


def rejects(canaries: int, guesses: int, correct: int, f: Tradeoff, error: float) -> bool:
    """True if under the trade-off function f this many right guesses are less probable than
    `error`.
    """
    check_counts(canaries, guesses, correct)
    if correct == 0:
        return False
    table = LeastError(f, guesses / canaries)
    return impossible(canaries, guesses, correct, error, table)


def audit_tradeoff(
    scores: ArrayLike,
    included: ArrayLike,
    family: Family,
    delta: float,
    *,
    claimed: Tradeoff | None = None,
    confidence: float = CONFIDENCE,
) -> Finding:
    """Find the strongest member of a family that the scores of m canaries refute, and test the
    claim.

    Arguments are those of `audit_one_run`; training must not lie below the curve `claimed`, such as
    a certified one.
    """
    score, inside = scores_and_flags(scores, included)
    canaries = score.size
    note = no_guesses(score, confidence)
    if note:
        return nothing(note, confidence, canaries=canaries)
    tried = attempts(score, inside)
    strength, best = strongest(canaries, tried, family, (1 - confidence) / len(tried))
    p_value = None
    if claimed:
        p_value = bonferroni(
            tradeoff_p_value(canaries, each.made, each.correct, claimed) for each in tried
        )
    epsilon = family.epsilon(strength, delta)
    return Finding(
        confidence=confidence,
        p_value=p_value,
        epsilon=epsilon,
        evidence=Evidence.CONDITIONAL,
        shows=sentence_of(best, canaries, epsilon, family.condition),
        figures={
            "canaries": canaries,
            "strength": strength,  # weaker members of the family are refuted
            "tried": len(tried),  # numbers of guesses, for Bonferroni's correction
        },
    )


def strongest(
    canaries: int, tried: Sequence[Guesses], family: Family, error: float
) -> tuple[float, Guesses]:
    """Return the strongest member that any of the guesses rejects, and those guesses."""
    best = tried[0]

    def rejected(strength: float) -> bool:
        nonlocal best
        f = family.tradeoff(strength)
        for each in tried:
            if rejects(canaries, each.made, each.correct, f, error):
                best = each
                return True
        return False

    return largest(rejected, family.most, family.halvings), best
