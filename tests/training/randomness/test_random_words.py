"""The random words that everything is drawn from: AES as published, streams that go on, memory that
does not show.
"""

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy import stats

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness import gaussian_noise
from dpcore.training.randomness.gaussian_noise import (
    SCRATCH_NUMBERS,
    GaussianNoise,
    Scratch,
    add_normals,
    device_words,
    normals,
)
from dpcore.training.randomness.random_words import AesWords, machine_of, processor, secret_of

CPU = torch.device("cpu")
SECRET = bytes(range(32))
KINDS = {"aes": AesWords, "device": lambda secret: device_words(secret, CPU)}
HERE = {"device": "cpu (AVX2)", "threads": "2", "torch": "2.9"}


def test_aes_words_are_the_key_stream_of_the_published_vectors():
    # NIST SP 800-38A, F.5.1, CTR-AES128: the key stream is what the vectors call output blocks
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    stream = bytes.fromhex("ec8cdf7398607cb0f2d21675ea9ea1e4362b7c3c6773516318a077d7fc5073ae")
    expected = np.frombuffer(stream, np.uint64) & np.uint64(2**63 - 1)
    assert AesWords(key + counter).draw(4).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_uniform_in_their_high_and_in_their_low_bits(kind):
    words = KINDS[kind](SECRET).draw(200_000)
    assert words.dtype == torch.int64
    assert int(words.min()) >= 0
    assert stats.kstest(words.double().numpy() * 2.0**-63, "uniform").pvalue > 1e-3
    for bit in range(63):
        ones = int((words >> bit & 1).sum())
        assert abs(ones - 100_000) < 5 * np.sqrt(50_000)


def test_a_stream_goes_on_from_its_state_and_leaves_no_word_out():
    for before in [0, 1, 2, 7]:
        for kind in KINDS:
            stream, other = KINDS[kind](SECRET), KINDS[kind](SECRET[::-1])
            stream.draw(before)
            other.draw(3)
            other.restore(stream.state().clone())
            assert torch.equal(other.draw(9), stream.draw(9)), (before, kind)
            assert not torch.equal(stream.draw(9), KINDS[kind](SECRET).draw(9)), (before, kind)


def test_successive_draws_are_one_stream_without_repeats():
    stream = AesWords(SECRET)
    drawn = torch.cat([stream.draw(count) for count in (2, 4, 1000, 2)])
    assert torch.equal(drawn, AesWords(SECRET).draw(1008))
    assert len(drawn.unique()) == 1008


def test_a_counter_at_its_end_goes_on_from_its_start():
    stream = AesWords(SECRET[:16] + b"\xff" * 16)
    stream.draw(2)
    other = AesWords(SECRET)
    other.restore(stream.state())
    assert torch.equal(other.draw(4), AesWords(SECRET[:16] + bytes(16)).draw(4))


def test_what_is_no_state_of_an_aes_stream_is_refused():
    stream = AesWords(SECRET)
    for state in (
        torch.full_like(stream.state(), 255),
        stream.state()[:-1],
        device_words(SECRET, CPU).state(),
    ):
        with pytest.raises(ValueError, match="state of an AES stream"):
            stream.restore(state)


def test_a_secret_follows_from_the_whole_seed_and_from_every_part_of_the_machine():
    secrets = {secret_of(SeedSequence(5), HERE)}
    secrets |= {secret_of(SeedSequence(5), HERE | {part: "other"}) for part in HERE}
    secrets |= {secret_of(SeedSequence(5 + 2**shift), HERE) for shift in (0, 31, 32, 63, 64, 127)}
    secrets |= {secret_of(child, HERE) for child in SeedSequence(5).spawn(3)}
    assert len(secrets) == 1 + len(HERE) + 6 + 3
    assert {len(secret) for secret in secrets} == {32}
    assert secret_of(SeedSequence(5), HERE) in secrets


def test_the_machine_is_told_by_what_rounding_depends_on():
    assert machine_of(CPU, 3) == {
        "device": f"cpu ({torch.backends.cpu.get_cpu_capability()}, {processor()})",
        "threads": "3",
        "torch": str(torch.__version__),
    }


def test_processors_of_one_instruction_set_are_told_apart_by_their_model(tmp_path):
    cores = (
        "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: {}\nmodel name\t: EPYC\ncpu"
        " MHz\t\t: 2700.{}\n\n"
    )
    names = []
    for model, clock in ((1, 1), (1, 2), (17, 1)):
        path = tmp_path / f"{model}-{clock}"
        path.write_text(2 * cores.format(model, clock))
        names.append(processor(path))
    assert names == ["AuthenticAMD 25 1 EPYC", "AuthenticAMD 25 1 EPYC", "AuthenticAMD 25 17 EPYC"]
    assert processor(tmp_path / "no such list")


def noise_here(cores: int = 2) -> np.ndarray:
    vector = torch.zeros(40_000)
    GaussianNoise(40_000, SeedSequence(7), CPU, Cores(cores)).add_to(vector, 1.0)
    return vector.numpy()


def test_runs_whose_sums_are_rounded_otherwise_share_no_noise(monkeypatch):
    before, vectors = noise_here(), [noise_here(cores=1), noise_here(cores=3)]
    assert np.array_equal(noise_here(), before)
    for part in HERE:
        monkeypatch.setattr(
            gaussian_noise,
            "machine_of",
            lambda *machine, part=part: machine_of(*machine) | {part: "x"},
        )
        vectors.append(noise_here())
    assert np.abs(np.corrcoef([before, *vectors]) - np.eye(6)).max() < 6 / np.sqrt(40_000)


def test_cuda_has_words_of_its_own_unless_it_is_to_be_secure_and_no_other_device_has(monkeypatch):
    made = []
    monkeypatch.setattr(
        gaussian_noise, "device_words", lambda secret, device: made.append(device) or "own"
    )
    cuda, mps = torch.device("cuda"), torch.device("mps")
    assert gaussian_noise.words_of(SECRET, cuda, False) == "own"
    for device, secure in ((cuda, True), (mps, False), (mps, True), (CPU, False), (CPU, True)):
        assert isinstance(gaussian_noise.words_of(SECRET, device, secure), AesWords)
    assert made == [cuda]


def test_words_of_a_device_are_continued_each_time_since_nobody_looks_at_them():
    words, other = (device_words(SECRET, CPU) for _ in range(2))
    normals(words, 2)
    for count in (2, 7, 7):
        other.draw(count)
    assert torch.equal(words.draw(4), other.draw(4))


LARGEST = SCRATCH_NUMBERS // 3  # pairs that a thread's memory holds


def box_muller(words: AesWords, count: int) -> np.ndarray:
    """The numbers as Box and Muller write them, in memory of their own; words next to an axis are
    not continued.
    """
    pairs = -(-count // 2)
    of_radius, of_angle = words.draw(2 * pairs).numpy().reshape(2, pairs) * 2.0**-63
    radius, angle = np.sqrt(-2 * np.log(of_radius)), 2 * np.pi * of_angle
    return np.concatenate([radius * np.sin(angle), radius * np.cos(angle)])[:count]


def test_a_draw_that_fills_the_memory_of_a_thread_or_exceeds_it_is_that_of_box_and_muller():
    for pairs in [LARGEST, LARGEST + 1, LARGEST + 20_000]:
        drawn = normals(AesWords(SECRET), 2 * pairs).numpy()
        np.testing.assert_allclose(
            drawn, box_muller(AesWords(SECRET), 2 * pairs), rtol=1e-6, atol=1e-8
        )


def test_pieces_of_three_sizes_in_turn_get_the_numbers_that_each_would_get_alone():
    words, alone = AesWords(SECRET), AesWords(SECRET)
    for size in 2 * (11, 1000, 6, 1000, 11, 7):
        target = torch.ones(size, dtype=torch.float64)
        add_normals(words, target, 3.0)
        np.testing.assert_allclose(
            target.numpy(), 1 + 3 * box_muller(alone, size), rtol=1e-6, atol=1e-8
        )


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
    assert (
        scratch.of(LARGEST, CPU).words.data_ptr()
        == scratch.of(1, CPU).words.data_ptr()
        != large.words.data_ptr()
    )
