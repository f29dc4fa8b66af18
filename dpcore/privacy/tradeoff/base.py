"""What a trade-off function answers."""

from abc import ABC, abstractmethod

from numpy.typing import ArrayLike

from dpcore.privacy.types import FloatArray


class Tradeoff(ABC):
    """A symmetric trade-off function."""

    @abstractmethod
    def beta(self, alpha: ArrayLike) -> FloatArray:
        """f(alpha): least type II error at type I error alpha in [0, 1], (n,)."""

    @abstractmethod
    def power(self, alpha: ArrayLike) -> FloatArray:
        """1 - f(alpha), precise where it is small: the largest true-positive rate at false-positive rate alpha."""

    @abstractmethod
    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Smallest delta with (epsilon, delta)-DP at epsilon in [0, inf], (n,)."""

    @abstractmethod
    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        """(alpha, power), both (K,), from alpha = least to where alpha = beta: in between, f is linear or G_mu."""

    @property
    def closed_mu(self) -> float | None:
        """mu of a function that is G_mu; None for all others."""
        return None
