"""Formulas of paper 003's Table 1, and noise that is known to be enough.

The table prints only orders of magnitude; here each has constant 1.

Letters: n rows of d features, p parameters, T steps, G the Lipschitz constant and L the smoothness
of the loss, Delta its strong convexity (lambda in the first two rows), D the largest norm of the
parameters, alpha the learning rate, m the inner steps of DP-SVRG. For logistic regression on rows
of norm at most 1: G = 1, L = 1/4 + Delta.
"""

import math
from dataclasses import dataclass

from dpcore import check
from dpcore.privacy import gaussian

LIPSCHITZ, NORM, RATE = 1.0, 1.0, 1.0  # G (also zeta), D and alpha


@dataclass(frozen=True)
class Learning:
    """Values for the formulas."""

    n: int
    p: int
    d: int
    epsilon: float
    delta: float
    steps: int
    convexity: float
    inner: int = 1

    def __post_init__(self) -> None:
        check.whole(2, n=self.n)
        check.whole(1, p=self.p, d=self.d, steps=self.steps, inner=self.inner)
        check.positive(epsilon=self.epsilon, convexity=self.convexity)
        check.delta(delta=self.delta)

    @property
    def smoothness(self) -> float:
        """L of regularised logistic regression."""
        return 0.25 + self.convexity

    @property
    def loss_smoothness(self) -> float:
        """L of the loss without its regulariser, as some of the theorems need it."""
        return self.smoothness - self.convexity

    @property
    def log(self) -> float:
        """ln(1/delta)."""
        return -math.log(self.delta)

    @property
    def unit_noise(self) -> float:
        """Standard deviation of the exact (analytic) Gaussian mechanism at sensitivity 1, rounded
        up.

        >>> round(Learning(100, 1, 1, 0.1, 1e-5, 1, 1.0).unit_noise, 1)
        30.7
        """
        return float(1 / gaussian.mu_of(self.epsilon, self.delta))


def slack(given: Learning) -> float:
    """Return the rest of epsilon in objective perturbation: epsilon - ln(1 + 2 L/(n Delta) + L^2/(n
    Delta)^2).

    L is the smoothness of the loss without its regulariser: 1/4.
    """
    ratio = given.loss_smoothness / (given.n * given.convexity)
    return given.epsilon - 2 * math.log1p(ratio)


def own_noise(given: Learning) -> float:
    """Return the standard deviation by equation (9) of the paper with c = 1, which guarantees
    nothing.

    >>> round(own_noise(Learning(699, 9, 9, 0.1, 1e-5, 100, 0.01)), 2)
    1.54
    """
    return rooted(
        given.steps * given.log / (given.n * (given.n - 1) * math.sqrt(given.convexity)), given
    )


def rooted(variance: float, given: Learning) -> float:
    """G sqrt(variance) / epsilon."""
    return LIPSCHITZ * math.sqrt(variance) / given.epsilon


def kifer_noise(given: Learning) -> float:
    """Kifer et al. 2012: zeta sqrt(epsilon + ln(4/delta^2)) / epsilon."""
    return rooted(given.epsilon + math.log(4 / given.delta**2), given)


def bassily_noise(given: Learning) -> float:
    """Bassily et al. 2014, on n times a gradient: G n sqrt(ln(n/delta) ln(1/delta)) / epsilon."""
    return rooted(given.n**2 * math.log(given.n / given.delta) * given.log, given)


def bassily_risk(given: Learning) -> float:
    """Bassily et al. 2014: G^2 p ln^2(n/delta) ln(1/delta) / (n Delta epsilon^2)."""
    logs = math.log(given.n / given.delta) ** 2 * given.log
    return LIPSCHITZ**2 * given.p * logs / (given.n * given.convexity * given.epsilon**2)


def zhang_noise(given: Learning) -> float:
    """Zhang et al. 2017: G (1 + L/Delta) sqrt(ln(2/delta)) / (n L epsilon)."""
    inverse = (1 + given.smoothness / given.convexity) / (given.n * given.smoothness)
    return rooted(inverse**2 * math.log(2 / given.delta), given)


def gradient_noise(given: Learning) -> float:
    """Wang et al. 2017, gradient descent: G sqrt(T ln(1/delta)) / (n epsilon)."""
    return rooted(given.steps * given.log / given.n**2, given)


def reduced_noise(given: Learning) -> float:
    """Wang et al. 2017, DP-SVRG: G sqrt(T m ln(1/delta)) / (n epsilon)."""
    return math.sqrt(given.inner) * gradient_noise(given)


def fukuchi_noise(given: Learning) -> float:
    """Fukuchi et al. 2017: G sqrt(ln(16/delta) + epsilon) / (sqrt(n) epsilon)."""
    return rooted((math.log(16 / given.delta) + given.epsilon) / given.n, given)


def fukuchi_risk(given: Learning) -> float:
    """Fukuchi et al. 2017: p G^2 (ln(16/delta^2) + epsilon) / (L n epsilon)."""
    above = given.p * LIPSCHITZ**2 * (math.log(16 / given.delta**2) + given.epsilon)
    return above / (given.smoothness * given.n * given.epsilon)


def own_risk(given: Learning) -> float:
    """Excess risk of equation (10)."""
    shape = RATE * (2 * given.smoothness * NORM + LIPSCHITZ) * LIPSCHITZ**3 * given.d
    below = given.n * (given.n - 1) * math.sqrt(given.convexity) * given.epsilon**2
    return shape * math.log(given.n) ** 2 * given.log / below


def chaudhuri_risk(given: Learning) -> float:
    """Objective perturbation of Chaudhuri et al. 2011: p^2 ln^2(p/delta) / (lambda n^2 epsilon^2)."""
    return (
        given.p * math.log(given.p / given.delta) / (given.n * given.epsilon)
    ) ** 2 / given.convexity


def gradient_risk(given: Learning) -> float:
    """Wang et al. 2017, gradient descent: G^2 p ln(n) ln(1/delta) / (n^2 epsilon^2)."""
    return LIPSCHITZ**2 * given.p * math.log(given.n) * given.log / (given.n * given.epsilon) ** 2


def local_noise(given: Learning) -> float:
    """Return the standard deviation that makes each row private by itself: sensitivity 2, as norms
    are at most 1.

    >>> round(local_noise(Learning(699, 9, 9, 0.1, 1e-5, 100, 0.01)), 1)
    61.5
    """
    return 2 * given.unit_noise
