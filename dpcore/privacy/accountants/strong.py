"""Advanced ("strong") composition of amplified Gaussian steps."""

import math
from typing import final

import numpy as np

from dpcore.privacy.accountants.base import Accountant, Curve, Kind
from dpcore.privacy.accountants.naive import per_use
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism


@final
class Strong(Accountant):
    """Heterogeneous composition of amplified steps (epsilon, delta).

    Half of delta is for the steps, half for the composition.

    >>> Strong().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(1)
    array([14.3])
    """

    name = "strong"
    title = "Advanced composition"
    short = "Advanced"
    source = (
        "Kairouz, Oh and Viswanath 2015, The composition theorem for differential privacy, arXiv"
        " 1311.0776, Theorem 3.5; sampling: Balle, Barthe and Gaboardi 2018, arXiv 1807.01647,"
        " Theorem 8"
    )
    spellings = r"\b(?:strong|advanced) composition\b"
    note = "Advanced composition keeps only an (epsilon, delta) per step."
    caveat = (
        "Safe, but loose: it sees each step only as one pair (epsilon, delta) and forgets the"
        " rest of the noise's shape. The curve often printed for it takes q times epsilon for a"
        " sampled step, which is not a bound."
    )
    kind = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        half = delta / 2
        compositions = mechanism.compositions(steps).astype(np.float64)  # (n, L)
        each = per_use(mechanism, half / np.maximum(steps, 1))  # (n, L)
        epsilon = composed(each, compositions, half)
        return Curve(steps, delta, epsilon, None, self.kind)


def composed(each: FloatArray, compositions: FloatArray, slack: FloatArray) -> FloatArray:
    """Epsilon (n,) of `compositions` (n, L) uses of `each` (n, L) epsilon.

    The composition costs an extra delta of `slack` (n,). Epsilon is the minimum of sum e and of sum
    e tanh(e/2) + sqrt(2 S ln(.)), where S = sum e^2 and the logarithm is of 1/slack or of e +
    sqrt(S)/slack. Source: arXiv 1311.0776, Theorem 3.5.
    """
    plain = np.einsum("nl,nl->n", compositions, each)
    drift = np.einsum("nl,nl->n", compositions, each * np.tanh(each / 2))
    squares = np.einsum("nl,nl->n", compositions, each * each)
    logarithm = np.minimum(-np.log(slack), np.log(math.e + np.sqrt(squares) / slack))
    return np.minimum(plain, drift + np.sqrt(2 * squares * logarithm))
