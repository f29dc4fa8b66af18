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
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from dpcore import check
from dpcore.privacy import gaussian
from dpcore.privacy.mechanism import FloatArray

MAX_EPSILON = 700.0  # epsilon: e^700 is still a float, and pairs beyond are taken for this one
TINY = 1e-300
SEARCHED = 600  # values of alpha at which the pairs that matter are looked for
ULP = 2.0**-52  # of 1
ENDLESS = 1e4  # epsilon: e^-1e4 is below any float but 0


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
        order = order[epsilon[order] <= MAX_EPSILON]
        epsilon = np.append(epsilon[order], MAX_EPSILON)
        delta = np.minimum.accumulate(np.append(delta[order], 1.0))
        # This one forces alpha = beta highest: those before say less.
        first = int(np.argmax((1 - delta) / (1 + np.exp(epsilon))))
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
        epsilon = np.minimum(np.asarray(epsilon, dtype=np.float64), MAX_EPSILON)
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


def never_below(epsilon: ArrayLike, delta: ArrayLike) -> Pairs:
    """A curve that the true one is nowhere above, where epsilon is at least `epsilon` (n,) at each of `delta` (n,).

    The true delta falls as epsilon rises. So from one of these epsilons down to the next smaller one it is at least
    the delta that belongs to the larger one, and beyond the last it is at least 0. By duality f is the largest of all
    lines 1 - delta(epsilon) - e^epsilon alpha and their mirror images, and a smaller delta only raises them; of those
    with one delta the one of the smallest epsilon is the highest. So each delta goes with the next smaller epsilon.
    Source: Dong, Roth and Su 2019, arXiv 1905.02383, Proposition 2.12.
    Edge cases: an epsilon past what a float can raise e to counts as the largest that it can.
    Errors: ValueError as `Pairs`.

    >>> never_below([0.5, 1.0], [0.1, 0.01]).beta([0.0, 0.1, 0.3]).round(4).tolist()
    [1.0, 0.8251, 0.6]
    """
    epsilon, delta = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (epsilon, delta))
    order = np.argsort(epsilon, kind="stable")
    known = np.minimum(epsilon[order], MAX_EPSILON)
    least = np.maximum.accumulate(delta[order][::-1])[::-1]  # what holds at a larger epsilon holds here too
    return Pairs(np.append(0.0, known), np.append(least, 0.0))


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
        epsilon = np.minimum(np.asarray(epsilon, dtype=np.float64), ENDLESS)[..., None]
        with np.errstate(divide="ignore", over="ignore"):  # in logarithms: e^epsilon may be past any float
            accused = np.exp(epsilon + np.log(self._alpha))
        return np.maximum(self._power - accused, 0.0).max(axis=-1)

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        after = int(np.argmax(self._power >= 1 - self._alpha))  # first corner past alpha = beta; (0, 0) is before it
        rise = self._power[after] - self._power[after - 1]
        run = self._alpha[after] - self._alpha[after - 1]
        above = 1 - self._power[after - 1] - self._alpha[after - 1]
        middle = float(self._alpha[after - 1] + above * run / (rise + run))
        inside = (self._alpha > least) & (self._alpha < middle)
        ends = np.array([min(least, middle), middle]) if least > 0 else np.array([middle])
        return np.append(self._alpha[inside], ends), np.append(self._power[inside], self.power(ends))


def _hull(alpha: FloatArray, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the upper concave hull of points, by rising alpha.

    A point that is not above the line between its neighbours is no corner, whichever others are left out with it.
    """
    order = np.lexsort((-power, alpha))
    x, y = alpha[order], power[order]
    first = np.insert(np.diff(x) > 0, 0, True)  # of equal alphas the one with the largest power
    x, y = x[first], y[first]
    while not (corner := _above_neighbours(x, y)).all():
        x, y = x[corner], y[corner]
    return x, np.maximum.accumulate(y)


def _above_neighbours(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Whether each point lies above the line between its neighbours; the ends do."""
    inside = np.diff(y)[:-1] * (x[2:] - x[:-2]) > (y[2:] - y[:-2]) * np.diff(x)[:-1]
    return np.concatenate([[True], inside, [True]])
