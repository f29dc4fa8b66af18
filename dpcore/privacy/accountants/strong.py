"""Advanced ("strong") composition of amplified Gaussian steps."""

import math
from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import Accountant, Curve, Kind, words_of
from dpcore.privacy.accountants.naive import per_use
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism


@final
class Strong(Accountant):
    """Heterogeneous composition of amplified steps (epsilon, delta); the steps and the composition
    get half of delta.

    >>> Strong().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(1)
    array([14.3])
    """

    name, title, source, spellings, note, caveat = words_of("strong")
    kind: ClassVar[Kind] = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        compositions = mechanism.compositions(steps).astype(np.float64)
        each = per_use(mechanism, delta / (2 * np.maximum(steps, 1)))  # (n, L)
        epsilon = composed(each, compositions, delta / 2)
        return Curve(steps, delta, epsilon, None, self.kind)


def composed(each: FloatArray, compositions: FloatArray, slack: FloatArray) -> FloatArray:
    """Epsilon of `compositions` (n, L) of `each` (n, L) epsilon, at an extra delta of `slack` (n,)
    -> (n,).

    It is the minimum of sum e and of sum e tanh(e/2) + sqrt(2 S ln(.)), where S = sum e^2 and the
    logarithm is of 1/slack or of e + sqrt(S)/slack. Source: arXiv 1311.0776, Theorem 3.5.
    """
    plain = np.einsum("nl,nl->n", compositions, each)
    drift = np.einsum("nl,nl->n", compositions, each * np.tanh(each / 2))
    squares = np.einsum("nl,nl->n", compositions, each * each)
    logarithm = np.minimum(-np.log(slack), np.log(math.e + np.sqrt(squares) / slack))
    return np.minimum(plain, drift + np.sqrt(2 * squares * logarithm))
