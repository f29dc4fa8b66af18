"""Whether noise is drawn anew in every step: the exact laws of the tests, and seeds that are used again."""

import numpy as np
import pytest
from scipy import stats

from dpcore.audit.bounds.noise import audit_repetition

STEPS, DIRECTIONS = 30, 40


def fresh(seed: int, steps: int = STEPS, directions: int = DIRECTIONS) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(steps, directions))


def test_fresh_noise_is_rejected_as_often_as_it_may_be() -> None:
    found = [audit_repetition(fresh(seed)) for seed in range(600)]
    for steps in (2, STEPS):
        together = [audit_repetition(fresh(seed, steps, 6)).p_together for seed in range(600)]
        assert stats.kstest(together, "uniform").pvalue > 1e-3  # an exact p-value
    pairs = sum(each.p_pair <= 0.05 for each in found)
    assert stats.binomtest(pairs, 600, 0.05, alternative="greater").pvalue > 1e-3
    assert pairs > 5  # nor is it far too strict
    assert stats.binomtest(sum(each.rejected for each in found), 600, 0.05, alternative="greater").pvalue > 1e-3


def test_of_two_steps_the_correlation_has_an_exact_p_value() -> None:
    for directions in (2, 3, 9):
        p_values = [audit_repetition(fresh(seed, 2, directions)).p_pair for seed in range(600)]
        assert stats.kstest(p_values, "uniform").pvalue > 1e-3, directions


def test_one_seed_for_every_step_is_rejected_however_much_noise_there_is() -> None:
    for scale in (1e-6, 1.0, 1e6):
        assert audit_repetition(scale * fresh(1)).p_value == pytest.approx(audit_repetition(fresh(1)).p_value)
        found = audit_repetition(scale * np.repeat(fresh(2, 1), 5, axis=0))
        assert found.rejected
        assert found.correlation == pytest.approx(1.0)


def test_a_seed_that_comes_back_once_is_found_with_its_two_steps() -> None:
    drawn = fresh(3, 600)  # more steps than are compared at once
    drawn[555] = 0.5 * drawn[7]
    found = audit_repetition(drawn)
    assert found.rejected
    assert found.pair == (7, 555)
    assert found.shows == "Of 600 steps, the noise of steps 7 and 555 has the largest correlation, 1.000."


def test_noise_that_is_taken_back_is_found() -> None:
    drawn = fresh(4)
    drawn[1::2] = -drawn[::2]
    found = audit_repetition(drawn)
    assert found.rejected
    assert found.p_together < 1e-6
    assert found.correlation == pytest.approx(-1.0)


def test_a_small_part_in_common_is_found_by_all_steps_together_alone() -> None:
    drawn = fresh(5, 200) + 0.2 * fresh(6, 1)
    found = audit_repetition(drawn)
    assert found.p_pair > 0.05
    assert found.p_together < 1e-3
    assert found.rejected


def test_directions_that_share_their_noise_are_found_in_the_transposed_projections() -> None:
    drawn = fresh(7)
    drawn[:, 3] = drawn[:, 11]
    assert not audit_repetition(drawn).rejected
    assert audit_repetition(drawn.T).pair == (3, 11)


def test_too_little_to_compare_gives_a_sentence_and_one_dimension_an_error() -> None:
    for bad in (np.ones((1, 5)), np.ones((5, 1)), np.zeros((3, 3)), np.full((3, 3), np.nan)):
        assert audit_repetition(bad).shows.startswith("Nothing can be shown")
    with pytest.raises(ValueError, match="to have 2 dimensions"):
        audit_repetition(np.ones(5))
