"""Bounds of epsilon from two samples of scores: exact failure rates, both directions, and what too little gives."""

import math

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.binomial import rate_above, rate_below
from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.bounds.two_run import Rates, audit_two_run, best_threshold, rates_at

DELTA = 1e-3


def test_the_bound_fails_no_more_often_than_it_may() -> None:
    """Exactly: over all pairs of counts that a threshold of known rates can give, at (0.5, 1e-3)-DP's best test."""
    runs, epsilon = 60, 0.5
    false = 0.3
    true = DELTA + math.exp(epsilon) * false  # on the boundary of the region
    k = np.arange(runs + 1)
    chance = stats.binom.pmf(k, runs, true)[:, None] * stats.binom.pmf(k, runs, false)
    above, below = rate_above(k, runs, 0.025), rate_below(k, runs, 0.025)
    shown = np.array([[Rates(0.0, float(t), float(f)).epsilon(DELTA) for f in below] for t in above])
    assert chance[shown > epsilon].sum() <= 0.05
    careless = np.array([[Rates(0.0, t / runs, max(f / runs, 1e-9)).epsilon(DELTA) for f in k] for t in k])
    assert chance[careless > epsilon].sum() > 0.3  # the rates that were seen are no bounds


def test_both_directions_follow_from_the_same_two_rates() -> None:
    rates = Rates(0.0, 0.9, 0.3)
    assert rates.epsilon(0.0) == pytest.approx(math.log(0.7 / 0.1))
    assert Rates(0.0, 0.7, 0.1).epsilon(0.0) == pytest.approx(math.log(0.7 / 0.1))
    assert rates.epsilon(0.05) == pytest.approx(math.log(0.65 / 0.1))
    assert Rates(0.0, 0.2, 0.5).epsilon(0.0) == 0
    assert Rates(0.0, 0.5, 0.0).epsilon(0.1) == math.inf


def normal(seed: int, mu: float, size: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.normal(mu, 1, size), generator.normal(0, 1, size)


def test_choosing_the_threshold_on_the_scores_that_are_counted_would_be_wrong() -> None:
    honest = greedy = 0
    for seed in range(200):
        inside, outside = normal(seed, 0.0, 200)
        honest += audit_two_run(inside, outside, 0.0, confidence=0.7).epsilon > 0
        chosen = best_threshold(inside, outside, 0.0, 0.3)
        greedy += rates_at(inside, outside, chosen, 0.3).epsilon(0.0) > 0
    assert stats.binomtest(honest, 200, 0.3, alternative="greater").pvalue > 1e-3
    assert stats.binomtest(greedy, 200, 0.3, alternative="greater").pvalue < 1e-3


def test_scores_far_apart_show_what_their_number_allows() -> None:
    found = audit_two_run(*normal(0, 50.0, 2000), 1e-5)
    assert found.epsilon == pytest.approx(math.log((0.025**1e-3 - 1e-5) / (1 - 0.025**1e-3)), rel=1e-6)
    assert found.scores == (1000, 1000)
    assert found.evidence is Evidence.BOUND
    assert audit_two_run(*normal(0, 50.0), 1e-5, independent=False).evidence is Evidence.ESTIMATE


def test_a_threshold_that_was_chosen_before_is_counted_on_all_scores() -> None:
    inside, outside = normal(1, 2.0)
    found = audit_two_run(inside, outside, 1e-5, threshold=1.0)
    assert found.scores == (1000, 1000)
    assert found.rates == rates_at(inside, outside, 1.0, 0.05)
    assert found.rates.true_positives < np.mean(inside > 1) < 1
    assert found.rates.false_positives > np.mean(outside > 1)
    assert found.shows.startswith("A threshold of 1 finds at least 8")


def test_the_best_threshold_is_the_best_of_all() -> None:
    inside, outside = normal(2, 1.5, 80)
    chosen = best_threshold(inside, outside, 1e-3, 0.05)
    every = np.concatenate([inside, outside])
    worth = [rates_at(inside, outside, each, 0.05).epsilon(1e-3) for each in every]
    assert rates_at(inside, outside, chosen, 0.05).epsilon(1e-3) >= max(worth) - 1e-12


def test_bad_scores_give_a_sentence() -> None:
    few = audit_two_run([1.0, 2.0], [0.0, 3.0], 1e-5)
    assert few.shows == (
        "Nothing can be shown: 1 scores with and 1 without the canary are too few for a confidence of 0.95."
    )
    assert audit_two_run([], [1.0], 1e-5).shows == "Nothing can be shown: there are no scores with the canary."
    assert audit_two_run(np.ones(50), np.ones(50), 1e-5).shows == "Nothing can be shown: all scores are equal."
    assert "1 of 50 scores without it is not" in audit_two_run(np.ones(50), [*np.ones(49), math.inf], 1e-5).shows
    with pytest.raises(ValueError, match="delta=2"):
        audit_two_run(np.ones(5), np.zeros(5), 2.0)
