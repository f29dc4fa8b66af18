"""Gaussian differential privacy by the central limit theorem."""

import math
from typing import ClassVar, final

import numpy as np

from dpcore.privacy import gaussian
from dpcore.privacy.accountants.base import AdditiveAccountant, Kind, TradeoffCurve, words_of
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.tradeoff import Gaussian

MAX_EXPONENT = 600.0  # e^600 times 1e9 steps is still a float


@final
class Gdp(AdditiveAccountant):
    """Epsilon of a mu-GDP mechanism with mu^2 = sum of q^2 (e^(1/sigma^2) - 1), the limit of many
    steps.

    >>> from dpcore.privacy.mechanism import Mechanism
    >>> Gdp().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(3)
    array([0.942])
    """

    name, title, source, spellings, note, caveat = words_of("gdp")
    kind: ClassVar[Kind] = Kind.APPROXIMATE

    without_cost: ClassVar[str] = "e^(1/sigma^2) is too large for a float at sigma={sigma}."

    def cost(self, q: float, sigma: float) -> FloatArray:
        """mu^2 of one use, (1,)."""
        exponent = 1 / sigma**2
        return np.array([q * q * math.expm1(exponent) if exponent < MAX_EXPONENT else math.inf])

    def epsilon(self, total: FloatArray, delta: FloatArray) -> FloatArray:
        """Epsilon of a mu-GDP mechanism."""
        return gaussian.epsilon_of(delta, np.sqrt(total[:, 0]))

    def own_tradeoff(self, mechanism: Mechanism) -> TradeoffCurve:
        """G_mu with the mu of the central limit theorem."""
        mu = mu_of(mechanism)
        if math.isinf(mu):
            return TradeoffCurve(None, None, self.kind, self._reason(mechanism))
        return TradeoffCurve(Gaussian(mu), None, self.kind)


def mu_of(mechanism: Mechanism) -> float:
    """The mu of the central limit theorem after the whole mechanism; +inf if it has none.

    Source: arXiv 1911.11607, equation (3.1), q sqrt(T (e^(1/sigma^2) - 1)) for equal steps; else
    the root of the sum of squares.

    >>> round(mu_of(Mechanism.constant(0.01, 4.0, 10_000)), 4)
    0.254
    """
    return math.sqrt(
        sum(
            release.count * float(Gdp().cost(release.q, release.sigma)[0])
            for release in mechanism.releases
        )
    )
