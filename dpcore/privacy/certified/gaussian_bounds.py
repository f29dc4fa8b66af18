"""Steps without sampling: the closed form of the Gaussian mechanism, rounded outwards.

At q = 1 the loss of a step is normal, and so are sums of losses: count_k steps of sigma_k are
exactly G_mu with mu^2 = sum of count_k / sigma_k^2. README.md, "Steps without sampling", proves
that the floating-point numbers err on the safe side.

Source: Dong, Roth, Su 2019, arXiv 1905.02383, Corollary 3.3; Balle, Wang 2018, arXiv 1805.06530,
Theorem 8.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from dpcore.privacy import gaussian
from dpcore.privacy.certified.rounding import UNIT
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.tradeoff import Gaussian, Tradeoff

MARGIN = 1e-12  # of mu, relative and absolute: the error of a trade-off function's evaluation
ALLOWED = 1e-6  # of delta, relative: many times the error of the closed form
NUDGE = 1e-14  # of epsilon, relative: epsilon / mu is rounded
# Units by which values are moved outwards; also the kinds of steps that all else in mu counts as.
LAST = 8
SMALLEST_RATE = 1e-300  # at an error rate of 0 a test would never err


@final
@dataclass(frozen=True)
class OutwardGaussian(Tradeoff):
    """G_mu rounded towards less privacy (`losing`, a curve below) or more (a curve above)."""

    mu: float
    losing: bool

    def beta(self, alpha: ArrayLike) -> FloatArray:
        return self._rounded(Gaussian(self.mu).beta(alpha), not self.losing)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return self._rounded(Gaussian(self.mu).power(alpha), self.losing)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        return self._rounded(gaussian.delta_of(epsilon, self.mu), self.losing)

    @property
    def closed_mu(self) -> float:
        return self.mu

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        alpha, power = Gaussian(self.mu).corners(least)
        alpha = self._rounded(alpha, not self.losing)
        return alpha if self.losing else np.maximum(alpha, SMALLEST_RATE), self._rounded(
            power, self.losing
        )

    @staticmethod
    def _rounded(value: FloatArray, up: bool) -> FloatArray:
        return np.minimum(value * (1 + LAST * UNIT if up else 1 - LAST * UNIT), 1.0)


def unsampled(mechanism: Mechanism) -> bool:
    """True if every record takes part in every step."""
    return all(release.q == 1 for release in mechanism.releases)


def gaussian_epsilons(
    mechanism: Mechanism, steps: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon at (n,) horizons and deltas, around the closed form; both (n,).

    Newton's iteration only suggests them. Each is kept if delta, evaluated there, is on the safe
    side of the given delta by half of ALLOWED.
    """
    low, high = _mu_bounds(mechanism, steps)
    lower = gaussian.epsilon_of(np.minimum(delta * (1 + ALLOWED), 1.0), low) * (1 - NUDGE)
    upper = gaussian.epsilon_of(delta * (1 - ALLOWED), high) * (1 + NUDGE)
    spent = gaussian.delta_of(upper, high) <= delta * (1 - ALLOWED / 2)
    missed = gaussian.delta_of(lower, low) < delta * (1 + ALLOWED / 2)
    return np.where(missed, 0.0, lower * (1 - NUDGE)), np.where(spent, upper * (1 + NUDGE), np.inf)


def gaussian_tradeoffs(mechanism: Mechanism) -> tuple[OutwardGaussian, OutwardGaussian]:
    """Trade-off functions below and above the exact G_mu of the whole mechanism."""
    low, high = _mu_bounds(mechanism, np.array([mechanism.steps]))
    least = float(low[0]) * (1 - MARGIN) - MARGIN
    most = float(high[0]) * (1 + MARGIN) + MARGIN
    return OutwardGaussian(most, losing=True), OutwardGaussian(max(least, 0.0), losing=False)


def _mu_bounds(mechanism: Mechanism, steps: IntArray) -> tuple[FloatArray, FloatArray]:
    """Bounds of mu at (n,) horizons; a sum of L positive terms has a relative error of L + 4
    roundings.
    """
    inverse = np.array([release.sigma for release in mechanism.releases]) ** -2.0
    mu = np.sqrt(mechanism.compositions(steps) @ inverse)
    error = (inverse.size + LAST) * 2 * UNIT
    return mu * (1 - error), mu * (1 + error)
