"""Noise and what it hides: the bound of sigma, whether noise is drawn anew, and how far an example
moves the sum.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.binomial import any_of, epsilon_with_noise, lower_epsilon, with_noise
from dpcore.audit.bounds.exact import audit_influence
from dpcore.audit.bounds.finding import Evidence, bonferroni
from dpcore.audit.bounds.noise import audit_noise, audit_repetition, factor_below
from dpcore.privacy import gaussian
from dpcore.privacy.mechanism import Mechanism, Release

WHOLE = Mechanism.constant(512 / 60_000, 1.068, 4688)  # certified: 2.998 to 3.004
DELTA = 1e-5
# What n projections show where they spread exactly as charged. Drawn ones spread by 1 / sqrt(2 n),
# which moves the number: one draw of each gave 2.75, 2.89 and 2.97.
SHOWN = {10**3: (2.806, 2.75), 10**4: (2.936, 2.89), 10**5: (2.978, 2.97), 10**6: (2.992, 2.99)}


def test_what_projections_show_where_noise_is_as_charged() -> None:
    for projections, (exact, drawn) in SHOWN.items():
        below = factor_below(projections, projections, 0.95)
        assert epsilon_with_noise(WHOLE, below, DELTA) == pytest.approx(exact, abs=1.5e-3), (
            projections
        )
        assert exact < 2.998
        luck = [
            factor_below(stats.chi2.ppf(share, projections), projections, 0.95)
            for share in (0.995, 0.005)
        ]
        least, most = (epsilon_with_noise(WHOLE, each, DELTA) for each in luck)
        assert least - 0.01 < drawn < most, projections


def test_the_bound_is_the_quantile_of_the_chi_square_law() -> None:
    for projections, confidence in itertools.product((1, 2, 30, 4000), (0.9, 0.95, 0.99)):
        expected = math.sqrt(7.0 / stats.chi2.ppf(1 - confidence, projections))
        assert factor_below(7.0, projections, confidence) == pytest.approx(expected, rel=1e-9)


def test_the_bound_fails_as_often_as_it_may() -> None:
    generator = np.random.default_rng(5)
    totals = np.sum(generator.normal(size=(20_000, 50)) ** 2, axis=1)
    fails = sum(factor_below(float(total), 50, 0.95) < 1 for total in totals)
    assert stats.binomtest(fails, 20_000, 0.05).pvalue > 1e-3  # neither more often nor less


def test_noise_as_charged_passes_and_half_of_it_does_not() -> None:
    drawn = np.random.default_rng(0).normal(0.0, 1.068, 5000)
    right, half = audit_noise(drawn, WHOLE, DELTA), audit_noise(drawn / 2, WHOLE, DELTA)
    assert not right.rejected
    assert right.epsilon is not None
    assert 2.8 < right.epsilon < 3.004
    assert right.evidence is Evidence.CONDITIONAL
    assert half.rejected
    assert half.epsilon is not None
    assert half.epsilon > 15
    assert half.figures["sigma_below"] == pytest.approx(right.figures["sigma_below"] / 2)
    assert half.shows.startswith("From 5,000 numbers, sigma is at most 0.54")


def test_a_little_too_little_noise_takes_many_projections() -> None:
    drawn = np.random.default_rng(1).normal(0.0, 0.97 * 1.068, 10_000)
    assert not audit_noise(drawn[-200:], WHOLE, DELTA).rejected
    assert audit_noise(drawn, WHOLE, DELTA).rejected


def test_more_noise_than_charged_is_no_offence() -> None:
    found = audit_noise(np.random.default_rng(2).normal(0.0, 1.3, 5000), WHOLE, DELTA)
    assert found.p_value is not None
    assert found.p_value > 0.99
    assert found.epsilon is not None
    assert found.epsilon < 2.5


def test_no_noise_costs_everything_if_taking_part_is_likelier_than_delta() -> None:
    silent = np.zeros(100)
    assert audit_noise(silent, WHOLE, DELTA).epsilon == math.inf
    assert audit_noise(silent, WHOLE, DELTA).p_value == 0
    rare = Mechanism.constant(1e-8, 1.0, 10)
    assert audit_noise(silent, rare, DELTA).epsilon == 0
    assert audit_noise(silent, rare, 0.9e-7).epsilon == math.inf


def test_each_projection_is_measured_by_the_sigma_of_its_step() -> None:
    schedule = Mechanism((Release(0.1, 2.0, 10), Release(0.1, 1.0, 10)))
    sigma = np.repeat([2.0, 1.0], 10)[:, None]
    drawn = sigma * np.random.default_rng(3).normal(size=(20, 200))
    found = audit_noise(drawn, schedule, DELTA, sigma=sigma)
    assert found.figures["factor"] == pytest.approx(1.0, abs=0.03)
    assert not found.rejected
    assert found.figures["sigma_below"] is None
    assert found.epsilon == pytest.approx(
        lower_epsilon(with_noise(schedule, found.figures["factor_below"]), DELTA)
    )
    assert audit_noise(drawn, schedule, DELTA, sigma=sigma[::-1]).figures[
        "factor"
    ] != pytest.approx(1.0, abs=0.1)
    with pytest.raises(ValueError, match="the mechanism has 2 different ones"):
        audit_noise(drawn, schedule, DELTA)


def test_noise_below_an_accountants_range_costs_as_much_and_above_it_promises_nothing() -> None:
    little, less = (
        epsilon_with_noise(Mechanism.constant(0.1, 1.0, 3), factor, DELTA)
        for factor in (0.05, 1e-9)
    )
    assert 100 < little <= less < math.inf
    assert epsilon_with_noise(Mechanism.constant(0.1, 1e8, 3), 1e3, DELTA) == 0


def test_any_of_many_rare_events_keeps_its_digits() -> None:
    assert any_of((1e-12, 1000), (1e-13, 10)) == pytest.approx(1.001e-9, rel=1e-8)
    assert any_of((0.3, 1), (0.5, 2)) == pytest.approx(1 - 0.7 * 0.25)


def test_numbers_from_which_nothing_follows_give_a_sentence_and_no_confidence_an_error() -> None:
    for bad in (np.array([1.0, np.nan]), np.array([np.inf]), np.zeros(0)):
        found = audit_noise(bad, WHOLE, DELTA)
        assert found.p_value is found.epsilon is None
        assert found.shows.startswith("Nothing can be shown: ")
        assert not found.rejected
    for confidence in (0.0, 1.0, 1.5, math.nan):
        with pytest.raises(ValueError, match="confidence="):
            audit_noise(np.ones(3), WHOLE, DELTA, confidence=confidence)


def test_several_tests_pay_for_one_another() -> None:
    assert bonferroni([0.02, 0.5, 0.3]) == pytest.approx(0.06)
    assert bonferroni(iter([0.9, 0.8])) == 1


STEPS, DIRECTIONS = 30, 40


def fresh(seed: int, steps: int = STEPS, directions: int = DIRECTIONS) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(steps, directions))


def test_fresh_noise_is_rejected_as_often_as_it_may_be() -> None:
    found = [audit_repetition(fresh(seed)) for seed in range(600)]
    for steps in (2, STEPS):
        together = [
            audit_repetition(fresh(seed, steps, 6)).figures["p_together"] for seed in range(600)
        ]
        assert stats.kstest(together, "uniform").pvalue > 1e-3  # an exact p-value
    pairs = sum(each.figures["p_pair"] <= 0.05 for each in found)
    assert stats.binomtest(pairs, 600, 0.05, alternative="greater").pvalue > 1e-3
    assert pairs > 5  # nor is it far too strict
    assert (
        stats.binomtest(
            sum(each.rejected for each in found), 600, 0.05, alternative="greater"
        ).pvalue
        > 1e-3
    )


def test_of_two_steps_the_correlation_has_an_exact_p_value() -> None:
    for directions in (2, 3, 9):
        p_values = [
            audit_repetition(fresh(seed, 2, directions)).figures["p_pair"] for seed in range(600)
        ]
        assert stats.kstest(p_values, "uniform").pvalue > 1e-3, directions


def test_one_seed_for_every_step_is_rejected_however_much_noise_there_is() -> None:
    for scale in (1e-6, 1.0, 1e6):
        assert audit_repetition(scale * fresh(1)).p_value == pytest.approx(
            audit_repetition(fresh(1)).p_value
        )
        found = audit_repetition(scale * np.repeat(fresh(2, 1), 5, axis=0))
        assert found.rejected
        assert found.figures["correlation"] == pytest.approx(1.0)


def test_a_seed_that_comes_back_once_is_found_with_its_two_steps() -> None:
    drawn = fresh(3, 600)  # more steps than are compared at once
    drawn[555] = 0.5 * drawn[7]
    found = audit_repetition(drawn)
    assert found.rejected
    assert found.figures["pair"] == (7, 555)
    assert found.shows == "Among 600 steps, steps 7 and 555 have the most correlated noise: 1.000."


def test_noise_that_is_taken_back_is_found() -> None:
    drawn = fresh(4)
    drawn[1::2] = -drawn[::2]
    found = audit_repetition(drawn)
    assert found.rejected
    assert found.figures["p_together"] < 1e-6
    assert found.figures["correlation"] == pytest.approx(-1.0)


def test_a_small_part_in_common_is_found_by_all_steps_together_alone() -> None:
    drawn = fresh(5, 200) + 0.2 * fresh(6, 1)
    found = audit_repetition(drawn)
    assert found.figures["p_pair"] > 0.05
    assert found.figures["p_together"] < 1e-3
    assert found.rejected


def test_too_little_to_compare_gives_a_sentence_and_one_dimension_an_error() -> None:
    for bad in (np.ones((1, 5)), np.ones((5, 1)), np.zeros((3, 3)), np.full((3, 3), np.nan)):
        assert audit_repetition(bad).shows.startswith("Nothing can be shown")
    with pytest.raises(ValueError, match="to have 2 dimensions"):
        audit_repetition(np.ones(5))


MOVED = Mechanism.constant(0.1, 1.5, 50)


def test_the_clip_norm_itself_is_allowed_and_costs_what_is_charged() -> None:
    slightly_above = 1.0 + 5e-5  # by less than rounding may add to a sum
    found = audit_influence([0.3, 1.0, slightly_above], MOVED, DELTA)
    assert found.p_value == 1
    assert not found.rejected
    assert found.figures["place"] == 2, "the largest of the three"
    charged = lower_epsilon(MOVED, DELTA)
    assert found.epsilon == pytest.approx(charged, rel=1e-3)


def test_more_than_the_clip_norm_is_rejected_and_costs_that_of_less_noise() -> None:
    found = audit_influence(np.array([0.5, 6.0]), MOVED, DELTA, clip_norm=2.0)
    assert found.rejected
    assert found.p_value == 0
    assert found.figures["largest"] == 3.0
    assert found.epsilon == pytest.approx(
        lower_epsilon(Mechanism.constant(0.1, 0.5, 50), DELTA), rel=2e-3
    )
    assert "one moves a sum by 3 clipping norms" in found.shows


def test_without_sampling_it_is_the_closed_form() -> None:
    found = audit_influence([2.5], Mechanism.constant(1.0, 10.0, 16), DELTA, allowed=0.0)
    assert found.epsilon == pytest.approx(float(gaussian.epsilon_of(DELTA, 1.0)), rel=1e-4)


def test_what_rounding_can_make_of_it_is_taken_off_and_no_influence_shows_nothing() -> None:
    assert not audit_influence([1.009], MOVED, DELTA, allowed=0.01).rejected
    assert audit_influence([1.011], MOVED, DELTA, allowed=0.01).rejected
    assert audit_influence([0.0], MOVED, DELTA).epsilon == 0
