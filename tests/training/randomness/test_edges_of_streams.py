"""Streams at the edges: next to nothing to draw, states of another size, seeds that torch must take."""

import dataclasses

import pytest
import torch
from numpy.random import SeedSequence

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness.box_muller import normals
from dpcore.training.randomness.gaussian_noise import PIECE, GaussianNoise, device_words
from dpcore.training.randomness.random_words import AesWords, secret_of
from dpcore.training.randomness.streams import streams_of
from tests.training.test_accounting import METHODS, config_of

CPU = torch.device("cpu")
KINDS = [lambda: AesWords(bytes(range(32))), lambda: device_words(bytes(range(32)), CPU)]


@pytest.mark.parametrize("words", KINDS, ids=["aes", "device"])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_any_count_of_numbers_can_be_drawn(words, count):
    drawn = normals(words(), count)
    assert drawn.shape == (count,)
    assert drawn.dtype == torch.float64
    assert torch.isfinite(drawn).all()


def test_states_of_a_vector_of_another_size_are_refused():
    small, large = (GaussianNoise(size, SeedSequence(1), CPU, Cores(1)) for size in (PIECE, 3 * PIECE))
    for noise, states in ((large, small.states()), (small, large.states())):
        with pytest.raises(ValueError, match="zip"):
            noise.restore(states)


def test_a_machine_is_the_same_however_it_is_written_down():
    machine = {"device": "cpu", "threads": "2", "torch": "3"}
    backwards = dict(reversed(machine.items()))
    assert list(backwards) != list(machine)
    assert secret_of(SeedSequence(1), machine) == secret_of(SeedSequence(1), backwards)


def test_seeds_of_weights_fit_what_torch_takes_on_every_device():
    config = config_of(METHODS[0] if isinstance(METHODS, list | tuple) else next(iter(METHODS)))
    seeds = [streams_of(dataclasses.replace(config, seed=seed)).weights for seed in range(20)]
    assert len(set(seeds)) == 20
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert max(seeds) > 2**60
