"""The Renyi accountant: whole and fractional orders, and the improved conversion."""

from typing import ClassVar, final

from dpcore.privacy import renyi
from dpcore.privacy.accountants.base import AdditiveAccountant, Kind, words_of
from dpcore.privacy.mechanism import FloatArray


@final
class Rdp(AdditiveAccountant):
    """epsilon = min over orders a > 1 of (sum of ln A(a) + ln(1/delta) - ln a) / (a - 1) + ln(1 -
    1/a).

    >>> from dpcore.privacy.mechanism import Mechanism
    >>> Rdp().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(4)
    array([1.0355])
    """

    name, title, source, spellings, note, caveat = words_of("rdp")
    kind: ClassVar[Kind] = Kind.UPPER

    def cost(self, q: float, sigma: float) -> FloatArray:
        """ln A(a) of one use at every order."""
        return renyi.log_moments(q, sigma)

    def epsilon(self, total: FloatArray, delta: FloatArray) -> FloatArray:
        """The improved conversion at the best order."""
        return renyi.epsilon_improved(total, renyi.ORDERS, delta)
