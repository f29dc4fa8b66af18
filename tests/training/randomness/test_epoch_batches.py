"""Batches of which every epoch holds each example once: which they are, and what they must not be taken for."""

import numpy as np
import pytest
from scipy import stats

from dpcore.training.randomness.epoch_batches import OF_EPOCHS, AllocatedBatches, EpochBatches, ShuffledBatches
from dpcore.training.settings import DRAWN
from tests.training.randomness.test_tails import Scripted

N, LENGTH, EPOCHS = 30, 6, 3000
LEVEL = 1e-4  # of each test; the secrets are fixed, so a pass stays a pass


def steps_of(batches: EpochBatches, epochs: int = EPOCHS) -> np.ndarray:
    """(epochs, N) in which step of each epoch each example was."""
    found = np.full((epochs, batches.n), -1)
    for epoch in range(epochs):
        for place in range(batches.length):
            drawn = batches.drawn(epoch * batches.length + place + 1)
            assert np.all(np.diff(drawn) > 0)
            assert np.all(found[epoch, drawn] == -1)  # nobody is drawn twice
            found[epoch, drawn] = place
    return found


def test_every_sampler_of_a_run_is_drawn() -> None:
    assert {*OF_EPOCHS, "poisson"} == set(DRAWN)


@pytest.mark.parametrize("name", OF_EPOCHS)
def test_each_example_is_in_one_batch_of_each_epoch_and_in_all_alike(name: str) -> None:
    found = steps_of(OF_EPOCHS[name](N, LENGTH, bytes(32)))
    assert found.min() == 0
    assert found.max() == LENGTH - 1
    for example in (0, 1, N - 1):
        counts = np.bincount(found[:, example], minlength=LENGTH)
        assert stats.chisquare(counts).pvalue > LEVEL


@pytest.mark.parametrize("name", OF_EPOCHS)
def test_an_epoch_says_nothing_of_the_next(name: str) -> None:
    found = steps_of(OF_EPOCHS[name](N, LENGTH, b"\1" * 32))
    table = np.zeros((LENGTH, LENGTH))
    np.add.at(table, (found[:-1, 3], found[1:, 3]), 1)
    assert stats.chi2_contingency(table).pvalue > LEVEL


def together(batches: EpochBatches) -> float:
    """How often two examples share a batch."""
    found = steps_of(batches)
    return float(np.mean(found[:, 4] == found[:, 5]))


def test_allotted_examples_do_not_know_of_each_other_and_shuffled_ones_do() -> None:
    """Apart by chance 1/T if independent; a shuffle leaves a little less room beside oneself, (n/T - 1)/(n - 1)."""
    free, bound = 1 / LENGTH, (N / LENGTH - 1) / (N - 1)
    for batches, expected, other in (
        (AllocatedBatches(N, LENGTH, bytes(32)), free, bound),
        (ShuffledBatches(N, LENGTH, bytes(32)), bound, free),
    ):
        count = round(EPOCHS * together(batches))
        assert stats.binomtest(count, EPOCHS, expected).pvalue > LEVEL
        assert stats.binomtest(count, EPOCHS, other).pvalue < LEVEL


def test_shuffled_batches_have_nearly_one_size_and_allotted_ones_a_binomial_one() -> None:
    shuffled = ShuffledBatches(20, 3, bytes(32))
    assert sorted(shuffled.drawn(step).size for step in (1, 2, 3)) == [6, 7, 7]
    allotted = AllocatedBatches(N, LENGTH, bytes(32))
    sizes = np.array([allotted.drawn(1 + LENGTH * epoch).size for epoch in range(EPOCHS)])
    expected = EPOCHS * stats.binom(N, 1 / LENGTH).pmf(np.arange(11))
    counts = np.append(np.bincount(sizes, minlength=11)[:10], np.sum(sizes >= 10))
    expected[10] = EPOCHS - expected[:10].sum()
    assert stats.chisquare(counts, expected).pvalue > LEVEL


@pytest.mark.parametrize("name", OF_EPOCHS)
def test_a_run_that_goes_on_draws_what_it_would_have_drawn(name: str) -> None:
    whole, rest = (OF_EPOCHS[name](N, LENGTH, b"\2" * 32) for _ in range(2))
    for step in range(1, 15):
        whole.drawn(step)
    assert np.array_equal(whole.drawn(15), rest.drawn(15))
    other = OF_EPOCHS[name](N, LENGTH, b"\3" * 32)
    assert not all(np.array_equal(whole.drawn(step), other.drawn(step)) for step in range(1, 13))


def test_words_that_would_favour_a_step_are_drawn_again() -> None:
    """2^63 is 2 modulo 3: of 0 ... 2^63 - 1 the last two words are too many."""
    words = Scripted([2**63 - 1, 5, 2**63 - 2, 2**63 - 1, 4, 7], 0, True)
    assert AllocatedBatches(3, 3, bytes(32)).allotted(words).tolist() == [1, 2, 1]
    assert words.words == []


def test_equal_words_that_would_favour_an_order_are_drawn_again() -> None:
    words = Scripted([3, 3, 1, 9, 2, 5], 0, True)
    assert ShuffledBatches(3, 3, bytes(32)).allotted(words).tolist() == [2, 0, 1]
    assert words.words == []
