"""Trade-off functions: an attacker's least type II error beta at type I error alpha, when guessing who took part.

f = 1 - alpha is blind guessing; the lower the curve, the more an attacker can tell.
Source: Dong, Roth and Su 2019, Gaussian differential privacy, arXiv 1905.02383, section 2.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

FloatArray = NDArray[np.float64]

LARGEST = 700.0  # e^700 is still a float


def gaussian_tradeoff(alpha: ArrayLike, mu: float) -> FloatArray:
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu) at alpha in [0, 1], (n,); mu in [0, inf].

    Source: arXiv 1905.02383, Definition 2.6 and equation (6). Edge cases: mu = 0 is 1 - alpha, mu = inf is 0.

    >>> gaussian_tradeoff([0.0, 0.05, 1.0], 1.0).round(4).tolist()
    [1.0, 0.7405, 0.0]
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    if np.isinf(mu):
        return np.zeros(alpha.shape)
    return ndtr(-ndtri(alpha) - mu)


def pair_tradeoff(alpha: ArrayLike, epsilon: float, delta: float) -> FloatArray:
    """The boundary of the region that one (epsilon, delta) allows, at alpha in [0, 1], (n,); epsilon in [0, inf].

    f(alpha) = max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)).
    Source: arXiv 1905.02383, Proposition 2.5 (Wasserman and Zhou 2010). Edge case: epsilon = inf is 0 for alpha > 0.

    >>> pair_tradeoff([0.0, 0.1, 0.5], 1.0, 0.01).round(4).tolist()
    [0.99, 0.7182, 0.1803]
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    steep = 1 - delta - np.exp(min(epsilon, LARGEST)) * alpha
    flat = np.exp(-epsilon) * (1 - delta - alpha)
    return np.maximum(0.0, np.maximum(steep, flat))
