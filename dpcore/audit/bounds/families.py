"""Families of trade-off functions, ordered by how much they let an attacker tell: which of them a run refutes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from dpcore import check
from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.bounds.lower_epsilon import epsilon_with_noise, with_noise
from dpcore.privacy import gaussian
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.tradeoff import Gaussian, Pairs, Tradeoff


class Family(ABC):
    """Trade-off functions f_s that fall as the strength s rises from 0, where nothing can be told."""

    most: float  # the largest strength that is tried
    halvings = 17  # of the interval between a strength and its double
    evidence: Evidence
    condition: str  # what must hold for its epsilon to be a bound; "" where nothing must

    @abstractmethod
    def tradeoff(self, strength: float) -> Tradeoff:
        """f_s."""

    @abstractmethod
    def epsilon(self, strength: float, delta: float) -> float:
        """Lower bound of epsilon of what has f_s, or of what tells more."""


@final
@dataclass(frozen=True)
class PairFamily(Family):
    """All that (epsilon, delta) allows: s is epsilon. What is refuted is refuted of every mechanism."""

    delta: float

    most = 100.0
    evidence = Evidence.BOUND
    condition = ""

    def tradeoff(self, strength: float) -> Tradeoff:
        return Pairs([strength], [self.delta])

    def epsilon(self, strength: float, delta: float) -> float:
        return strength if delta <= self.delta else 0.0


@final
@dataclass(frozen=True)
class GaussianFamily(Family):
    """G_mu: s is mu. A mechanism that is not Gaussian may be refuted for another mu than its epsilon is that of."""

    most = 100.0
    evidence = Evidence.ESTIMATE
    condition = "if telling who took part is telling two normal laws apart"

    def tradeoff(self, strength: float) -> Tradeoff:
        return Gaussian(strength)

    def epsilon(self, strength: float, delta: float) -> float:
        return float(gaussian.epsilon_of(delta, strength))


@final
@dataclass(frozen=True)
class NoiseFamily(Family):
    """The mechanism that is charged, with less or more noise than is charged: s is charged over drawn.

    Each member is the certified curve below the exact one, so that what is refuted is refuted of the mechanism.
    """

    mechanism: Mechanism

    halvings = 9  # a certified curve takes a tenth of a second
    evidence = Evidence.CONDITIONAL
    condition = "if all but the noise is as charged"

    @property
    def most(self) -> float:
        """Noise as small as an accountant has a number for."""
        return min(release.sigma for release in self.mechanism.releases) / SMALLEST_SIGMA

    def tradeoff(self, strength: float) -> Tradeoff:
        check.in_range(0, np.inf, strength=strength)
        return tradeoff_bounds(with_noise(self.mechanism, 1 / max(strength, 1e-3))).lower

    def epsilon(self, strength: float, delta: float) -> float:
        return epsilon_with_noise(self.mechanism, 1 / strength, delta) if strength > 0 else 0.0
