"""Tails of the binomial law and bounds of a rate, against scipy's law and exact arithmetic."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.binomial import at_least, at_most, rate_above, rate_below, two_sided

CASES = [
    (0, 10, 0.3),
    (3, 10, 0.3),
    (10, 10, 0.3),
    (11, 10, 0.3),
    (-1, 10, 0.3),
    (40, 5000, 0.004),
    (5, 5, 1.0),
]


def test_tails_are_those_of_the_law() -> None:
    for k, n, p in CASES:
        law = stats.binom(n, p)
        assert float(at_least(k, n, p)) == pytest.approx(law.sf(k - 1), rel=1e-10), (k, n, p)
        assert float(at_most(k, n, p)) == pytest.approx(law.cdf(k), rel=1e-10), (k, n, p)
        two = min(1, 2 * min(law.sf(k - 1), law.cdf(k)))
        assert float(two_sided(k, n, p)) == pytest.approx(two, rel=1e-10), (k, n, p)


def test_far_tails_keep_their_digits() -> None:
    with mpmath.workdps(60):
        exact = mpmath.nsum(
            lambda i: (
                mpmath.binomial(200, i) * mpmath.mpf("0.01") ** i * mpmath.mpf("0.99") ** (200 - i)
            ),
            [90, 200],
        )
    assert float(at_least(90, 200, 0.01)) == pytest.approx(float(exact), rel=1e-9)


def test_at_a_bound_of_the_rate_the_tail_is_the_error() -> None:
    counts = [(0, 20), (1, 20), (13, 20), (20, 20), (7, 100_000)]
    for (k, n), error in itertools.product(counts, [0.05, 0.025, 1e-6]):
        low = float(rate_above(k, n, error))
        high = float(rate_below(k, n, error))
        assert 0 <= low <= k / n <= high <= 1
        if k == 0:  # any rate may give no success
            assert low == 0
        else:
            assert stats.binom.sf(k - 1, n, low) == pytest.approx(error, rel=1e-6)
        if k == n:  # any rate may give nothing else
            assert high == 1
        else:
            assert stats.binom.cdf(k, n, high) == pytest.approx(error, rel=1e-6)


def test_bounds_fail_no_more_often_than_they_may() -> None:
    """Exactly, over all numbers of successes: the chance that the bound is on the wrong side of the
    rate.
    """
    k = np.arange(41)
    for rate in (0.01, 0.2, 0.5, 0.93):
        mass = stats.binom.pmf(k, 40, rate)
        for error in (0.05, 0.01):
            assert mass[rate_above(k, 40, error) > rate].sum() <= error
            assert mass[rate_below(k, 40, error) < rate].sum() <= error
            # But it may fail.
            assert rate not in (0.2, 0.5) or mass[rate_above(k, 40, error) > rate].sum() > error / 5
