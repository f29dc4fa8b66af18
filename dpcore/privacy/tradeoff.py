"""Trade-off functions: the least type II error beta of an attacker at type I error alpha.

The attacker guesses who took part. f = 1 - alpha is blind guessing; a lower curve reveals more. All
functions here are symmetric (f is its own inverse), as add/remove adjacency needs.

Duality: f and delta(epsilon) for epsilon >= 0 determine each other,
    delta(epsilon) = 1 - min over alpha of (f(alpha) + e^epsilon alpha),
    f(alpha) = max over epsilon of max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta -
    alpha)).
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

MAX_EPSILON = 700.0  # e^700 is still a float; larger epsilons count as this one
TINY = 1e-300
SEARCHED = 600  # values of alpha at which the search looks for the pairs that matter
ULP = 2.0**-52  # of 1
ENDLESS = 1e4  # an epsilon; e^-1e4 is 0 as a float


class Tradeoff(ABC):
    """A symmetric trade-off function."""

    @abstractmethod
    def beta(self, alpha: ArrayLike) -> FloatArray:
        """f(alpha): least type II error at type I error alpha in [0, 1], (n,)."""

    @abstractmethod
    def power(self, alpha: ArrayLike) -> FloatArray:
        """1 - f(alpha), the largest true-positive rate at false-positive rate alpha, (n,).

        It is precise where it is small.
        """

    @abstractmethod
    def delta(self, epsilon: ArrayLike) -> FloatArray:
        """Smallest delta with (epsilon, delta)-DP at epsilon in [0, inf], (n,)."""

    @abstractmethod
    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        """(alpha, power), both (K,), from alpha = least to alpha = beta.

        Between corners f is linear or G_mu.
        """

    @property
    def closed_mu(self) -> float | None:
        """The mu of a function that is G_mu; None for all others."""
        return None


@final
@dataclass(frozen=True)
class Gaussian(Tradeoff):
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu): telling N(0, 1) from N(mu, 1), for mu in [0, inf].

    Source: arXiv 1905.02383, Definition 2.6 and equation (6). Edge cases: mu = 0 is 1 - alpha, mu =
    inf is 0.

    >>> Gaussian(1.0).beta([0.0, 0.05, 1.0]).round(4).tolist()
    [1.0, 0.7405, 0.0]
    """

    mu: float

    def __post_init__(self) -> None:
        check.in_range(0, np.inf, mu=self.mu)

    def beta(self, alpha: ArrayLike) -> FloatArray:
        alpha = _floats(alpha)
        if np.isinf(self.mu):
            return np.zeros(alpha.shape)
        return ndtr(-ndtri(alpha) - self.mu)

    def power(self, alpha: ArrayLike) -> FloatArray:
        alpha = _floats(alpha)
        if np.isinf(self.mu):
            return np.ones(alpha.shape)
        return ndtr(ndtri(alpha) + self.mu)

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
    """The trade-off function that several pairs (epsilon, delta) prove together.

    It is the maximum over single pairs. One pair gives f_(epsilon, delta)(alpha) = max(0, 1 - delta
    - e^epsilon alpha, e^-epsilon (1 - delta - alpha)). **Guarantees:** if a mechanism has these
    pairs, beta is not above the true one; power and delta are not below. Source: arXiv 1905.02383,
    Propositions 2.5 and 2.12 (Wasserman and Zhou 2010). An infinite epsilon proves nothing.

    >>> Pairs([1.0], [0.01]).beta([0.0, 0.1, 0.5]).round(4).tolist()
    [0.99, 0.7182, 0.1803]
    """

    def __init__(self, epsilon: ArrayLike, delta: ArrayLike) -> None:
        epsilon = _row("epsilon", epsilon, np.inf)
        delta = _row("delta", delta)
        order = np.lexsort((delta, epsilon))
        order = order[epsilon[order] <= MAX_EPSILON]
        epsilon = np.append(epsilon[order], MAX_EPSILON)
        delta = np.minimum.accumulate(np.append(delta[order], 1.0))
        # This pair has the highest point alpha = beta; the pairs before it prove less.
        first = int(np.argmax((1 - delta) / (1 + np.exp(epsilon))))
        self._epsilon = epsilon[first:]  # (K,)
        self._delta = delta[first:]  # (K,)

    def beta(self, alpha: ArrayLike) -> FloatArray:
        alpha = _floats(alpha)[..., None]
        steep = 1 - self._delta - np.exp(self._epsilon) * alpha
        flat = np.exp(-self._epsilon) * (1 - self._delta - alpha)
        return np.maximum(np.maximum(steep, flat).max(axis=-1), 0.0)

    def power(self, alpha: ArrayLike) -> FloatArray:
        alpha = _floats(alpha)[..., None]
        steep = self._delta + np.exp(self._epsilon) * alpha
        flat = np.exp(-self._epsilon) * (self._delta + alpha) - np.expm1(-self._epsilon)
        return np.minimum(np.minimum(steep, flat).min(axis=-1), 1.0)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        # Delta is linear in e^epsilon between pairs; below the first pair it follows the line
        # through 1 at -1.
        epsilon = np.minimum(_floats(epsilon), MAX_EPSILON)
        after = np.searchsorted(self._epsilon, epsilon)
        before = np.maximum(after - 1, 0)
        low = self._epsilon[before]
        high = self._epsilon[after]
        with np.errstate(invalid="ignore", divide="ignore"):  # equal neighbours: any share will do
            share = np.exp(epsilon - high) * np.expm1(low - epsilon) / np.expm1(low - high)
        share = np.where(high > low, share, 1.0)
        between = self._delta[before] + share * (self._delta[after] - self._delta[before])
        ratio = np.exp(np.logaddexp(0, epsilon) - np.logaddexp(0, self._epsilon[0]))
        on_first_line = 1 - (1 - self._delta[0]) * ratio
        return np.where(after > 0, between, on_first_line)

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        slope = np.exp(self._epsilon)
        middle = float(np.max((1 - self._delta) / (1 + slope)))  # alpha = beta
        if middle <= least:
            return np.array([middle]), np.array([1 - middle])
        sample = np.geomspace(max(least, TINY), middle, SEARCHED)[:, None]
        # The pairs that matter, without those of equal slope; the lines of neighbours meet.
        used = np.unique(np.argmin(self._delta + slope * sample, axis=1))
        used = used[np.diff(slope[used], append=np.inf) > 0]
        delta = self._delta[used]
        slope = slope[used]
        alpha = -np.diff(delta) / np.diff(slope)
        power = delta[:-1] + slope[:-1] * alpha
        inside = (alpha > least) & (alpha < middle)
        ends = np.array([max(least, TINY), middle])
        return np.append(alpha[inside], ends), np.append(power[inside], self.power(ends))


def never_below(epsilon: ArrayLike, delta: ArrayLike) -> Pairs:
    """A curve nowhere below the true one, from lower bounds `epsilon` (n,) at `delta` (n,).

    The true delta falls as epsilon rises. Between two of these epsilons it is at least the delta of
    the larger one, and beyond the last it is at least 0. By duality f is the maximum of the lines 1
    - delta(epsilon) - e^epsilon alpha and their mirror images. A smaller delta raises a line, and
    so does a smaller epsilon: so each delta goes with the next smaller epsilon. Source: Dong, Roth
    and Su 2019, arXiv 1905.02383, Proposition 2.12. Edge cases: an epsilon above MAX_EPSILON counts
    as MAX_EPSILON. Errors: ValueError as `Pairs`.

    >>> never_below([0.5, 1.0], [0.1, 0.01]).beta([0.0, 0.1, 0.3]).round(4).tolist()
    [1.0, 0.8251, 0.6]
    """
    epsilon = _row("epsilon", epsilon, np.inf)
    delta = _row("delta", delta)
    order = np.argsort(epsilon, kind="stable")
    rising = np.minimum(epsilon[order], MAX_EPSILON)
    # A lower bound of delta also holds at a smaller epsilon.
    backwards = np.maximum.accumulate(delta[order][::-1])
    least = backwards[::-1]
    return Pairs(np.append(0.0, rising), np.append(least, 0.0))


@final
class Points(Tradeoff):
    """The trade-off function that random mixtures of tests achieve.

    It is the concave hull of their powers. **Guarantees:** if an attacker has these tests, beta is
    not below the true one; power and delta are not above. Source: the Neyman-Pearson lemma as in
    arXiv 1905.02383, section 2. Blind guessing is always one of the tests.

    >>> Points([0.1], [0.6]).beta([0.0, 0.1, 0.4]).round(4).tolist()
    [1.0, 0.4, 0.1]
    """

    def __init__(self, alpha: ArrayLike, power: ArrayLike) -> None:
        alpha = _row("alpha", alpha)
        power = _row("power", power)
        # By symmetry a test with errors (alpha, beta) is one with errors (beta, alpha). An error
        # must not be rounded to 0: that test would never err.
        beta = np.minimum(1 - power + ULP, 1.0)
        mirrored = np.maximum(1 - alpha - ULP, 0.0)
        all_alpha = np.concatenate([[0.0], alpha, beta, [1.0]])
        all_power = np.concatenate([[0.0], power, mirrored, [1.0]])
        self._alpha, self._power = hull(all_alpha, all_power)  # (K,) rising

    def beta(self, alpha: ArrayLike) -> FloatArray:
        return np.interp(_floats(alpha), self._alpha, 1 - self._power)

    def power(self, alpha: ArrayLike) -> FloatArray:
        return np.interp(_floats(alpha), self._alpha, self._power)

    def delta(self, epsilon: ArrayLike) -> FloatArray:
        epsilon = np.minimum(_floats(epsilon), ENDLESS)[..., None]
        # Logarithms, since e^epsilon may overflow.
        with np.errstate(divide="ignore", over="ignore"):
            accused = np.exp(epsilon + np.log(self._alpha))
        return np.maximum(self._power - accused, 0.0).max(axis=-1)

    def corners(self, least: float) -> tuple[FloatArray, FloatArray]:
        # The first corner past alpha = beta, never (0, 0).
        after = int(np.argmax(self._power >= 1 - self._alpha))
        before = after - 1
        rise = self._power[after] - self._power[before]
        run = self._alpha[after] - self._alpha[before]
        above = 1 - self._power[before] - self._alpha[before]
        middle = float(self._alpha[before] + above * run / (rise + run))
        inside = (self._alpha > least) & (self._alpha < middle)
        ends = np.array([middle])
        if least > 0:
            ends = np.array([min(least, middle), middle])
        alpha = np.append(self._alpha[inside], ends)
        power = np.append(self._power[inside], self.power(ends))
        return alpha, power


def _floats(values: ArrayLike) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


def _row(name: str, values: ArrayLike, most: float = 1.0) -> FloatArray:
    """The values, (n,). Errors: ValueError for one outside [0, most], by this name."""
    row = np.atleast_1d(_floats(values))
    check.in_range(0, most, ends="[]", **{name: float(row.min(initial=0.0))})
    check.in_range(0, most, ends="[]", **{name: float(row.max(initial=0.0))})
    return row


def hull(alpha: FloatArray, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the upper concave hull of points whose power rises, by rising alpha."""
    order = np.lexsort((-power, alpha))
    x = alpha[order]
    y = power[order]
    first = np.insert(np.diff(x) > 0, 0, True)  # of equal alphas the one with the largest power
    x = x[first]
    y = y[first]
    corner = _above_neighbours(x, y)
    while not corner.all():
        x = x[corner]
        y = y[corner]
        corner = _above_neighbours(x, y)
    return x, np.maximum.accumulate(y)


def _above_neighbours(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """True for each point above the line between its neighbours, and for both ends."""
    rise = np.diff(y)[:-1]  # from the left neighbour
    run = np.diff(x)[:-1]
    inside = rise * (x[2:] - x[:-2]) > (y[2:] - y[:-2]) * run
    return np.concatenate([[True], inside, [True]])
