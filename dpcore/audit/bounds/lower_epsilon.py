"""Epsilon of a mechanism of which one thing is as an audit saw it: the certified accountant's lower bound."""

from math import expm1, inf, log1p

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.base import CERTIFIED
from dpcore.privacy.certified.gaussian_bounds import unsampled
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.mechanism import LEAST_SIGMA, MOST_SIGMA, Mechanism, Release


def lower_epsilon(mechanism: Mechanism, delta: float) -> float:
    """The certified lower bound of epsilon after the whole mechanism; 0 where nothing can be promised."""
    return ACCOUNTANTS[CERTIFIED].spent(mechanism, delta).lower or 0.0


def with_noise(mechanism: Mechanism, factor: float) -> Mechanism:
    """The mechanism with each sigma times a factor above 0, or more noise where an accountant has no number for so
    little: more noise never costs more epsilon.

    Errors: ValueError if a sigma becomes larger than a release may have.
    """
    least = LEAST_SIGMA if unsampled(mechanism) else SMALLEST_SIGMA
    return Mechanism(tuple(Release(r.q, max(r.sigma * factor, least), r.count) for r in mechanism.releases))


def epsilon_with_noise(mechanism: Mechanism, factor: float, delta: float) -> float:
    """Lower bound of epsilon if each sigma is at most `factor` times the one charged.

    **Edge cases:** without noise (factor 0) whoever took part in any batch is seen, and epsilon is infinite if that is
    more probable than delta; noise beyond every accountant promises 0.

    >>> whole = Mechanism.constant(q=1.0, sigma=2.0, steps=4)  # exactly 1-GDP
    >>> round(epsilon_with_noise(whole, 1.0, 1e-5), 3), epsilon_with_noise(whole, 0.0, 1e-5)
    (4.377, inf)
    """
    if factor == 0:
        return inf if taking_part(mechanism) > delta else 0.0
    if max(release.sigma for release in mechanism.releases) * factor > MOST_SIGMA:
        return 0.0
    return lower_epsilon(with_noise(mechanism, factor), delta)


def taking_part(mechanism: Mechanism) -> float:
    """The probability that an example is in any of the batches."""
    return any_of(*((release.q, release.count) for release in mechanism.releases))


def any_of(*chances: tuple[float, int]) -> float:
    """The probability that something happens at least once in independent trials, given as (chance, trials).

    >>> any_of((0.5, 2)), any_of((1.0, 1), (0.1, 3)), any_of((1e-20, 1))
    (0.75, 1.0, 1e-20)
    """
    if any(chance >= 1 for chance, _ in chances):
        return 1.0
    return -expm1(sum(count * log1p(-chance) for chance, count in chances))
