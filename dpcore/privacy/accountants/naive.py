"""Basic composition: the epsilons of the single steps, added."""

from typing import final

import numpy as np

from dpcore.privacy import gaussian
from dpcore.privacy.accountants.base import Accountant, Curve, Kind
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism


@final
class Naive(Accountant):
    """epsilon = sum of the amplified epsilons of the uses, each at delta / T.

    >>> gaussian_release = Mechanism.constant(1.0, 2.0, 1)
    >>> Naive().curve(gaussian_release, 1, 1e-5).epsilon.round(4)
    array([1.9931])
    """

    name = "naive"
    title = "Basic composition"
    short = "Basic"
    source = (
        "Dwork et al. 2006, Our data, ourselves, Theorem 1; one step: Balle and Wang 2018, arXiv"
        " 1805.06530, Theorem 8; sampling: Balle, Barthe and Gaboardi 2018, arXiv 1807.01647,"
        " Theorem 8"
    )
    spellings = r"\b(?:na[ïi]ve|basic|sequential) composition\b"
    note = "Basic composition just adds up the epsilons of the steps, which wastes the most."
    caveat = "Sound, but very loose: it adds worst cases that never happen together."
    kind = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        each = per_use(mechanism, delta / np.maximum(steps, 1))  # (n, L)
        uses = mechanism.compositions(steps).astype(np.float64)  # (n, L)
        epsilon = np.einsum("nl,nl->n", uses, each)
        return Curve(steps, delta, epsilon, None, self.kind)


def per_use(mechanism: Mechanism, delta: FloatArray) -> FloatArray:
    """Epsilon of one use of each release at per-use deltas, (n,) -> (n, L).

    It is exact at delta/q, and then amplified by q.
    """
    q = np.array([release.q for release in mechanism.releases])
    mu = np.array([1 / release.sigma for release in mechanism.releases])
    whole = np.minimum(delta[:, None] / q, np.nextafter(1.0, 0.0))  # (n, L), below 1
    return amplified(gaussian.epsilon_of(whole, mu), q)


def amplified(epsilon: FloatArray, q: FloatArray) -> FloatArray:
    """Epsilon on a Poisson(q) sample, ln(1 + q (e^epsilon - 1)); broadcasts.

    Source: Balle, Barthe and Gaboardi 2018, arXiv 1807.01647, Theorem 8.

    >>> amplified(np.array([0.1, 1000.0]), np.array([0.01, 0.01])).round(6).tolist()
    [0.001051, 995.39483]
    """
    small = np.log1p(q * np.expm1(np.minimum(epsilon, 30.0)))
    large = epsilon + np.log(q + (1 - q) * np.exp(-epsilon))
    return np.where(epsilon < 30, small, np.maximum(large, 0.0))
