"""The moments accountant: integer log-moments and the classic tail bound."""

from typing import final

from dpcore.privacy import renyi
from dpcore.privacy.accountants.base import AdditiveAccountant, Kind
from dpcore.privacy.mechanism import FloatArray


@final
class Moments(AdditiveAccountant):
    """The least epsilon over lambda = 1, 2, 3, ...

    epsilon = min over lambda of (sum of alpha(lambda) + ln(1/delta)) / lambda. The paper stops at
    lambda = 32. Here lambda reaches as far as an order can matter, so that no optimum lies on the
    boundary. alpha(lambda) = ln A(lambda + 1) is a binomial sum up to order 128 and an integral
    beyond.

    >>> from dpcore.privacy.mechanism import Mechanism
    >>> Moments().curve(Mechanism.constant(0.01, 4.0, 10_000), 10_000, 1e-5).epsilon.round(4)
    array([1.2586])
    """

    name = "moments"
    title = "Moments accountant"
    short = "Moments"
    source = (
        "Abadi et al. 2016, Deep learning with differential privacy, arXiv 1607.00133v2, Theorem 2"
    )
    spellings = r"(?<!modified )\bmoments accountant\b"
    note = (
        "The moments accountant adds up the moments of each step's privacy loss and turns the"
        " total into epsilon by a tail bound."
    )
    caveat = (
        "Sound, but its last step (a tail bound at whole orders) gives away some privacy: the true"
        " epsilon is smaller."
    )
    kind = Kind.UPPER

    def cost(self, q: float, sigma: float) -> FloatArray:
        """Log-moments alpha(lambda) of one use at every whole order."""
        return renyi.log_moments(q, sigma)[renyi.IS_INTEGER]

    def epsilon(self, total: FloatArray, delta: FloatArray) -> FloatArray:
        """The tail bound at the best order."""
        return renyi.epsilon_classic(total, renyi.ORDERS[renyi.IS_INTEGER], delta)
