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

LIPSCHITZ = 1.0  # G, and zeta
NORM = 1.0  # D
RATE = 1.0  # alpha


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
        """Standard deviation of the exact Gaussian mechanism at sensitivity 1, rounded up.

        >>> round(Learning(100, 1, 1, 0.1, 1e-5, 1, 1.0).unit_noise, 1)
        30.7
        """
        return float(1 / gaussian.mu_of(self.epsilon, self.delta))


def chaudhuri_output_noise(given: Learning) -> float:
    """Chaudhuri et al. 2011, output perturbation, a rate: n lambda epsilon."""
    return given.n * given.convexity * given.epsilon


def private_chaudhuri_output_noise(given: Learning) -> float:
    """The rate that makes it private."""
    return chaudhuri_output_noise(given) / 2


def chaudhuri_output_risk(given: Learning) -> float:
    """Chaudhuri et al. 2011: p^2 ln^2(p/delta) (L + lambda) / (lambda^2 n^2 epsilon^2)."""
    return chaudhuri_risk(given) * given.smoothness / given.convexity


def slack(given: Learning) -> float:
    """Return the rest of epsilon in objective perturbation, which is the rate of its noise.

    It is epsilon - ln(1 + 2 L/(n Delta) + L^2/(n Delta)^2), where L is the smoothness of
    the loss without its regulariser: 1/4.
    """
    ratio = given.loss_smoothness / (given.n * given.convexity)
    return given.epsilon - 2 * math.log1p(ratio)


def private_slack(given: Learning) -> float:
    """The rate that makes objective perturbation private."""
    return slack(given) / 2


def own_noise(given: Learning) -> float:
    """Return the standard deviation by equation (9) with c = 1, which guarantees nothing.

    >>> round(own_noise(Learning(699, 9, 9, 0.1, 1e-5, 100, 0.01)), 2)
    1.54
    """
    below = given.n * (given.n - 1) * math.sqrt(given.convexity)
    return rooted(given.steps * given.log / below, given)


def rooted(variance: float, given: Learning) -> float:
    """G sqrt(variance) / epsilon."""
    return LIPSCHITZ * math.sqrt(variance) / given.epsilon


def kifer_noise(given: Learning) -> float:
    """Kifer et al. 2012: zeta sqrt(epsilon + ln(4/delta^2)) / epsilon."""
    return rooted(given.epsilon + math.log(4 / given.delta**2), given)


def private_kifer_noise(given: Learning) -> float:
    """The standard deviation that makes it private."""
    return 2 * kifer_noise(given)


def kifer_risk(given: Learning) -> float:
    """Kifer et al. 2012: |b|^2 / (n^2 Delta) + Delta |theta|^2."""
    of_noise = given.p * (kifer_noise(given) / given.n) ** 2 / given.convexity
    return of_noise + given.convexity * NORM**2


def bassily_noise(given: Learning) -> float:
    """Bassily et al. 2014, on n times a gradient: G n sqrt(ln(n/delta) ln(1/delta)) / epsilon."""
    return rooted(given.n**2 * math.log(given.n / given.delta) * given.log, given)


def private_bassily_noise(given: Learning) -> float:
    """The standard deviation that makes it private, by their Algorithm 1."""
    return math.sqrt(32) * bassily_noise(given)


def bassily_risk(given: Learning) -> float:
    """Bassily et al. 2014: G^2 p ln^2(n/delta) ln(1/delta) / (n Delta epsilon^2)."""
    logs = math.log(given.n / given.delta) ** 2 * given.log
    return LIPSCHITZ**2 * given.p * logs / (given.n * given.convexity * given.epsilon**2)


def zhang_noise(given: Learning) -> float:
    """Zhang et al. 2017: G (1 + L/Delta) sqrt(ln(2/delta)) / (n L epsilon)."""
    inverse = (1 + given.smoothness / given.convexity) / (given.n * given.smoothness)
    return rooted(inverse**2 * math.log(2 / given.delta), given)


def private_zhang_noise(given: Learning) -> float:
    """Exact Gaussian noise on the minimiser, of sensitivity 2 G / (n Delta)."""
    return 2 * LIPSCHITZ / (given.n * given.convexity) * given.unit_noise


def zhang_risk(given: Learning) -> float:
    """Zhang et al. 2017: L G^2 p ln(1/delta) / (n^2 epsilon^2 Delta^2)."""
    above = given.smoothness * LIPSCHITZ**2 * given.p * given.log
    return above / (given.n * given.epsilon * given.convexity) ** 2


def gradient_noise(given: Learning) -> float:
    """Wang et al. 2017, gradient descent: G sqrt(T ln(1/delta)) / (n epsilon)."""
    return rooted(given.steps * given.log / given.n**2, given)


def private_gradient_noise(given: Learning) -> float:
    """Exact Gaussian noise in each of T steps, of sensitivity 2 G / n."""
    return 2 * LIPSCHITZ / given.n * math.sqrt(given.steps) * given.unit_noise


def reduced_noise(given: Learning) -> float:
    """Wang et al. 2017, DP-SVRG: G sqrt(T m ln(1/delta)) / (n epsilon)."""
    return math.sqrt(given.inner) * gradient_noise(given)


def reduced_risk(given: Learning) -> float:
    """Wang et al. 2017, DP-SVRG: G^2 p ln(n) ln(1/delta) / (n^2 Delta epsilon^2)."""
    return gradient_risk(given) / given.convexity


def duchi_risk(given: Learning) -> float:
    """Duchi et al. 2013: G p / (epsilon sqrt(n))."""
    return LIPSCHITZ * given.p / (given.epsilon * math.sqrt(given.n))


def wang_local_noise(given: Learning) -> float:
    """Wang et al. 2018: sqrt(p n epsilon^2)."""
    return math.sqrt(given.p * given.n) * given.epsilon


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
    """Chaudhuri et al. 2011, objective: p^2 ln^2(p/delta) / (lambda n^2 epsilon^2)."""
    root = given.p * math.log(given.p / given.delta) / (given.n * given.epsilon)
    return root**2 / given.convexity


def gradient_risk(given: Learning) -> float:
    """Wang et al. 2017, gradient descent: G^2 p ln(n) ln(1/delta) / (n^2 epsilon^2)."""
    return LIPSCHITZ**2 * given.p * math.log(given.n) * given.log / (given.n * given.epsilon) ** 2


def local_noise(given: Learning) -> float:
    """Return the standard deviation that makes each row private by itself.

    The sensitivity is 2, as norms are at most 1.

    >>> round(local_noise(Learning(699, 9, 9, 0.1, 1e-5, 100, 0.01)), 1)
    61.5
    """
    return 2 * given.unit_noise
