"""Lower bounds of epsilon at any sigma: an attacker who keeps one bit of each step, and counts
them.

The bit is 1 if the step's noisy sum exceeds a threshold. The number of ones has a binomial law, and
the attacker says that the record is there from some number on. README.md, "A bit of each step", is
the proof.
"""

from math import log, pi

import numpy as np
from scipy.special import betainc, log_ndtr, ndtr

from dpcore.privacy.certified.gaussian_bounds import ALLOWED
from dpcore.privacy.certified.lattice import composition_of
from dpcore.privacy.certified.rounding import UNIT
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism

# Of thresholds above the record's own sum, in standard deviations of the noise.
HEIGHTS = np.linspace(-8, 18, 53)
FINER = np.linspace(-0.5, 0.5, 21)  # around the best of these
# Times the odds of delta: those of the power at which a count is tried.
LEVELS = np.array([1.01, 1.5, 4.0])
LOWEST = -1.0  # threshold above 0, in standard deviations
LIKELIEST = -0.1  # ln of the chance of a one without the record, at most
STEEPEST = 0.9  # ratio of neighbouring terms of a tail up to which its terms are added
SUBSETS = 8  # of the steps of a schedule
PLACE = 4  # units of its terms by which the record's own distance may be off
POWER = 2.0**-40  # relative error of the chance of a one with the record
COUNTING = 256  # units of its terms by which ln of a binomial tail may be off


def bit_epsilons(mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> FloatArray:
    """A lower bound of epsilon at each of (n,) horizons and deltas, 0 where the attacker has no
    chance; (n,).

    Steps with the least noise count as equal ones, at their smallest q and their largest sigma; the
    rest are ignored.

    >>> mechanism = Mechanism.constant(0.01, 0.012, 1000)
    >>> bit_epsilons(mechanism, np.array([1, 1000]), np.array([1e-5, 1e-5])).round(-2)
    array([ 3700., 86000.])
    """
    kinds, counts = composition_of(mechanism, steps)
    order = sorted(range(len(kinds)), key=lambda kind: (kinds[kind][1], -kinds[kind][0]))
    trials = np.cumsum(counts[:, order], axis=1)
    found = np.zeros(steps.shape)
    for size in np.unique(
        np.rint(np.geomspace(1, len(order), min(len(order), SUBSETS))).astype(int)
    ):
        q = min(kinds[kind][0] for kind in order[:size])
        found = np.maximum(
            found, counted_epsilons(q, kinds[order[size - 1]][1], trials[:, size - 1], delta)
        )
    return found


def counted_epsilons(
    q: float, sigma: float, trials: IntArray, delta: FloatArray, places: int = 1
) -> FloatArray:
    """A lower bound of epsilon after (n,) trials with a chance q to see the record, at (n,) deltas;
    (n,).

    A trial is the largest of `places` sums, one of which has the record.
    """
    found = np.zeros(trials.shape)
    rows = np.flatnonzero(trials > 0)
    if rows.size:
        height = np.broadcast_to(HEIGHTS, (rows.size, HEIGHTS.size))
        for around in (FINER, 0.1 * FINER):
            epsilon = _epsilons(q, sigma, height, trials[rows, None], delta[rows, None], places)
            best = np.argmax(epsilon, axis=1)[:, None]
            found[rows] = np.maximum(found[rows], np.take_along_axis(epsilon, best, axis=1)[:, 0])
            height = np.take_along_axis(height, best, axis=1) + around
    return found


def _epsilons(
    q: float, sigma: float, height: FloatArray, trials: IntArray, delta: FloatArray, places: int
) -> FloatArray:
    """(n, H) epsilons by the best of a few counts, at (n, H) thresholds, (n, 1) trials, deltas."""
    place = np.maximum(height + 1 / sigma, LOWEST)
    # The record's own distance, not too small.
    own = place - 1 / sigma + PLACE * UNIT * (np.abs(place) + 1 / sigma)
    log_error = np.minimum(log(places) + log_ndtr(-place), LIKELIEST)
    power = ((1 - q) * ndtr(-place) + q * ndtr(-own)) * (1 - POWER)
    best = np.zeros(height.shape)
    for level in LEVELS:
        count = _largest_count(trials, power, level * delta / (1 - delta + level * delta))
        spare = betainc(count, trials - count + 1, power) * (1 - ALLOWED) - delta * (1 + ALLOWED)
        epsilon = np.log(np.where(spare > 0, spare, 0.5)) - log_tail(count, trials, log_error)
        best = np.where((spare > 0) & (log_error < LIKELIEST), np.maximum(best, epsilon), best)
    return best


def _largest_count(trials: IntArray, chance: FloatArray, level: FloatArray) -> FloatArray:
    """About the most ones, at least 1, that (n, H) chances reach with probability `level` (n, 1);
    (n, H).
    """
    low = np.ones(chance.shape)
    high = np.broadcast_to(trials, chance.shape).astype(np.float64)
    while np.any(low < high):
        middle = np.ceil((low + high) / 2)
        reached = betainc(middle, trials - middle + 1, chance) >= level
        low = np.where(reached, middle, low)
        high = np.where(reached, high, middle - 1)
    return low


def log_tail(count: FloatArray, trials: IntArray, log_chance: FloatArray) -> FloatArray:
    """ln of the chance of at least `count` ones in `trials`, not too small; 0 up to their mean."""
    rest = trials - count
    log_other = np.log1p(-np.exp(log_chance))
    log_share = np.log(count / trials)
    log_gap = np.log1p(-np.minimum(count / trials, 1 - UNIT))
    chernoff = count * (log_chance - log_share) + rest * (log_other - log_gap)
    ratio = rest / (count + 1) * np.exp(log_chance - log_other)
    few = (rest > 0) & (ratio <= STEEPEST)
    series = 0.5 * np.log(trials / (2 * pi * count * np.where(few, rest, 1))) - np.log1p(
        -np.where(few, ratio, 0)
    )
    rounded = (
        COUNTING * UNIT * (count * (1 - log_share - log_chance) - rest * (log_gap + log_other))
    )
    tail = chernoff + np.where(few, np.minimum(series, 0.0), 0.0)
    union = np.log(trials) + log_chance  # of one or more: at most the sum of all chances
    tail = np.where(count == 1, np.minimum(tail, union), tail) + rounded
    return np.where(log_share > log_chance, np.minimum(tail, 0.0), 0.0)
