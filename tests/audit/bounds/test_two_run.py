"""Bounds of epsilon from two samples of scores, of many runs and of the steps of one."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.binomial import lower_epsilon, rate_above, rate_below
from dpcore.audit.bounds.finding import Evidence
from dpcore.audit.bounds.per_step import audit_per_step, composed_epsilon, mu_at
from dpcore.audit.bounds.two_run import Rates, audit_losses, audit_two_run, best_threshold, rates_at
from dpcore.privacy.mechanism import Mechanism, Release

DELTA = 1e-3


def test_the_bound_fails_no_more_often_than_it_may() -> None:
    """Exactly: over all pairs of counts that a threshold of known rates can give, at (0.5,
    1e-3)-DP's best test.
    """
    runs, epsilon = 60, 0.5
    false = 0.3
    true = DELTA + math.exp(epsilon) * false  # on the boundary of the region
    k = np.arange(runs + 1)
    chance = stats.binom.pmf(k, runs, true)[:, None] * stats.binom.pmf(k, runs, false)
    above, below = rate_above(k, runs, 0.025), rate_below(k, runs, 0.025)
    shown = np.array(
        [[Rates(0.0, float(t), float(f)).epsilon(DELTA) for f in below] for t in above]
    )
    assert chance[shown > epsilon].sum() <= 0.05
    careless = np.array(
        [[Rates(0.0, t / runs, max(f / runs, 1e-9)).epsilon(DELTA) for f in k] for t in k]
    )
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
    assert found.epsilon == pytest.approx(
        math.log((0.025**1e-3 - 1e-5) / (1 - 0.025**1e-3)), rel=1e-6
    )
    assert found.evidence is Evidence.BOUND
    assert audit_two_run(*normal(0, 50.0), 1e-5, independent=False).evidence is Evidence.ESTIMATE


def test_a_threshold_that_was_chosen_before_is_counted_on_all_scores() -> None:
    inside, outside = normal(1, 2.0)
    found = audit_two_run(inside, outside, 1e-5, threshold=1.0)
    assert found.figures["rates"] == rates_at(inside, outside, 1.0, 0.05)
    assert found.figures["rates"].true_positives < np.mean(inside > 1) < 1
    assert found.figures["rates"].false_positives > np.mean(outside > 1)
    assert found.shows.startswith("At least 8")


def test_the_best_threshold_is_the_best_of_all() -> None:
    inside, outside = normal(2, 1.5, 80)
    chosen = best_threshold(inside, outside, 1e-3, 0.05)
    every = np.concatenate([inside, outside])
    worth = [rates_at(inside, outside, each, 0.05).epsilon(1e-3) for each in every]
    assert rates_at(inside, outside, chosen, 0.05).epsilon(1e-3) >= max(worth) - 1e-12


def test_bad_scores_give_a_sentence() -> None:
    few = audit_two_run([1.0, 2.0], [0.0, 3.0], 1e-5)
    assert (
        few.shows
        == "Nothing can be shown: 1 scores with and 1 without the canary are too few for a"
        " confidence of 0.95."
    )
    assert (
        audit_two_run([], [1.0], 1e-5).shows
        == "Nothing can be shown: there are no scores with the canary."
    )
    assert (
        audit_two_run(np.ones(50), np.ones(50), 1e-5).shows
        == "Nothing can be shown: all scores are equal."
    )
    half = audit_two_run([1, 2] * 20, [1, 3] * 20, 1e-5)
    assert half.shows == "Nothing can be shown: all scores that choose a threshold are equal."
    assert audit_two_run([1, 2] * 20, [1, 3] * 20, 1e-5, threshold=2.5).epsilon is not None
    assert audit_losses([1, 2] * 20, [1, 3] * 20, 1e-5).shows == half.shows
    assert (
        "1 of 50 scores without it is not"
        in audit_two_run(np.ones(50), [*np.ones(49), math.inf], 1e-5).shows
    )
    with pytest.raises(ValueError, match="delta=2"):
        audit_two_run(np.ones(5), np.zeros(5), 2.0)


RATES = Rates(0.5, 0.7, 0.25)


def brute_delta(rates: Rates, q: float, steps: int, epsilon: float) -> float:
    """Both directions' delta over all sequences of bits."""
    without = rates.false_positives
    present = (1 - q) * without + q * rates.true_positives
    total = [0.0, 0.0]
    for bits in itertools.product((0, 1), repeat=steps):
        p, r = (math.prod(each if bit else 1 - each for bit in bits) for each in (present, without))
        total[0] += max(p - math.exp(epsilon) * r, 0.0)
        total[1] += max(r - math.exp(epsilon) * p, 0.0)
    return max(total)


def test_the_composed_bound_is_that_of_two_binomial_laws() -> None:
    for (q, steps), delta in itertools.product(
        [(1.0, 1), (1.0, 6), (0.3, 8), (0.05, 10)], (1e-5, 1e-2)
    ):
        found = composed_epsilon(RATES, Mechanism.constant(q, 1.0, steps), delta)
        assert found >= 0
        assert brute_delta(RATES, q, steps, found + 1e-3) <= delta, (q, steps)
        assert found == 0 or brute_delta(RATES, q, steps, max(found - 1e-3, 0.0)) >= delta, (
            q,
            steps,
        )


def test_a_gaussian_step_costs_more_than_any_one_point_of_its_curve_shows() -> None:
    for q, sigma, steps in [(1.0, 1.0, 1), (1.0, 5.0, 60), (0.1, 1.0, 200), (0.02, 0.8, 3000)]:
        whole = Mechanism.constant(q, sigma, steps)
        for threshold in (-1.0, 0.2, 0.5, 1.5, 3.0):
            exact = Rates(
                threshold, stats.norm.sf((threshold - 1) / sigma), stats.norm.sf(threshold / sigma)
            )
            assert composed_epsilon(exact, whole, 1e-5) <= lower_epsilon(whole, 1e-5), (
                q,
                sigma,
                threshold,
            )
            assert mu_at(exact) == pytest.approx(1 / sigma)


def test_rates_that_tell_nothing_show_nothing() -> None:
    for rates in (Rates(0.0, 0.3, 0.3), Rates(0.0, 0.2, 0.4)):
        assert composed_epsilon(rates, Mechanism.constant(0.5, 1.0, 10), 1e-5) == 0
        assert mu_at(rates) == 0
    assert mu_at(Rates(0.0, 1.0, 0.5)) == 0  # no number of scores shows that


def test_only_steps_of_one_rate_are_composed() -> None:
    both = Mechanism((Release(0.5, 1.0, 30), Release(0.1, 1.0, 5), Release(0.5, 2.0, 30)))
    alone = Mechanism.constant(0.5, 1.0, 60)
    assert composed_epsilon(RATES, both, 1e-5) == composed_epsilon(RATES, alone, 1e-5)


def scores(seed: int, sigma: float, size: int = 5000) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.normal(1 / sigma, 1, size), generator.normal(0, 1, size)


def test_mu_of_a_gaussian_step_is_bounded_from_below_and_nearly_found() -> None:
    found = [
        audit_per_step(*scores(seed, 1.0), Mechanism.constant(0.01, 1.0, 100), 1e-5)
        for seed in range(60)
    ]
    mu = np.array([each.figures["mu"] for each in found])
    assert stats.binomtest(int(np.sum(mu > 1)), 60, 0.05, alternative="greater").pvalue > 1e-3
    assert np.median(mu) > 0.85


def test_what_is_a_bound_and_what_is_an_estimate() -> None:
    # Which sigma is charged does not matter: the scores are of 1.
    whole = Mechanism.constant(0.05, 2.0, 500)
    found = audit_per_step(*scores(0, 1.0), whole, 1e-5)
    true = lower_epsilon(Mechanism.constant(0.05, 1.0, 500), 1e-5)
    assert found.evidence is Evidence.CONDITIONAL
    assert 0 < found.epsilon < found.figures["epsilon_if_gaussian"] <= true
    assert found.figures["epsilon_if_gaussian"] == pytest.approx(true, rel=0.3)
    assert found.figures["epsilon_if_gaussian"] > lower_epsilon(whole, 1e-5)
    assert found.shows.endswith("if steps are Gaussian (an estimate).")


def test_a_step_that_hides_better_off_that_point_refutes_the_estimate_but_not_the_bound() -> None:
    """A step that releases a coin, and nothing else: randomized response."""
    true, false, steps = 0.7, 0.3, 20
    generator = np.random.default_rng(0)
    coins = [(generator.random(40_000) < rate).astype(float) for rate in (true, false)]
    whole = Mechanism.constant(1.0, 1.0, steps)
    found = audit_per_step(*coins, whole, 1e-5, threshold=0.5)
    most = steps * math.log(true / false)
    assert found.epsilon <= composed_epsilon(Rates(0.5, true, false), whole, 1e-5) < most
    assert found.figures["epsilon_if_gaussian"] > found.epsilon


def test_bad_scores_or_too_few_give_a_sentence() -> None:
    once = Mechanism.constant(1.0, 1.0, 1)
    for bad in ([], [math.nan, 1.0], [1.0, 1.0]):
        found = audit_per_step(bad, bad, once, 1e-5)
        assert found.shows.startswith("Nothing can be shown: ")
        assert (found.epsilon, found.figures) == (None, {})
    assert "too few" in audit_per_step([2.0, 3.0, 4.0], [0.0, 1.0, 0.5], once, 1e-5).shows
