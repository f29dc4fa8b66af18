"""The memory that a thread draws in again and again: neither the size of a draw nor a change of sizes shows."""

import numpy as np
import torch

from dpcore.training.randomness.box_muller import KEPT, Scratch, add_normals, normals
from dpcore.training.randomness.random_words import AesWords

CPU = torch.device("cpu")
SECRET = bytes(range(32))
LARGEST = KEPT // 3  # pairs that a thread's memory holds


def box_muller(words: AesWords, count: int) -> np.ndarray:
    """The numbers as Box and Muller write them, in memory of their own; words next to an axis are not continued."""
    pairs = -(-count // 2)
    of_radius, of_angle = words.draw(2 * pairs).numpy().reshape(2, pairs) * 2.0**-63
    radius, angle = np.sqrt(-2 * np.log(of_radius)), 2 * np.pi * of_angle
    return np.concatenate([radius * np.sin(angle), radius * np.cos(angle)])[:count]


def test_a_draw_that_fills_the_memory_of_a_thread_or_exceeds_it_is_that_of_box_and_muller():
    for pairs in [LARGEST, LARGEST + 1, LARGEST + 20_000]:
        drawn = normals(AesWords(SECRET), 2 * pairs).numpy()
        np.testing.assert_allclose(drawn, box_muller(AesWords(SECRET), 2 * pairs), rtol=1e-6, atol=1e-8)


def test_pieces_of_three_sizes_in_turn_get_the_numbers_that_each_would_get_alone():
    words, alone = AesWords(SECRET), AesWords(SECRET)
    for size in 2 * (11, 1000, 6, 1000, 11, 7):
        target = torch.ones(size, dtype=torch.float64)
        add_normals(words, target, 3.0)
        np.testing.assert_allclose(target.numpy(), 1 + 3 * box_muller(alone, size), rtol=1e-6, atol=1e-8)


def test_memory_is_cut_once_for_two_sizes_and_what_is_kept_does_not_grow_with_a_third():
    scratch = Scratch()
    first, second = scratch.of(5, CPU), scratch.of(6, CPU)
    assert scratch.of(5, CPU) is first
    assert scratch.of(6, CPU) is second
    assert scratch.of(7, CPU).words.shape == (2, 7)
    again = scratch.of(5, CPU)
    assert again is not first
    assert again.words.data_ptr() == first.words.data_ptr()


def test_what_is_larger_than_the_memory_of_a_thread_is_given_back():
    scratch = Scratch()
    large = scratch.of(LARGEST + 1, CPU)
    assert scratch.of(LARGEST + 1, CPU) is not large
    assert scratch.of(LARGEST, CPU).words.data_ptr() == scratch.of(1, CPU).words.data_ptr() != large.words.data_ptr()
