"""The Renyi accountant: whole and fractional orders, and the improved conversion."""

from typing import final

from dpcore.privacy import renyi
from dpcore.privacy.accountants.base import AdditiveAccountant, Kind
from dpcore.privacy.mechanism import FloatArray


@final
class Rdp(AdditiveAccountant):
    """The least epsilon over all orders a > 1.

    epsilon = min over a of (sum of ln A(a) + ln(1/delta) - ln a) / (a - 1) + ln(1 - 1/a).

    >>> from dpcore.privacy.mechanism import Mechanism
    >>> Rdp().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(4)
    array([1.0355])
    """

    name = "rdp"
    title = "Rényi DP"
    short = "Rényi"
    source = (
        "Mironov, Talwar and Zhang 2019, Rényi differential privacy of the sampled Gaussian"
        " mechanism, arXiv 1908.10530, section 3.3; converted by Canonne, Kamath and Steinke 2020,"
        " arXiv 2004.00010v4, Proposition 12"
    )
    spellings = r"\brdp\b|\br[ée]nyi\b"
    note = "Rényi DP tracks the same moments at more orders and loses less in the final conversion."
    caveat = (
        "Sound: the same moments as the moments accountant at more orders, turned into epsilon"
        " with less waste. Going through moments still loses a little: the true epsilon is smaller."
    )
    kind = Kind.UPPER

    def cost(self, q: float, sigma: float) -> FloatArray:
        """ln A(a) of one use at every order."""
        return renyi.log_moments(q, sigma)

    def epsilon(self, total: FloatArray, delta: FloatArray) -> FloatArray:
        """The improved conversion at the best order."""
        return renyi.epsilon_improved(total, renyi.ORDERS, delta)
