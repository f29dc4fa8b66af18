"""The noise has the std that is charged: tests that also fail where it does not."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.random import MT19937, SeedSequence
from scipy import stats

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness import gaussian_noise as noise_module
from dpcore.training.randomness.gaussian_noise import GaussianNoise, seeded

CPU = torch.device("cpu")


def drawn(size: int, seed: int, std: float = 1.0, count: int = 1, cores: int = 2) -> np.ndarray:
    """(count, size) of successive draws."""
    noise = GaussianNoise(size, SeedSequence(seed), CPU, Cores(cores))
    vectors = torch.zeros(count, size)
    for vector in vectors:
        noise.add_to(vector, std)
    return vectors.numpy()


def p_value(sample: np.ndarray, std: float) -> float:
    """Kolmogorov-Smirnov against Normal(0, std^2)."""
    return float(stats.kstest(sample, "norm", args=(0, std)).pvalue)


def test_draws_are_gaussian_with_the_std_asked_for_and_with_no_other():
    sample = drawn(200_001, seed=3, std=2.5)[0]
    assert p_value(sample, 2.5) > 0.001
    for wrong in (2 / 3, 0.97, 1.03, 3 / 2):
        assert p_value(sample, 2.5 * wrong) < 1e-3


def test_the_tails_are_as_heavy_as_they_should_be():
    sample = drawn(2_000_000, seed=0, count=3).ravel()
    for threshold in (3, 4, 4.5):
        expected = len(sample) * 2 * stats.norm.sf(threshold)
        assert abs((np.abs(sample) > threshold).sum() - expected) < 5 * np.sqrt(expected)


@pytest.mark.parametrize("size", [1, 2, 7, 15, 16, 17, 26_010, 65_537, 795_010])
def test_every_coordinate_of_any_size_is_drawn_afresh(size):
    draws = drawn(size, seed=0, count=8)
    assert (draws.std(0) > 0).all()
    assert np.isfinite(draws).all()


def test_coordinates_pieces_and_successive_draws_are_uncorrelated():
    first, second = drawn(200_000, seed=1, count=2)
    for left, right in ((first[:-1], first[1:]), (first, second), (first[:100_000], first[100_000:])):
        assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(len(left))


def test_noise_is_drawn_in_one_place_only():
    folder = Path(noise_module.__file__).parents[1]
    drawing = re.compile(r"\bnormal_\(|\brandn|\.normal\(|standard_normal|torch\.normal")
    users = {path.name for path in folder.rglob("*.py") if drawing.search(path.read_text(encoding="utf-8"))}
    assert users == {"gaussian_noise.py"}


def test_it_is_added_to_what_is_there():
    vector = torch.arange(100_000.0)
    GaussianNoise(100_000, SeedSequence(7), CPU, Cores(2)).add_to(vector, 0.5)
    assert p_value((vector - torch.arange(100_000.0)).numpy(), 0.5) > 0.001


def test_the_seed_alone_decides_not_the_cores_and_nothing_outside():
    before = drawn(150_000, seed=7)
    torch.manual_seed(0)
    assert np.array_equal(drawn(150_000, seed=7, cores=1), before)
    assert np.array_equal(drawn(150_000, seed=7, cores=3), before)
    assert not np.array_equal(drawn(150_000, seed=8), before)


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_stream_goes_on_from_its_states_as_if_nothing_had_happened(before):
    first, other = (GaussianNoise(150_000, SeedSequence(seed), CPU, Cores(2)) for seed in (5, 6))
    for _ in range(before):
        first.add_to(torch.zeros(150_000), 1.0)
    other.add_to(torch.zeros(150_000), 1.0)
    other.restore([state.clone() for state in first.states()])
    for _ in range(3):
        vectors = torch.zeros(2, 150_000)
        first.add_to(vectors[0], 1.5)
        other.add_to(vectors[1], 1.5)
        assert torch.equal(vectors[0], vectors[1])
        assert vectors[0].std() > 1


def test_a_scale_multiplies_the_noise_of_each_coordinate():
    plain, scaled, scale = torch.zeros(100_000), torch.zeros(100_000), torch.linspace(0.1, 9, 100_000)
    GaussianNoise(100_000, SeedSequence(3), CPU, Cores(2)).add_to(plain, 0.5)
    GaussianNoise(100_000, SeedSequence(3), CPU, Cores(2)).add_to(scaled, 0.5, scale)
    torch.testing.assert_close(scaled, plain * scale)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1, 2**200 + 12345])
def test_a_generator_starts_from_all_bits_of_its_seed_as_numpys_own_twister_does(seed):
    generator = seeded(torch.Generator(), SeedSequence(seed))
    words = SeedSequence(seed).generate_state(624, np.uint32)
    words[0] |= 1 << 31
    twister = MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": 624}}
    drawn_here = torch.empty(2000, dtype=torch.int32).random_(generator=generator).numpy()
    assert np.array_equal(drawn_here, twister.random_raw(2000) & 0x7FFFFFFF)


def test_seeds_that_agree_in_their_lower_half_give_other_noise():
    assert not np.array_equal(drawn(1000, seed=12345), drawn(1000, seed=12345 + 7 * 2**32))
    # with the seeding of torch itself they would agree:
    low, high = torch.Generator().manual_seed(12345), torch.Generator().manual_seed(12345 + 7 * 2**32)
    assert torch.equal(torch.rand(5, generator=low), torch.rand(5, generator=high))


def test_pieces_of_one_vector_share_nothing():
    pieces = np.split(drawn(300_000, seed=9)[0], 3)
    for i, left in enumerate(pieces):
        for right in pieces[i + 1 :]:
            assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(len(left))
