"""Gaussian differential privacy by the central limit theorem."""

import math
from typing import final

import numpy as np

from dpcore.privacy import gaussian
from dpcore.privacy.accountants.base import AdditiveAccountant, Kind, TradeoffCurve
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.tradeoff import Gaussian

MAX_EXPONENT = 600.0  # e^600 times 1e9 steps is still a float


@final
class Gdp(AdditiveAccountant):
    """Epsilon of a mu-GDP mechanism with mu^2 = sum of q^2 (e^(1/sigma^2) - 1).

    This is the limit of many steps.

    >>> from dpcore.privacy.mechanism import Mechanism
    >>> Gdp().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(3)
    array([0.942])
    """

    name = "gdp"
    title = "Gaussian DP (CLT)"
    short = "CLT"
    source = (
        "Bu, Dong, Long and Su 2020, Deep learning with Gaussian differential privacy, arXiv"
        " 1911.11607, equation (3.1); Dong, Roth and Su 2019, arXiv 1905.02383, Corollary 5.4"
    )
    spellings = r"(?-i:\bGDP\b|\bCLT\b)|\bcentral limit theorem\b"
    note = (
        "Gaussian DP lets the central limit theorem (CLT) stand in for the sum of many steps; it"
        " is an approximation and tends to err low when sigma is small or the steps are few."
    )
    caveat = (
        "An approximation, not a bound: it treats many steps as one Gaussian, and can promise more"
        " privacy than there is. It is worst for few steps, small sigma and small delta."
    )
    kind = Kind.APPROXIMATE

    without_cost = "e^(1/sigma^2) is too large for a float at sigma={sigma}."

    def cost(self, q: float, sigma: float) -> FloatArray:
        """mu^2 of one use, (1,)."""
        exponent = 1 / sigma**2
        if exponent >= MAX_EXPONENT:
            return np.array([math.inf])
        return np.array([q * q * math.expm1(exponent)])

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
    accountant = Gdp()
    squares = [r.count * float(accountant.cost(r.q, r.sigma)[0]) for r in mechanism.releases]
    return math.sqrt(sum(squares))
