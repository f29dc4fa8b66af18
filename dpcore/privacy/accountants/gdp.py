"""Gaussian differential privacy by the central limit theorem."""

import math
from typing import ClassVar, final

import numpy as np
from scipy.special import erf

from dpcore import check
from dpcore.privacy import gaussian
from dpcore.privacy.accountants.base import AdditiveAccountant, FloatArray, Kind
from dpcore.privacy.mechanism import Mechanism

LARGEST_EXPONENT = 600.0  # e^600 times 1e9 steps is still a float


@final
class Gdp(AdditiveAccountant):
    """The whole is taken to be mu-GDP with mu^2 = sum of q^2 (e^(1/sigma^2) - 1), and turned into epsilon exactly.

    >>> from dpcore.privacy.mechanism import Mechanism
    >>> Gdp().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(3)
    array([0.942])
    """

    name: ClassVar[str] = "gdp"
    title: ClassVar[str] = "Gaussian DP (central limit)"
    source: ClassVar[str] = (
        "Bu, Dong, Long and Su 2020, Deep learning with Gaussian differential privacy, arXiv 1911.11607, "
        "equation (3.1); Dong, Roth and Su 2019, arXiv 1905.02383, Corollary 5.4"
    )
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    caveat: ClassVar[str] = (
        "An approximation, not a bound: it treats many steps as one Gaussian, and can err low, that is, promise more "
        "privacy than there is. It is worst for few steps, small sigma and small delta."
    )

    def cost(self, q: float, sigma: float) -> FloatArray:
        """mu^2 of one use, (1,)."""
        exponent = 1 / sigma**2
        return np.array([q * q * math.expm1(exponent) if exponent < LARGEST_EXPONENT else math.inf])

    def epsilon(self, total: FloatArray, delta: FloatArray) -> FloatArray:
        """Epsilon of a mu-GDP mechanism."""
        return gaussian.epsilon_of(delta, np.sqrt(total[:, 0]))

    def note_of(self, mechanism: Mechanism) -> str:
        """Why epsilon is infinite, if it is."""
        smallest = min(release.sigma for release in mechanism.releases)
        if smallest**2 * LARGEST_EXPONENT > 1:
            return ""
        return f"Infinite, because e^(1/sigma^2) is past any number at sigma={smallest:g}."


def mu_poisson(q: float, sigma: float, steps: float) -> float:
    """mu of `steps` steps on Poisson samples: q sqrt(T (e^(1/sigma^2) - 1)).

    Source: arXiv 1911.11607, equation (3.1).

    >>> round(mu_poisson(256 / 60000, 1.3, 15 * 60000 / 256), 2)
    0.23
    """
    check.positive(steps=steps)
    return math.sqrt(steps * float(Gdp().cost(q, sigma)[0]))


def mu_of(mechanism: Mechanism) -> float:
    """mu of the central limit theorem after the whole mechanism, the root of the sum of squares; +inf if it has none.

    >>> round(mu_of(Mechanism.constant(0.01, 4.0, 10_000)), 4)
    0.254
    """
    return math.sqrt(
        sum(release.count * float(Gdp().cost(release.q, release.sigma)[0]) for release in mechanism.releases)
    )


def mu_uniform(q: float, sigma: float, steps: float) -> float:
    """mu of `steps` steps on uniform samples of fixed size q n.

    sqrt(2) q sqrt(T (e^(1/sigma^2) Phi(3/(2 sigma)) + 3 Phi(-1/(2 sigma)) - 2)).
    Source: arXiv 1911.11607, equation (3.2).

    >>> round(mu_uniform(256 / 60000, 1.3, 15 * 60000 / 256), 3)
    0.285
    """
    check.positive(steps=steps)
    exponent = 1 / sigma**2
    if exponent >= LARGEST_EXPONENT:
        return math.inf
    # Phi(t) = 1/2 + erf(t/sqrt(2))/2: the constants cancel exactly instead of in rounding.
    high, low = erf(1.5 / (sigma * math.sqrt(2))) / 2, erf(0.5 / (sigma * math.sqrt(2))) / 2
    inside = math.expm1(exponent) * (0.5 + high) + high - 3 * low
    return math.sqrt(2 * steps * max(float(inside), 0.0)) * q
