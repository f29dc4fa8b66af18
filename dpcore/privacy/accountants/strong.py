"""Advanced ("strong") composition of amplified Gaussian steps."""

import math
from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import Accountant, Curve, Kind, words_of
from dpcore.privacy.accountants.naive import per_use
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism


@final
class Strong(Accountant):
    """Heterogeneous composition of the amplified per-step (epsilon, delta): half of delta for the steps, half for it.

    >>> Strong().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(1)
    array([14.3])
    """

    name: ClassVar[str] = "strong"
    title, spellings, note, caveat = words_of("strong")
    source: ClassVar[str] = (
        "Kairouz, Oh and Viswanath 2015, The composition theorem for differential privacy, arXiv 1311.0776, "
        "Theorem 3.5; sampling: Balle, Barthe and Gaboardi 2018, arXiv 1807.01647, Theorem 8"
    )
    kind: ClassVar[Kind] = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        compositions = mechanism.compositions(steps).astype(np.float64)
        each = per_use(mechanism, delta / (2 * np.maximum(steps, 1)))  # (n, L)
        epsilon = composed(each, compositions, delta / 2)
        return Curve(steps, delta, epsilon, None, self.kind)


def composed(each: FloatArray, compositions: FloatArray, slack: FloatArray) -> FloatArray:
    """Epsilon of `compositions` (n, L) of `each` (n, L) epsilon, at an extra delta of `slack` (n,) -> (n,).

    The least of sum e, and sum e tanh(e/2) + sqrt(2 S ln(.)) with S = sum e^2 and either 1/slack or
    e + sqrt(S)/slack under the logarithm. Source: arXiv 1311.0776, Theorem 3.5.
    """
    plain = np.einsum("nl,nl->n", compositions, each)
    drift = np.einsum("nl,nl->n", compositions, each * np.tanh(each / 2))
    squares = np.einsum("nl,nl->n", compositions, each * each)
    logarithm = np.minimum(-np.log(slack), np.log(math.e + np.sqrt(squares) / slack))
    return np.minimum(plain, drift + np.sqrt(2 * squares * logarithm))
