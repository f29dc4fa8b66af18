"""The noise has the std that is charged: tests that also fail where it does not."""

import itertools
import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy import stats

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness import gaussian_noise as noise_module
from dpcore.training.randomness.gaussian_noise import PIECE, GaussianNoise, device_words, normals
from dpcore.training.randomness.random_words import AesWords

CPU = torch.device("cpu")


def drawn(size: int, seed: int, std: float = 1.0, count: int = 1, cores: int = 2) -> np.ndarray:
    """(count, size) of successive draws."""
    noise = GaussianNoise(size, SeedSequence(seed), CPU, Cores(cores))
    vectors = torch.zeros(count, size)
    for vector in vectors:
        noise.add_to(vector, std)
    return vectors.numpy()


def p_value(sample: np.ndarray, std: float) -> float:
    """Kolmogorov-Smirnov against Normal(0, std^2): below 1e-6 by a chance that no stream should
    meet.
    """
    return float(stats.kstest(sample, stats.norm(0, std).cdf).pvalue)


def test_draws_are_gaussian_with_the_std_asked_for_and_with_no_other():
    sample = drawn(200_001, seed=3, std=2.5)[0]
    assert p_value(sample, 2.5) > 1e-6
    for wrong in (2 / 3, 0.97, 1.03, 3 / 2):
        assert p_value(sample, 2.5 * wrong) < 1e-3


def test_every_coordinate_of_any_size_is_drawn_afresh():
    for size in [1, 2, 7, 15, 16, 17, 26_010, PIECE + 1, 795_010]:
        draws = drawn(size, seed=0, count=8)
        assert (draws.std(0) > 0).all(), size
        assert np.isfinite(draws).all(), size


def test_coordinates_pieces_and_successive_draws_are_uncorrelated():
    first, second = drawn(2 * PIECE, seed=1, count=2)
    for left, right in ((first[:-1], first[1:]), (first, second), (first[:PIECE], first[PIECE:])):
        assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(len(left))


WEIGHTS = "perturbation/models.py"  # where a network starts: public, and no noise
DRAWING = {f"randomness/{name}.py" for name in ("gaussian_noise", "random_words")}
DRAWING |= {"perturbation/noise.py"}  # a stream for each fit, from the same generators
DRAWING |= {
    f"perturbation/methods/{name}.py"
    for name in ("base", "bassily", "descent", "input_noise", "objective")
}


def test_noise_is_drawn_in_known_places_only():
    folder = Path(noise_module.__file__).parents[1]
    of_torch_or_numpy = re.compile(r"\bnormal_\(|\brandn|\.normal\(|standard_normal|torch\.normal")
    drawing = re.compile(r"\b(add_)?normals\(|\.random_\(")
    texts = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*.py")
    }
    assert [name for name, text in texts.items() if of_torch_or_numpy.search(text)] == [WEIGHTS]
    assert {
        name for name, text in texts.items() if drawing.search(text) and name != WEIGHTS
    } == DRAWING


def test_seed_and_cores_decide_and_nothing_outside():
    before = drawn(PIECE + 1, seed=7)
    torch.manual_seed(0)
    np.random.default_rng(0).random()
    assert np.array_equal(drawn(PIECE + 1, seed=7), before)
    for seed, cores in ((8, 2), (7, 1), (7, 3)):
        other = drawn(PIECE + 1, seed=seed, cores=cores)
        assert abs(np.corrcoef(other[0], before[0])[0, 1]) < 5 / np.sqrt(PIECE + 1)


def test_a_stream_goes_on_from_its_states_as_if_nothing_had_happened():
    for before in [0, 1, 3]:
        first, other = (
            GaussianNoise(PIECE + 1, SeedSequence(seed), CPU, Cores(2)) for seed in (5, 6)
        )
        for _ in range(before):
            first.add_to(torch.zeros(PIECE + 1), 1.0)
        other.add_to(torch.zeros(PIECE + 1), 1.0)
        other.restore([state.clone() for state in first.states()])
        for _ in range(3):
            vectors = torch.zeros(2, PIECE + 1)
            first.add_to(vectors[0], 1.5)
            other.add_to(vectors[1], 1.5)
            assert torch.equal(vectors[0], vectors[1]), before
            assert vectors[0].std() > 1, before


def test_a_scale_multiplies_the_noise_of_each_coordinate():
    plain, scaled, scale = (
        torch.zeros(100_000),
        torch.zeros(100_000),
        torch.linspace(0.1, 9, 100_000),
    )
    GaussianNoise(100_000, SeedSequence(3), CPU, Cores(2)).add_to(plain, 0.5)
    GaussianNoise(100_000, SeedSequence(3), CPU, Cores(2)).add(0, scaled, 0.5, scale)
    torch.testing.assert_close(scaled, plain * scale)


def test_noise_and_sum_are_rounded_once_to_the_nearest_number_that_the_sum_can_hold():
    vector, noise = torch.full((1000,), 3e7), GaussianNoise(1000, SeedSequence(7), CPU, Cores(1))
    state = noise.states()
    noise.add_to(vector, 0.7)
    noise.restore(state)
    exact = 3e7 + normals(noise.words[0], 1000, 0.7)
    assert torch.equal(vector, exact.float())


@pytest.mark.parametrize("scale", [None, torch.linspace(0.1, 9, 1000)], ids=["plain", "scaled"])
def test_noise_that_is_drawn_on_another_device_is_added_before_it_is_rounded_too(
    scale, monkeypatch
):
    vector, noise = torch.full((1000,), 3.0), GaussianNoise(1000, SeedSequence(7), CPU, Cores(1))
    state = noise.states()
    exact = 3 + normals(noise.words[0], 1000, 0.7) * (1.0 if scale is None else scale)
    noise.restore(state)
    # Not the vector's, and yet here.
    monkeypatch.setattr(AesWords, "device", torch.device("cpu", 0))
    noise.add(0, vector, 0.7, scale)
    assert torch.equal(vector, exact.float())


def test_vectors_that_are_drawn_at_the_same_time_are_those_drawn_one_after_another():
    # Pieces of several lengths: a thread's memory is cut anew for each.
    sizes = (150_000, 40_001, 7, 200_000)
    alone = [drawn(size, seed, count=4) for seed, size in enumerate(sizes)]
    with ThreadPoolExecutor(len(sizes)) as threads:
        together = list(threads.map(lambda at: drawn(at[1], at[0], count=4), enumerate(sizes)))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)


def test_a_sum_that_has_diverged_takes_noise_without_a_warning():
    vector = torch.tensor([math.inf, math.nan, 3e38, 1.0])
    GaussianNoise(4, SeedSequence(7), CPU, Cores(1)).add_to(vector, 1e39)
    assert not vector[:2].isfinite().any()


def test_a_vector_on_cuda_is_one_piece_whatever_its_size(monkeypatch):
    monkeypatch.setattr(noise_module, "device_words", lambda secret, device: AesWords(secret))
    noise = GaussianNoise(3 * PIECE, SeedSequence(9), torch.device("cuda"), Cores(2))
    assert noise.count == len(noise.words) == len(noise.pieces(torch.zeros(3 * PIECE))) == 1


def test_generators_of_a_device_can_be_put_in_place_of_others_and_go_on_where_those_were(
    monkeypatch,
):
    monkeypatch.setattr(
        noise_module, "device_words", lambda secret, device: device_words(secret, CPU)
    )
    noise = GaussianNoise(1000, SeedSequence(9), torch.device("cuda"), Cores(1))
    (before,), states, vectors = noise.generators, noise.states(), torch.zeros(3, 1000)
    noise.add_to(vectors[0], 1.0)
    noise.renew()
    (after,) = noise.generators
    assert after is not before
    noise.add_to(vectors[1], 1.0)
    noise.restore(states)
    noise.add_to(vectors[2], 1.0)
    assert torch.equal(vectors[0], vectors[2])
    assert not torch.equal(vectors[0], vectors[1])
    of_aes = GaussianNoise(1000, SeedSequence(9), CPU, Cores(1))
    of_aes.renew()
    assert of_aes.generators == []


def test_any_count_of_numbers_can_be_drawn():
    for words, count in itertools.product(
        (AesWords, lambda secret: device_words(secret, CPU)), (1, 2, 3, 7)
    ):
        drawn = normals(words(bytes(range(32))), count)
        assert (drawn.shape, drawn.dtype) == ((count,), torch.float64), words
        assert torch.isfinite(drawn).all(), (words, count)


def test_states_of_a_vector_of_another_size_are_refused():
    small, large = (
        GaussianNoise(size, SeedSequence(1), CPU, Cores(1)) for size in (PIECE, 3 * PIECE)
    )
    for noise, states in ((large, small.states()), (small, large.states())):
        with pytest.raises(ValueError, match="zip"):
            noise.restore(states)
