"""The trade-off functions of Gaussian differential privacy."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dpcore import check
from dpcore.privacy import gaussian
from dpcore.privacy.tradeoff.base import Tradeoff
from dpcore.privacy.types import FloatArray


@final
@dataclass(frozen=True)
class Gaussian(Tradeoff):
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu): telling N(0, 1) from N(mu, 1), for mu in [0, inf].

    Source: arXiv 1905.02383, Definition 2.6 and equation (6). Edge cases: mu = 0 is 1 - alpha, mu = inf is 0.

    >>> Gaussian(1.0).beta([0.0, 0.05, 1.0]).round(4).tolist()
    [1.0, 0.7405, 0.0]
    """

    mu: float

    def __post_init__(self) -> None:
        check.in_range(0, np.inf, mu=self.mu)

    def beta(self, alpha: ArrayLike) -> FloatArray:
        alpha = np.asarray(alpha, dtype=np.float64)
        return np.zeros(alpha.shape) if np.isinf(self.mu) else ndtr(-ndtri(alpha) - self.mu)

    def power(self, alpha: ArrayLike) -> FloatArray:
        alpha = np.asarray(alpha, dtype=np.float64)
        return np.ones(alpha.shape) if np.isinf(self.mu) else ndtr(ndtri(alpha) + self.mu)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        return gaussian.delta_of(epsilon, self.mu)

    @property
    def closed_mu(self) -> float:
        return self.mu

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        alpha = np.array([ndtr(-self.mu / 2)])
        return alpha, 1 - alpha
