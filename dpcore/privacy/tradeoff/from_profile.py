"""The trade-off function that the pairs of a privacy profile leave: a curve that is never above the true one."""

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.privacy.tradeoff.base import Tradeoff
from dpcore.privacy.types import FloatArray

LARGEST = 700.0  # epsilon: e^700 is still a float, and pairs beyond are taken for this one
TINY = 1e-300
SEARCHED = 600  # values of alpha at which the pairs that matter are looked for


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
