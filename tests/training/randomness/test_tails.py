"""The tails of the noise: no count can find the missing mass, and that mass is known."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from scipy import stats

from dpcore.training.randomness import gaussian_noise
from dpcore.training.randomness.gaussian_noise import (
    continued_directions,
    continued_logarithms,
    device_words,
    normals,
)
from dpcore.training.randomness.random_words import AesWords, RandomWords

SECRET = bytes(range(32))
# What is not this near to an end, or to an axis, need not be continued: the README's number.
NEAR = 2**40
LEVEL = 5e-4  # of each count, on either side
KINDS = {"aes": AesWords, "device": lambda secret: device_words(secret, torch.device("cpu"))}


class Scripted(RandomWords):
    """Words as they are written."""

    def __init__(self, words: list[int], further: int, on_host: bool) -> None:
        self.words, self.further, self.on_host, self.device = (
            words,
            further,
            on_host,
            torch.device("cpu"),
        )

    def fill(self, memory: torch.Tensor) -> None:
        memory.copy_(self.draw(memory.numel()).view_as(memory))

    def draw(self, count: int) -> torch.Tensor:
        drawn, self.words = self.words[:count], self.words[count:]
        assert len(drawn) == count
        return torch.tensor(drawn, dtype=torch.int64)

    def state(self) -> torch.Tensor:
        raise NotImplementedError

    restore = state  # type: ignore[assignment]


def fraction(words: list[int]) -> Fraction:
    """The number with these further words as digits, the first one highest."""
    value = Fraction(1, 2)
    for word in reversed(words):
        value = (word + value) / 2**63
    return value


def exactly(uniform: Fraction, turns: Fraction) -> tuple[float, float]:
    """The two normal numbers that Box and Muller's method makes of a pair, in 200 digits."""
    with mpmath.workdps(200):
        radius = mpmath.sqrt(-2 * mpmath.log(mpmath.mpf(uniform.numerator) / uniform.denominator))
        angle = 2 * mpmath.pi * turns.numerator / turns.denominator
        return float(radius * mpmath.sin(angle)), float(radius * mpmath.cos(angle))


FIRST = [
    2**62,
    2**61 + 5,
    2**63 - 2**50,
    NEAR,
    NEAR - 1,
    12345,
    1,
    0,
    2**63 - NEAR - 1,
    2**63 - NEAR,
    2**63 - 1,
]
AXES = [
    axis + offset
    for axis in (2**61, 2**62, 3 * 2**61)
    for offset in (-NEAR - 1, -NEAR, -1, 0, 1, 2**30)
]
ANGLES = [
    0,
    1,
    2**63 - 1,
    2**63 - 2**30,
    *AXES,
    2**60 + 12345,
    5 * 2**60,
    2**62 + NEAR,
    2**62 + NEAR - 1,
]


@pytest.mark.parametrize("on_host", [True, False])
def test_a_pair_of_numbers_is_that_of_box_and_muller_in_the_furthest_tail_and_next_to_0(on_host):
    of_radius, of_angle = [2**62 + 5, 3, 2**63 - 2**30], [7, 2**61 + 9, 2**62 + 3]
    for first, angle in itertools.product(FIRST, ANGLES):
        continued = not on_host or first < NEAR or first >= 2**63 - NEAR
        by_axis = not on_host or angle % 2**61 < NEAR or angle % 2**61 >= 2**61 - NEAR
        words = Scripted([first, angle, *of_radius * continued, *of_angle * by_axis], 3, on_host)
        drawn = normals(words, 2).tolist()
        assert words.words == [], (first, angle)
        uniform = (first + (fraction(of_radius) if continued else Fraction(0))) / 2**63
        expected = exactly(
            uniform, (angle + (fraction(of_angle) if by_axis else Fraction(0))) / 2**63
        )
        assert drawn == pytest.approx(expected, rel=1e-8, abs=0), (first, angle)


def test_of_many_pairs_those_next_to_an_end_or_an_axis_are_continued_and_no_others():
    for first, angle, place in itertools.product(
        [2**62, 12345, 2**63 - 5], [2**60, 2**62 + 5, 2**61 - 5], [0, 1, 3]
    ):
        firsts, angles, further = [2**62] * 4, [2**60 + 7] * 4, [2**61 + 3, 9, 2**62 + 5]
        firsts[place], angles[place] = first, angle
        near_end, near_axis = first != 2**62, angle != 2**60
        words = Scripted(
            [*firsts, *angles, *further * near_end, *further[::-1] * near_axis], 3, on_host=True
        )
        drawn = normals(words, 8).reshape(2, 4).T.tolist()
        assert words.words == [], (first, angle, place)
        usual = exactly(Fraction(firsts[place - 1], 2**63), Fraction(angles[place - 1], 2**63))
        uniform = first + (fraction(further) if near_end else Fraction(0))
        special = exactly(
            uniform / 2**63,
            (angle + (fraction(further[::-1]) if near_axis else Fraction(0))) / 2**63,
        )
        for at, pair in enumerate(drawn):
            assert pair == pytest.approx(special if at == place else usual, rel=1e-8, abs=0), (
                first,
                angle,
                place,
            )


def test_where_a_sum_is_0_float32_shows_no_grid_of_small_radii():
    near_one = torch.from_numpy(np.random.default_rng(0).integers(0, 2**30, 2001))
    words = AesWords(SECRET)
    angles = words.draw(2001)
    radii = continued_logarithms(words, 2**63 - 1 - near_one).mul(-2).sqrt()
    pair = torch.stack(
        [
            radii * torch.cos(angles * (2 * math.pi / 2**63)),
            radii * torch.sin(angles * (2 * math.pi / 2**63)),
        ]
    )
    squares = pair.float().double().square().sum(0).numpy() * 2.0**52
    assert 0.2 < np.median(np.abs(squares - np.round(squares))) < 0.3
    coarse = -2 * np.log(1 - near_one.numpy() * 2.0**-63) * 2.0**52
    assert np.median(np.abs(coarse - np.round(coarse))) < 0.01


@pytest.mark.parametrize("axis", [2**61, 2**62, 3 * 2**61])
def test_where_a_sum_is_0_float32_shows_no_grid_of_angles_next_to_an_axis(axis):
    angles = axis + torch.from_numpy(np.random.default_rng(1).integers(-(2**12), 2**12, 2001))
    exact = angles.double() * (2 * math.pi / 2**63)
    cosines, sines = torch.cos(exact), torch.sin(exact)
    small = sines if axis == 2**62 else cosines
    continued = continued_directions(AesWords(SECRET), angles)
    torch.testing.assert_close(continued, torch.stack([sines, cosines]), rtol=0, atol=2e-15)
    assert len(continued[int(axis != 2**62)].float().unique()) > 1900
    assert len(small.float().unique()) < 100


def test_words_that_are_continued_hardly_change_a_number_whose_words_are_nowhere_near(monkeypatch):
    words, others = AesWords(SECRET), AesWords(SECRET)
    usual = normals(words, 20_000)
    monkeypatch.setattr(gaussian_noise, "NEAR", 2**59)
    continued = normals(others, 20_000)
    assert not torch.equal(words.state(), others.state())  # more words were drawn
    torch.testing.assert_close(continued, usual, rtol=1e-9, atol=1e-9)


class Far(RandomWords):
    """AES whose every first word is small, or 0: the radii are beyond 5.5 standard deviations, or
    9.3.
    """

    on_host, further = True, AesWords.further

    def __init__(self, below: int) -> None:
        self.words, self.below, self.device = AesWords(SECRET), below, torch.device("cpu")

    def fill(self, memory: torch.Tensor) -> None:
        self.words.fill(memory)

    def first(self, count: int) -> torch.Tensor:
        return self.draw(count) % self.below

    def state(self) -> torch.Tensor:
        raise NotImplementedError

    restore = state  # type: ignore[assignment]


@pytest.mark.parametrize("below", [NEAR, 1])
def test_beyond_the_first_word_the_tail_has_the_exact_conditional_law(below):
    words = Far(below)
    numbers = continued_logarithms(words, words.first(50_000)).exp().numpy() * (2.0**63 / below)
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3
    assert stats.kstest(-np.log(numbers), "expon").pvalue > 1e-3
    assert len(np.unique(numbers)) == len(numbers)
    lowest = numbers.min() * 50_000
    assert 1e-4 < lowest < 12  # nothing keeps away from 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_count_beyond_four_and_more_standard_deviations_agrees_with_the_normal_tail(kind):
    words, counts, draws = KINDS[kind](SECRET), np.zeros(3, dtype=int), 0
    for _ in range(100):
        sizes = normals(words, 100_000).abs_()
        counts += [int((sizes > threshold).sum()) for threshold in (4.0, 4.3, 4.6)]
        draws += len(sizes)
    for count, threshold in zip(counts, (4.0, 4.3, 4.6), strict=True):
        assert plausible(count, draws * 2 * stats.norm.sf(threshold))
        assert not plausible(count // 3, draws * 2 * stats.norm.sf(threshold))


def plausible(count: int, expected: float | np.ndarray) -> bool:
    """True if a Poisson count of this mean is as low or as high more often than once in 2,000
    times.
    """
    return bool(
        min(stats.poisson.cdf(count, expected), stats.poisson.sf(count - 1, expected)) > LEVEL
    )


@pytest.mark.long
@pytest.mark.timeout(900)
def test_of_1_2_billion_numbers_as_many_exceed_what_torch_can_draw_as_the_normal_tail_says():
    words, draws, size = AesWords(SECRET), 1_200_000_000, 1 << 14
    beyond, of_torch, values = 0, 0, torch.empty(size)
    generator = torch.Generator().manual_seed(1)
    for _ in range(-(-draws // size)):
        beyond += int(torch.count_nonzero(normals(words, size).abs_() > 5.77))
        of_torch += int(torch.count_nonzero(values.normal_(generator=generator).abs_() > 5.77))
    expected = draws * 2 * stats.norm.sf(5.77)
    assert expected == pytest.approx(9.5, abs=0.1)
    assert plausible(beyond, expected)
    assert of_torch == 0  # it stops at the root of 48 ln 2
    assert not plausible(of_torch, expected)
    assert math.sqrt(48 * math.log(2)) < 5.77
