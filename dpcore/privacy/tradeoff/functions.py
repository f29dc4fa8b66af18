"""Trade-off functions: an attacker's least type II error beta at type I error alpha, when guessing who took part.

f = 1 - alpha is blind guessing; the lower the curve, the more an attacker can tell. All functions here are symmetric
(f is its own inverse), as add/remove adjacency needs: neither of two neighbours comes first.

Duality: f and delta(epsilon) for epsilon >= 0 say the same,
    delta(epsilon) = 1 - min over alpha of (f(alpha) + e^epsilon alpha),
    f(alpha) = max over epsilon of max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)).
Source: Dong, Roth and Su 2019, Gaussian differential privacy, arXiv 1905.02383, sections 2 and 4.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dpcore import check
from dpcore.privacy import gaussian
from dpcore.privacy.types import FloatArray

LARGEST = 700.0  # e^700 is still a float
TINY = 1e-300
ULP = 2.0**-52  # of 1
EPSILONS = np.concatenate([[0.0], np.geomspace(1e-4, 500.0, 2000)])  # where pairs take the place of a smooth curve
SEARCHED = 600  # values of alpha at which the pairs that matter are looked for


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

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        alpha = np.array([ndtr(-self.mu / 2)])
        return alpha, 1 - alpha


@final
class Pairs(Tradeoff):
    """What several (epsilon, delta) allow together: the largest of the boundaries of their regions.

    One pair gives f_(epsilon, delta)(alpha) = max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)).
    **Guarantees:** of a mechanism with these pairs, beta is not above the true one, power and delta are not below.
    Source: arXiv 1905.02383, Propositions 2.5 and 2.12 (Wasserman and Zhou 2010). An infinite epsilon allows anything.

    >>> Pairs([1.0], [0.01]).beta([0.0, 0.1, 0.5]).round(4).tolist()
    [0.99, 0.7182, 0.1803]
    """

    def __init__(self, epsilon: ArrayLike, delta: ArrayLike) -> None:
        epsilon, delta = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (epsilon, delta))
        for each in (epsilon.min(initial=0.0), epsilon.max(initial=0.0)):
            check.in_range(0, np.inf, epsilon=float(each))
        for each in (delta.min(initial=0.0), delta.max(initial=0.0)):
            check.in_range(0, 1, delta=float(each))
        order = np.lexsort((delta, epsilon))
        order = order[epsilon[order] <= LARGEST]
        epsilon = np.append(epsilon[order], LARGEST)
        delta = np.minimum.accumulate(np.append(delta[order], 1.0))
        first = int(
            np.argmax((1 - delta) / (1 + np.exp(epsilon)))
        )  # forces alpha = beta highest: those before say less
        self._epsilon, self._delta = epsilon[first:], delta[first:]  # (K,) both

    def beta(self, alpha: ArrayLike) -> FloatArray:
        alpha = np.asarray(alpha, dtype=np.float64)[..., None]
        steep = 1 - self._delta - np.exp(self._epsilon) * alpha
        flat = np.exp(-self._epsilon) * (1 - self._delta - alpha)
        return np.maximum(np.maximum(steep, flat).max(axis=-1), 0.0)

    def power(self, alpha: ArrayLike) -> FloatArray:
        alpha = np.asarray(alpha, dtype=np.float64)[..., None]
        steep = self._delta + np.exp(self._epsilon) * alpha
        flat = np.exp(-self._epsilon) * (self._delta + alpha) - np.expm1(-self._epsilon)
        return np.minimum(np.minimum(steep, flat).min(axis=-1), 1.0)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        # Linear in e^epsilon between the pairs; below the first, the line that is 1 where e^epsilon would be -1.
        epsilon = np.minimum(np.asarray(epsilon, dtype=np.float64), LARGEST)
        after = np.searchsorted(self._epsilon, epsilon)
        before = np.maximum(after - 1, 0)
        low, high = self._epsilon[before], self._epsilon[after]
        with np.errstate(invalid="ignore", divide="ignore"):  # equal neighbours: any share will do
            share = np.exp(epsilon - high) * np.expm1(low - epsilon) / np.expm1(low - high)
        share = np.where(high > low, share, 1.0)
        between = self._delta[before] + share * (self._delta[after] - self._delta[before])
        first = (1 - self._delta[0]) * np.exp(np.logaddexp(0, epsilon) - np.logaddexp(0, self._epsilon[0]))
        return np.where(after > 0, between, 1 - first)

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        slope = np.exp(self._epsilon)
        middle = float(np.max((1 - self._delta) / (1 + slope)))  # where alpha = beta
        if middle <= least:
            return np.array([middle]), np.array([1 - middle])
        sample = np.geomspace(max(least, TINY), middle, SEARCHED)[:, None]
        seen = np.unique(np.argmin(self._delta + slope * sample, axis=1))  # each matters somewhere: neighbours meet
        seen = seen[np.diff(slope[seen], append=np.inf) > 0]  # but for those too close to tell their slopes apart
        alpha = -np.diff(self._delta[seen]) / np.diff(slope[seen])
        power = self._delta[seen[:-1]] + slope[seen[:-1]] * alpha
        inside = (alpha > least) & (alpha < middle)
        ends = np.array([max(least, TINY), middle])
        return np.append(alpha[inside], ends), np.append(power[inside], self.power(ends))


@final
class Points(Tradeoff):
    """What tests with these type I errors and powers achieve, mixed at random: the concave hull of their powers.

    **Guarantees:** where an attacker has these tests, beta is not below the true one, power and delta are not above.
    Source: the Neyman-Pearson lemma as in arXiv 1905.02383, section 2. Blind guessing is always among them.

    >>> Points([0.1], [0.6]).beta([0.0, 0.1, 0.4]).round(4).tolist()
    [1.0, 0.4, 0.1]
    """

    def __init__(self, alpha: ArrayLike, power: ArrayLike) -> None:
        alpha, power = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (alpha, power))
        for end in (np.min, np.max):
            check.in_range(0, 1, alpha=float(end(alpha, initial=0.0)), power=float(end(power, initial=0.0)))
        # Symmetry: a test of errors (alpha, beta) is one of errors (beta, alpha) once the neighbours change names.
        # Rounded to 0, an error would be that of a test that never errs.
        beta, mirrored = np.minimum(1 - power + ULP, 1.0), np.maximum(1 - alpha - ULP, 0.0)
        x, y = np.concatenate([[0.0], alpha, beta, [1.0]]), np.concatenate([[0.0], power, mirrored, [1.0]])
        self._alpha, self._power = _hull(x, y)  # (K,) rising

    def beta(self, alpha: ArrayLike) -> FloatArray:
        return np.interp(np.asarray(alpha, dtype=np.float64), self._alpha, 1 - self._power)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return np.interp(np.asarray(alpha, dtype=np.float64), self._alpha, self._power)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        slope = np.exp(np.minimum(np.asarray(epsilon, dtype=np.float64), LARGEST))[..., None]
        return np.maximum(self._power - slope * self._alpha, 0.0).max(axis=-1)

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        after = int(
            np.argmax(self._power >= 1 - self._alpha)
        )  # the first corner past alpha = beta; (0, 0) is before it
        rise = self._power[after] - self._power[after - 1]
        run = self._alpha[after] - self._alpha[after - 1]
        above = 1 - self._power[after - 1] - self._alpha[after - 1]
        middle = float(self._alpha[after - 1] + above * run / (rise + run))
        inside = (self._alpha > least) & (self._alpha < middle)
        ends = np.array([min(least, middle), middle]) if least > 0 else np.array([middle])
        return np.append(self._alpha[inside], ends), np.append(self._power[inside], self.power(ends))


def _hull(alpha: FloatArray, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the upper concave hull of points, by rising alpha (Andrew's monotone chain)."""
    order = np.lexsort((power, alpha))
    hull: list[tuple[float, float]] = []
    for x, y in zip(alpha[order].tolist(), power[order].tolist(), strict=True):
        while hull and (hull[-1][0] == x or (len(hull) > 1 and _below(hull[-2], hull[-1], (x, y)))):
            hull.pop()
        hull.append((x, y))
    x, y = np.array(hull, dtype=np.float64).T
    return x, np.maximum.accumulate(y)


def _below(left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]) -> bool:
    """Whether the middle point is not above the line between the others."""
    return (middle[1] - left[1]) * (right[0] - left[0]) <= (right[1] - left[1]) * (middle[0] - left[0])


def subsampled(f: Tradeoff, q: float) -> Pairs:
    """C_q(f) = min{f_q, its inverse}**, with f_q = q f + (1 - q) (1 - alpha): f behind Poisson sampling at rate q.

    By duality each (epsilon, delta) becomes (ln(1 + q (e^epsilon - 1)), q delta). Many pairs of f stand for all.
    **Guarantees:** not above C_q(f). Source: arXiv 1905.02383, Theorem 4.2 (for samples of a fixed
    size; the same pairs hold for Poisson sampling and add/remove, Balle, Barthe, Gaboardi 2018, arXiv 1807.01647).

    >>> float(subsampled(Gaussian(1.0), 1.0).beta(0.05).round(3)), float(subsampled(Gaussian(9.0), 0.0).beta(0.05))
    (0.74, 0.95)
    """
    check.in_range(0, 1, q=q)
    if q == 0:
        return Pairs([0.0], [0.0])
    large = np.logaddexp(float(np.log1p(-q)) if q < 1 else -np.inf, float(np.log(q)) + EPSILONS)
    epsilon = np.where(EPSILONS < 1, np.log1p(q * np.expm1(np.minimum(EPSILONS, 1.0))), large)
    return Pairs(epsilon, q * f.delta(EPSILONS))


def composed(*mus: float) -> Gaussian:
    """G_mu of several releases that are each mu-GDP: mu is the root of the sum of squares.

    Source: arXiv 1905.02383, Corollary 3.3.

    >>> composed(3.0, 4.0)
    Gaussian(mu=5.0)
    """
    for mu in mus:
        check.in_range(0, np.inf, mu=mu)
    return Gaussian(float(np.linalg.norm(np.array(mus, dtype=np.float64))))
