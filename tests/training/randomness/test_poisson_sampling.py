"""Poisson batches and what must not pass for them; and batches of which every epoch holds each
example once.
"""

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy import stats

from dpcore.privacy.sampling.base import WORDS
from dpcore.training.randomness.batches import EpochBatches, batch_of_step, step_of_each
from dpcore.training.randomness.random_words import BITS, AesWords
from dpcore.training.settings import DRAWN
from dpcore.training.training_run import TrainingRun
from tests.training.randomness.test_tails import Scripted
from tests.training.small_runs import SMALL, run_of

N, Q, STEPS = 40, 0.2, 4000
LEVEL = 1e-4  # of each test; the seeds are fixed, so a pass stays a pass


def words_of(seed: int) -> AesWords:
    return AesWords(seed.to_bytes(32))


def poisson(seed: int) -> np.ndarray:
    """(STEPS, N) whether each example is in each batch."""
    words = words_of(seed)
    drawn = np.zeros((STEPS, N), dtype=bool)
    for row in drawn:
        row[batch_of_step("poisson", N, Q, words)] = True
    return drawn


def shuffled(seed: int) -> np.ndarray:
    """The usual data loader: an epoch is a permutation cut into batches of q n."""
    generator = np.random.default_rng(seed)
    size = round(N * Q)
    drawn = np.zeros((STEPS, N), dtype=bool)
    for start in range(0, STEPS, N // size):
        order = generator.permutation(N)
        for step in range(N // size):
            drawn[start + step, order[step * size : (step + 1) * size]] = True
    return drawn


def fixed_size(seed: int) -> np.ndarray:
    """q n examples without replacement, afresh for each step."""
    generator = np.random.default_rng(seed)
    drawn = np.zeros((STEPS, N), dtype=bool)
    for row in drawn:
        row[generator.choice(N, round(N * Q), replace=False)] = True
    return drawn


def coupled(seed: int) -> np.ndarray:
    """Every example at the right rate, but neighbours together."""
    generator = np.random.default_rng(seed)
    return np.repeat(generator.random((STEPS, N // 2)) < Q, 2, axis=1)


def chi_square(counts: np.ndarray, trials: int, chance: float) -> float:
    """Two-sided p-value of counts that should each be Binomial(trials, chance)."""
    spread = ((counts - trials * chance) ** 2 / (trials * chance * (1 - chance))).sum()
    below = stats.chi2.cdf(spread, len(counts))
    return 2 * min(below, 1 - below)


def single(drawn: np.ndarray) -> float:
    """p-value of each example's inclusions."""
    return chi_square(drawn.sum(0), STEPS, Q)


def pairs(drawn: np.ndarray) -> float:
    """p-value of the joint inclusions of disjoint pairs of examples."""
    return chi_square((drawn[:, ::2] & drawn[:, 1::2]).sum(0), STEPS, Q**2)


def successive(drawn: np.ndarray) -> float:
    """p-value of each example's inclusion in two batches that follow one another."""
    return chi_square((drawn[::2] & drawn[1::2]).sum(0), STEPS // 2, Q**2)


def sizes(drawn: np.ndarray) -> float:
    """p-value of the batch sizes, which should be Binomial(n, q)."""
    return chi_square(drawn.sum(1), N, Q)


def of_a_run(before: Callable[[TrainingRun], None]) -> np.ndarray:
    """The batches of a run's steps, of which only the drawing is done; `before` is called ahead of
    each.
    """
    run = run_of(dataclasses.replace(SMALL, batch=2000))
    assert run.config.q == Q
    drawn = np.zeros((STEPS, N), dtype=bool)
    run.train = (torch.arange(run.config.examples),) * 2
    run.step_totals.add = lambda step, *figures: None

    def seen(step, x, y):
        drawn[step - 1, x[x < N]] = True
        return (None,) * 4

    run.descend = seen
    for step in range(1, STEPS + 1):
        before(run)
        run.step(step)
    return drawn


TESTS = {test.__name__: test for test in (single, pairs, successive, sizes)}


def test_poisson_batches_pass_every_test_of_independence():
    for seed in [1, 2, 3]:
        for test in TESTS.values():
            assert test(poisson(seed)) > LEVEL, (seed, test)


def test_the_batches_of_a_run_pass_them_too_but_not_from_a_stream_that_begins_again():
    drawn = of_a_run(lambda run: None)
    for test in TESTS.values():
        assert test(drawn) > LEVEL, test

    def again(run):
        run.batches = words_of(0)

    assert successive(of_a_run(again)) < LEVEL


def test_other_batches_are_told_apart_from_poisson():
    assert single(shuffled(0)) < LEVEL
    assert successive(shuffled(0)) < LEVEL
    assert sizes(shuffled(0)) < LEVEL
    assert sizes(fixed_size(0)) < LEVEL
    assert pairs(coupled(0)) < LEVEL < successive(coupled(0))
    generator = np.random.default_rng(0)
    assert chi_square((generator.random((STEPS, N)) < 0.95 * Q).sum(0), STEPS, Q) < LEVEL


def test_batches_are_empty_as_often_as_they_should_be():
    words = words_of(5)
    empty = sum(len(batch_of_step("poisson", 100, 0.01, words)) == 0 for _ in range(2000))
    assert stats.binomtest(empty, 2000, 0.99**100).pvalue > LEVEL


def test_every_example_is_drawn_at_rate_one_and_positions_increase():
    assert batch_of_step("poisson", 7, 1.0, words_of(0)).tolist() == list(range(7))
    drawn = batch_of_step("poisson", 10_000, 0.3, words_of(0))
    assert (np.diff(drawn) > 0).all()


def test_the_rate_is_never_above_the_one_that_is_charged_nor_lower_by_more_than_2_to_the_minus_63():
    for q in [1.0, 1 - 2**-53, 0.3, 512 / 60_000, 1e-6, 2.0**-53, 3e-18, 2.0**-63, 1e-19, 1e-300]:
        first_left_out = Fraction(q) * 2**63  # so many of the 2^63 words would make the rate exact
        inside, outside = math.floor(first_left_out) - 1, math.floor(first_left_out)
        words = [word for word in (inside, outside) if 0 <= word < 2**63]
        drawn = batch_of_step("poisson", len(words), q, Scripted(words, 0, True)).tolist()  # type: ignore[arg-type]
        assert drawn == [place for place, word in enumerate(words) if word == inside], q
        rate = Fraction(inside + 1, 2**63)
        assert 0 <= Fraction(q) - rate < Fraction(1, 2**63), q


EXAMPLES, LENGTH, EPOCHS = 30, 6, 3000


def test_a_run_can_draw_these_batches() -> None:
    assert {*DRAWN} == {"poisson", "shuffle", "random_allocation"}


ALLOTTED = [name for name, each in DRAWN.items() if each.by_epoch]


def test_samplers_count_on_the_words_that_a_run_has() -> None:
    assert WORDS == 2**BITS


def steps_of(batches: EpochBatches, epochs: int = EPOCHS) -> np.ndarray:
    """(epochs, n) in which step of each epoch each example was."""
    found = np.full((epochs, batches.n), -1)
    for epoch in range(epochs):
        for place in range(batches.length):
            drawn = batches.drawn(epoch * batches.length + place + 1)
            assert np.all(np.diff(drawn) > 0)
            assert np.all(found[epoch, drawn] == -1)  # nobody is drawn twice
            found[epoch, drawn] = place
    return found


@pytest.mark.parametrize("name", ALLOTTED)
def test_each_example_is_in_one_batch_of_each_epoch_and_in_all_alike(name: str) -> None:
    found = steps_of(EpochBatches(name, EXAMPLES, 1 / LENGTH, bytes(32)))
    assert found.min() == 0
    assert found.max() == LENGTH - 1
    for example in (0, 1, EXAMPLES - 1):
        counts = np.bincount(found[:, example], minlength=LENGTH)
        assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize("name", ALLOTTED)
def test_an_epoch_says_nothing_of_the_next(name: str) -> None:
    found = steps_of(EpochBatches(name, EXAMPLES, 1 / LENGTH, b"\1" * 32))
    table = np.zeros((LENGTH, LENGTH))
    np.add.at(table, (found[:-1, 3], found[1:, 3]), 1)
    assert stats.chi2_contingency(table).pvalue > LEVEL


def together(batches: EpochBatches) -> float:
    """The number of batches that two examples share."""
    found = steps_of(batches)
    return float(np.mean(found[:, 4] == found[:, 5]))


def test_allotted_examples_do_not_know_of_each_other_and_shuffled_ones_do() -> None:
    """Apart by chance 1/T if independent; a shuffle leaves a little less room beside oneself, (n/T
    - 1)/(n - 1).
    """
    free, bound = 1 / LENGTH, (EXAMPLES / LENGTH - 1) / (EXAMPLES - 1)
    for batches, expected, other in (
        (EpochBatches("random_allocation", EXAMPLES, 1 / LENGTH, bytes(32)), free, bound),
        (EpochBatches("shuffle", EXAMPLES, 1 / LENGTH, bytes(32)), bound, free),
    ):
        count = round(EPOCHS * together(batches))
        assert stats.binomtest(count, EPOCHS, expected).pvalue > LEVEL
        assert stats.binomtest(count, EPOCHS, other).pvalue < LEVEL


def test_shuffled_batches_have_nearly_one_size_and_allotted_ones_a_binomial_one() -> None:
    in_order = EpochBatches("shuffle", 20, 1 / 3, bytes(32))
    assert sorted(in_order.drawn(step).size for step in (1, 2, 3)) == [6, 7, 7]
    allotted = EpochBatches("random_allocation", EXAMPLES, 1 / LENGTH, bytes(32))
    sizes = np.array([allotted.drawn(1 + LENGTH * epoch).size for epoch in range(EPOCHS)])
    expected = EPOCHS * stats.binom(EXAMPLES, 1 / LENGTH).pmf(np.arange(11))
    counts = np.append(np.bincount(sizes, minlength=11)[:10], np.sum(sizes >= 10))
    expected[10] = EPOCHS - expected[:10].sum()
    assert stats.chisquare(counts, expected).pvalue > LEVEL


@pytest.mark.parametrize("name", ALLOTTED)
def test_a_run_that_goes_on_draws_what_it_would_have_drawn(name: str) -> None:
    whole, rest = (EpochBatches(name, EXAMPLES, 1 / LENGTH, b"\2" * 32) for _ in range(2))
    for step in range(1, 15):
        whole.drawn(step)
    assert np.array_equal(whole.drawn(15), rest.drawn(15))
    other = EpochBatches(name, EXAMPLES, 1 / LENGTH, b"\3" * 32)
    assert not all(np.array_equal(whole.drawn(step), other.drawn(step)) for step in range(1, 13))


def test_words_that_would_favour_a_step_are_drawn_again() -> None:
    """2^63 is 2 modulo 3: of 0 ... 2^63 - 1 the last two words are too many."""
    words = Scripted([2**63 - 1, 5, 2**63 - 2, 2**63 - 1, 4, 7], 0, True)
    assert step_of_each("random_allocation", 3, 1 / 3, words).tolist() == [1, 2, 1]
    assert words.words == []


def test_equal_words_that_would_favour_an_order_are_drawn_again() -> None:
    words = Scripted([3, 3, 1, 9, 2, 5], 0, True)
    assert step_of_each("shuffle", 3, 1 / 3, words).tolist() == [2, 0, 1]
    assert words.words == []
