"""Numbers for the attacks that a trade-off function allows."""

import math
from decimal import Decimal
from math import inf
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dpcore import check
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.ends import safe_pair
from dpcore.privacy.tradeoff import Tradeoff

RATES = (0.01, 0.001)  # false-positive rates, each reported with its true-positive rate
# At which delta is read off a trade-off function.
EPSILONS = np.concatenate([[0.0], np.geomspace(1e-4, 500.0, 2000)])
EVEN_PRIOR = 0.5
PEOPLE = 100  # whose membership an attacker guesses


class Between(NamedTuple):
    """Proven bounds of a number."""

    lower: float
    upper: float


class Risks(NamedTuple):
    """The promises of the certified trade-off function about every attacker."""

    advantage: Between  # largest true-positive less false-positive rate
    error: Between  # smallest sum of type I and type II error
    true_positives: dict[float, Between]  # false-positive rate -> largest true-positive rate
    mu: Between  # smallest mu with f >= G_mu wherever both errors are at least `least`
    least: float
    # Upper bound of the posterior of an attacker who is 50 % sure, except with probability delta.
    sure: float
    note: str = ""  # of the band
    empty: bool = False  # true if nothing is certified


def risks_of(band: Band, delta: float) -> Risks:
    """The numbers of a certified band, without attacks that have an error below delta.

    >>> from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
    >>> from dpcore.privacy.mechanism import Mechanism
    >>> band = tradeoff_bounds(Mechanism.constant(q=1.0, sigma=2.0, steps=4))
    >>> [round(bound, 4) for bound in risks_of(band, 1e-5).advantage]  # 2 Phi(1/2) - 1 = 0.38292
    [0.3829, 0.3829]
    """
    check.delta(delta=delta)
    gain = _between(advantage(band.upper), advantage(band.lower), 1.0)
    rates = {}
    for rate in RATES:
        least = float(band.upper.power(rate))
        most = float(band.lower.power(rate))
        rates[rate] = _between(least, most, 1.0)
    return Risks(
        advantage=gain,
        error=Between(1 - gain.upper, 1 - gain.lower),
        true_positives=rates,
        mu=_between(mu_above(band.upper, delta), mu_above(band.lower, delta), inf),
        least=delta,
        sure=posterior(band.lower, EVEN_PRIOR, delta),
        note=band.note,
        empty=band.empty,
    )


def _between(lower: float, upper: float, most: float) -> Between:
    """The two bounds of a number from 0 to `most`; these ends where the bounds cross."""
    least, greatest, _ = safe_pair(lower, upper, "")
    return Between(least, min(greatest, most))


def of_hundred(found: Risks) -> int:
    """The right guesses of an attacker about 100 people, rounded up; 100 if nothing is proven.

    A coin is right about 50; the largest advantage (true less false positives) adds half of itself.
    **Guarantees:** never below 100 times the proven bound.

    >>> from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
    >>> from dpcore.privacy.mechanism import Mechanism
    >>> mechanism = Mechanism.constant(q=1.0, sigma=2.0, steps=4)
    >>> of_hundred(risks_of(tradeoff_bounds(mechanism), 1e-5))  # 69.15
    70
    """
    right = (1 + Decimal(repr(float(found.advantage.upper)))) * PEOPLE / 2
    return PEOPLE if found.empty else min(math.ceil(right), PEOPLE)


def advantage(f: Tradeoff) -> float:
    """Largest true-positive less false-positive rate: delta(0), the total variation distance.

    >>> from dpcore.privacy.tradeoff import Gaussian
    >>> round(advantage(Gaussian(1.0)), 4)
    0.3829
    """
    return float(f.delta(0.0))


def bayes_risk(f: Tradeoff, prior: float) -> float:
    """Smallest chance of a wrong guess for an attacker whose prior of participation is `prior`.

    By duality it is min(prior, 1 - prior) (1 - delta(epsilon)), where e^epsilon is the prior odds
    above 1.

    >>> from dpcore.privacy.tradeoff import Gaussian
    >>> round(bayes_risk(Gaussian(1.0), 0.5), 4), round(bayes_risk(Gaussian(0.0), 0.1), 4)
    (0.3085, 0.1)
    """
    check.in_range(0, 1, prior=prior)
    rare = min(prior, 1 - prior)
    if rare == 0:
        return 0.0
    log_odds = np.log1p(-rare) - np.log(rare)
    return float(rare * (1 - f.delta(log_odds)))


def mu_above(f: Tradeoff, least: float) -> float:
    """Smallest mu with f >= G_mu wherever both errors are at least `least`; no CLT.

    A G_mu has its own mu: a power read off it rounds to 1 from mu = 16.6 on. Any other f is linear
    between its corners and G_mu is convex, so the corners are enough. Without a `least`,
    subsampling would count for nothing: with chance q^T the example is in every batch, and far
    below that error rate f falls towards that of sqrt(T)/sigma. Source: arXiv 1905.02383,
    Definition 2.6. Edge cases: mu at alpha = beta if no attack errs by `least`.

    >>> from dpcore.privacy.tradeoff import Gaussian
    >>> round(mu_above(Gaussian(0.7), 1e-5), 6)
    0.7
    """
    check.in_range(0, 1, least=least)
    if f.closed_mu is not None:
        return f.closed_mu
    alpha, power = f.corners(least)
    with np.errstate(invalid="ignore"):  # inf - inf where alpha = power = 0
        mu = ndtri(power) - ndtri(alpha)
    return max(float(np.max(mu[~np.isnan(mu)], initial=0.0)), 0.0)


def posterior(f: Tradeoff, prior: float, chance: float) -> float:
    """Largest posterior of an attacker with this prior, except with probability `chance`.

    The probability is over the release. By Markov's inequality for the hockey stick P(loss > e) <=
    delta(epsilon) / (1 - e^(epsilon - e)) for every epsilon < e. At the smallest e for which this
    is `chance` the odds grow by a factor of e^e at most. **Guarantees:** never too small if f is
    not above the true curve.

    >>> from dpcore.privacy.tradeoff import Gaussian
    >>> round(posterior(Gaussian(0.25), 0.5, 1e-5), 3)
    0.759
    """
    check.in_range(0, 1, prior=prior)
    check.in_range(0, 1, ends="()", chance=chance)
    share = f.delta(EPSILONS) / chance
    with np.errstate(divide="ignore"):
        worst = np.where(share < 1, EPSILONS - np.log1p(-np.minimum(share, 1.0)), np.inf)
    if prior == 0:
        return 0.0
    factor = np.exp(-np.min(worst))
    return float(prior / (prior + (1 - prior) * factor))
