"""The proof of Theorem 3 of paper 000: the moment that it bounds, the one that it forgets, the terms that it drops."""

import math

import numpy as np

from dpcore.papers.pigdo.theorem_3 import DOMINANT
from dpcore.privacy.renyi import binomial_log_moments


def least_order(q: float) -> float:
    """The order below which inequality (8) of the proof fails, whatever sigma.

    It needs (e - 1) (lambda + 1) / (2 (1 - q) lambda) <= 1, so lambda >= 1 / (2 (1 - q) / (e - 1) - 1); never where
    q > (3 - e)/2 = 0.14.

    >>> round(least_order(0.01), 2), least_order(0.2)
    (6.57, inf)
    """
    room = 2 * (1 - q) / (math.e - 1) - 1
    return 1 / room if room > 0 else math.inf


def bounded_moment(q: float, sigma: float, order: int) -> float:
    """The log-moment that the proof bounds, by numerical integration: ln E_{z ~ u0} [(u0(z)/u(z))^lambda].

    u0 = N(0, sigma^2) and u = (1 - q) u0 + q N(1, sigma^2) are the laws without and with the example.

    >>> round(bounded_moment(0.01, 1.0, 10), 5)
    0.0075
    """
    z = np.arange(-40.0, 40.0, 1 / 64)  # in standard deviations of the noise
    loss = -np.logaddexp(math.log1p(-q), math.log(q) + z / sigma - 0.5 / sigma**2)
    return float(np.log(np.sum(np.exp(order * loss - z * z / 2)) / 64 / math.sqrt(2 * math.pi)))


def omitted_moment(q: float, sigma: float, order: int) -> float:
    """The log-moment of the other direction, ln E_{z ~ u} [(u(z)/u0(z))^lambda], which the proof leaves out.

    It is the larger one (Mironov, Talwar and Zhang 2019, arXiv 1908.10530, Theorem 5). Orders 1 to 127.

    >>> round(omitted_moment(0.01, 1.0, 10), 2)
    4.41
    """
    return float(binomial_log_moments(q, sigma)[order - 1])


def assumed_moment(q: float, sigma: float, order: int) -> float:
    """What the theorem takes for both: ln(1 + q^2 lambda^2 / sigma^2).

    >>> round(assumed_moment(0.01, 1.0, 10), 5)
    0.00995
    """
    return math.log1p((q * order / sigma) ** 2)


def dropped_bounds(q: float, sigma: float, t: int) -> tuple[float, float, float]:
    """The proof's own bounds (14), (16) and (27) on the three parts of the term t that it drops, t >= 3.

    >>> [round(each / 0.01**3, 1) for each in dropped_bounds(0.01, 1.0, 3)]
    [12.2, 1.0, 2377.2]
    """
    spread = sigma**t * math.prod(range(t - 1, 0, -2))  # sigma^t (t - 1)!!
    outer = (2 * q) ** t / (2 * (1 - q) ** (t - 1) * sigma ** (2 * t))
    return (
        outer * (spread + 1),
        q**t / ((1 - q) ** t * sigma ** (2 * t)),
        outer * math.exp((t * t - t) / (2 * sigma**2)) * (spread + t**t),
    )


def dominant_from(delta: float) -> float:
    """The steps above which sigma / (q lambda) > 10 holds at the order of the proof, for every q and sigma.

    There sigma / (q lambda) = (delta^(-1/T) - 1)^(-1/2), which is above 10 where T > ln(1/delta) / ln(1.01).

    >>> round(dominant_from(1e-5), 2)
    1157.04
    """
    return -math.log(delta) / math.log1p(DOMINANT**-2)


def closed_form(q: float, sigma: float, steps: int, delta: float) -> float:
    """MMA's epsilon with gamma in the place of log(1 + gamma): 2 q sqrt(T ln(1/delta)) / sigma.

    >>> round(closed_form(0.01, 2.0, 40_000, 1e-5), 4)
    6.7861
    """
    return 2 * q * math.sqrt(steps * -math.log(delta)) / sigma
