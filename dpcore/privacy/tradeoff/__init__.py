"""Trade-off functions: an attacker's least type II error beta at type I error alpha, when guessing who took part.

f = 1 - alpha is blind guessing; the lower the curve, the more an attacker can tell. All functions here are symmetric
(f is its own inverse), as add/remove adjacency needs: neither of two neighbours comes first.

Duality: f and delta(epsilon) for epsilon >= 0 say the same,
    delta(epsilon) = 1 - min over alpha of (f(alpha) + e^epsilon alpha),
    f(alpha) = max over epsilon of max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)).
Source: Dong, Roth and Su 2019, Gaussian differential privacy, arXiv 1905.02383, sections 2 and 4.
"""

from dpcore.privacy.tradeoff.base import Tradeoff
from dpcore.privacy.tradeoff.from_lower_bounds import never_below
from dpcore.privacy.tradeoff.from_profile import Pairs
from dpcore.privacy.tradeoff.from_tests import Points
from dpcore.privacy.tradeoff.gaussian import Gaussian

__all__ = ["Gaussian", "Pairs", "Points", "Tradeoff", "never_below"]
