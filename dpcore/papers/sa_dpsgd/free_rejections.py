"""The smallest mechanism in which rejected steps are not free, and its exact privacy.

A proposal is N(x, sigma^2), where x is 0 without an example and 1 with it. It is good if it lies at
least `distance` from 1/2; that test is public. The first good proposal is released, or, after
`limit` rejections, the next one. Paper 001 charges only the accepted step: one Gaussian of noise
multiplier sigma.

**The law of the release.** p_x is the density of a proposal, A the set of good ones, a = p_x(A), by
symmetry about 1/2 the same for both x. Proposal i + 1 <= limit is released after i bad ones with
density (1-a)^i p_x on A, the last one with density (1-a)^limit p_x everywhere. Together the density
is p_x(w) times

    g(w) = (1 - (1-a)^limit) / a  if w is in A, else 0;  plus (1-a)^limit.

Without a limit it is 1/a on A.

**Its privacy.** g does not depend on x, so the loss at w stays (2 w - 1) / (2 sigma^2). But large
losses lie in A, and occur up to limit + 1 times as often. With t = 1/2 + sigma^2 epsilon, beyond
which the loss exceeds epsilon, the exact delta is the integral of g (p_1 - e^epsilon p_0) over w >
t:

    (1 - (1-a)^limit) / a  D(max(t, 1/2 + distance))  +  (1-a)^limit  D(t),
    D(u) = Phi((1-u)/sigma) - e^epsilon Phi(-u/sigma),

and the same for the other direction, since w -> 1 - w exchanges the two.

**After several accepted steps** an attacker who notes only the side of 1/2 on which each lies sees
independent coins, which show x with chance p, the integral of g p_1 over w > 1/2. Seeing less never
tells more, so their delta, a sum of binomial probabilities, is a lower bound: k of T coins for x =
1 are a loss of (2 k - T) ln(p / (1-p)).
"""

import math
from dataclasses import dataclass

from scipy.special import bdtr, ndtr

from dpcore import check
from dpcore.privacy import gaussian

# Relative, of each probability: far more than rounding errors, for arguments of Phi below 40.
MARGIN = 1e-10
MAX_EPSILON = 700.0  # e^epsilon is still a float
HALVINGS = 100


@dataclass(frozen=True)
class Selection:
    """Propose until one is good, with at most `limit` rejections; None: without a limit."""

    sigma: float
    distance: float
    limit: int | None = None

    def __post_init__(self) -> None:
        check.positive(sigma=self.sigma)
        check.in_range(0, 30 * self.sigma, distance=self.distance)
        if self.limit is not None:
            check.whole(0, limit=self.limit)

    @property
    def good(self) -> float:
        """The share a of proposals that are good.

        >>> round(Selection(2.0, 6.0).good, 6)
        0.003557
        """
        far = ndtr((-0.5 - self.distance) / self.sigma)
        near = ndtr((0.5 - self.distance) / self.sigma)
        return float(far + near)

    def delta(self, epsilon: float) -> float:
        """Return a lower bound of the delta that goes with epsilon >= 0, exact up to rounding.

        >>> accepts_all = Selection(2.0, 0.0)
        >>> limited = Selection(2.0, 6.0, 10)
        >>> unlimited = Selection(2.0, 6.0)
        >>> [round(each.delta(0.5), 3) for each in (accepts_all, limited, unlimited)]
        [0.052, 0.071, 0.57]
        """
        check.in_range(0, math.inf, ends="[)", epsilon=epsilon)
        threshold = 0.5 + self.sigma**2 * epsilon
        reached, forced = self._ends
        beyond = self._gap(max(threshold, 0.5 + self.distance), epsilon)
        return reached / self.good * beyond + forced * self._gap(threshold, epsilon)

    def epsilon_after(self, steps: int, delta: float) -> float:
        """Return a lower bound of epsilon after accepted steps, from the side of each.

        >>> one = Selection(2.0, 3.0, 10)
        >>> [round(each) for each in (one.accepted_only(1e-5, 100), one.epsilon_after(100, 1e-5))]
        [33, 63]
        """
        check.delta(delta=delta)
        check.whole(1, steps=steps)
        odds = math.log(self.right_side / (1 - self.right_side))
        low = 0.0
        high = steps * odds
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if self._delta_of_sides(steps, middle, odds) > delta:
                low = middle
            else:
                high = middle
        return low

    @property
    def right_side(self) -> float:
        """Lower bound of the chance p that the release lies on the side of 1/2 on which x lies."""
        reached, forced = self._ends
        near = reached / self.good * ndtr((0.5 - self.distance) / self.sigma)
        return float((near + forced * ndtr(0.5 / self.sigma)) * (1 - MARGIN))

    @property
    def _ends(self) -> tuple[float, float]:
        """The chances that a good proposal ends it, and that the limit does.

        Each is exact even if it is small.
        """
        if self.limit == 0:
            return 0.0, 1.0
        if self.limit is None or self.good >= 1:
            return 1.0, 0.0
        # The logarithm of the chance that all of them are bad.
        misses = self.limit * math.log1p(-self.good)
        return -math.expm1(misses), math.exp(misses)

    def accepted_only(self, delta: float, steps: int = 1) -> float:
        """Return the epsilon charged for the accepted steps alone, a Gaussian each."""
        return float(gaussian.epsilon_of(delta, math.sqrt(steps) / self.sigma))

    def every_proposal(self, delta: float, steps: int = 1) -> float:
        """Return an epsilon that is certain, as it charges every possible proposal."""
        if self.limit is None:
            return math.inf
        proposals = steps * (self.limit + 1)
        return float(gaussian.epsilon_of(delta, math.sqrt(proposals) / self.sigma))

    def _gap(self, u: float, epsilon: float) -> float:
        """Return D(u), rounded down."""
        with_it = ndtr((1 - u) / self.sigma)
        without = ndtr(-u / self.sigma)
        return _excess(with_it, without, epsilon)

    def _delta_of_sides(self, steps: int, epsilon: float, odds: float) -> float:
        """Return the delta of so many coins, rounded down."""
        # Coins for the wrong side with a loss of epsilon or more.
        most = math.floor((steps - epsilon / odds) / 2)
        if most < 0:
            return 0.0
        with_it = bdtr(most, steps, 1 - self.right_side)
        without = bdtr(most, steps, self.right_side)
        return _excess(with_it, without, epsilon)


def _excess(with_it: float, without: float, epsilon: float) -> float:
    """Return with_it - e^epsilon without, or 0 if that is negative or overflows, rounded down."""
    if epsilon > MAX_EPSILON:
        return 0.0
    least = with_it * (1 - MARGIN) - math.exp(epsilon) * without * (1 + MARGIN)
    return max(0.0, float(least))
