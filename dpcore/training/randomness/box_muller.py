"""Gaussian numbers from random words. The README beside it derives what they can be and what is missing."""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dpcore.training.randomness.random_words import BITS, MASK, RandomWords

NEAR = 1 << 41  # words this near to 0, to 2^63 or, of an angle, to an axis are continued by further words
QUARTER = 1 << (BITS - 2)  # of the circle
UNIT = 2.0**-BITS
KEPT = 1 << 19  # float64 numbers of a thread's scratch memory
Number = float | Tensor  # a tensor () is read on its device: a recorded step takes it from there each time


class Memory(NamedTuple):
    """What a draw of pairs works in, anything in it: views of one memory of 6 float64 numbers for each pair."""

    words: Tensor  # (2, pairs) of int64: of the radii and of the angles
    sums: Tensor  # (2, pairs), over the words
    polar: Tensor  # (2, pairs), radii and angles
    radii: Tensor  # (pairs,)
    angles: Tensor
    directions: Tensor  # (2, pairs)
    cosines: Tensor  # (pairs,)
    sines: Tensor
    near: Tensor  # (2, pairs) of int64, over the directions

    @classmethod
    def over(cls, memory: Tensor, pairs: int) -> Memory:
        rows = memory[: 6 * pairs].view(6, pairs)
        polar, directions = rows[2:4], rows[4:]
        whole = rows.view(torch.int64)
        return cls(whole[:2], rows[:2], polar, rows[2], rows[3], directions, rows[4], rows[5], whole[4:])


class Scratch(threading.local):
    """Memory that a thread works in again and again: to ask the system for it takes as long as the numbers do."""

    def __init__(self) -> None:
        self._kept = torch.empty(KEPT, dtype=torch.float64)
        self._views: dict[int, Memory] = {}

    def of(self, pairs: int, device: torch.device) -> Memory:
        """Memory which the thread's next call may hand out again; what is large, or recorded, has its own."""
        if device.type != "cpu" or 6 * pairs > KEPT:
            return Memory.over(torch.empty(6 * pairs, dtype=torch.float64, device=device), pairs)
        if pairs not in self._views:
            if len(self._views) == 2:  # the pieces of a vector differ by one coordinate at most
                self._views.clear()
            self._views[pairs] = Memory.over(self._kept, pairs)
        return self._views[pairs]


_scratch = Scratch()


def normals(words: RandomWords, count: int, std: Number = 1.0) -> Tensor:
    """Independent Gaussian numbers (count,) of this standard deviation in float64."""
    drawn = torch.zeros(count, dtype=torch.float64, device=words.device)
    add_normals(words, drawn, std)
    return drawn


def add_normals(words: RandomWords, target: Tensor, std: Number, scale: Tensor | None = None) -> None:
    """Add independent Gaussian numbers of this standard deviation, times the scale (n,) if there is one.

    The target (n,) is changed in place. Noise and target are added in float64 and rounded once, to what it holds.

    Source: Box and Muller 1958, "A note on the generation of random normal deviates". Of two words, one gives the
    radius std sqrt(-2 ln u) and one the angle. The radius has the whole precision of float64 for every u above
    2^-(63 (1 + further)): that is where the law is cut off. So have cosine and sine, next to an axis too.
    """
    count = len(target)
    if not count:
        return
    memory = _scratch.of(-(-count // 2), target.device)
    words.fill(memory.words)
    of_radius, of_angle = coarse(memory) if words.on_host else (slice(None), slice(None))
    memory.polar.copy_(memory.words)
    radii = memory.radii.mul_(UNIT).log_()
    if of_radius is not None:
        radii[of_radius] = continued_logarithms(words, memory.words[0, of_radius])
    radii.mul_(-2.0 * std * std).sqrt_()
    memory.angles.mul_(2 * math.pi * UNIT)
    torch.cos(memory.angles, out=memory.cosines)
    torch.sin(memory.angles, out=memory.sines)
    if of_angle is not None:
        memory.directions[:, of_angle] = continued_directions(words, memory.words[1, of_angle])
    if scale is not None:
        memory.directions.view(-1)[:count].mul_(scale)
    sums = memory.sums.view(-1)[:count]
    sums.copy_(target)
    memory.sums.addcmul_(memory.directions, radii)
    target.copy_(sums)


def coarse(memory: Memory) -> tuple[Tensor | None, Tensor | None]:
    """Where words of radii and of angles need continuing, None for nowhere.

    One look finds radii near 0 and near 1 and angles near an axis: all are near a multiple of a quarter of 2^63.
    """
    near = torch.bitwise_and(memory.words, QUARTER - 1, out=memory.near).numpy()
    if near.min() >= NEAR and near.max() < QUARTER - NEAR:
        return None, None
    of_radius, of_angle = (np.flatnonzero((row < NEAR) | (row >= QUARTER - NEAR)) for row in near)
    first = memory.words.numpy()[0, of_radius]
    of_radius = of_radius[(first < NEAR) | (first >= MASK + 1 - NEAR)]
    return indices(of_radius), indices(of_angle)


def indices(found: np.ndarray) -> Tensor | None:
    """What was found, as torch takes it, None for nothing."""
    return torch.from_numpy(found) if len(found) else None


def continued_logarithms(words: RandomWords, first: Tensor) -> Tensor:
    """ln u (n,) of uniform numbers u = (k + v) 2^-63 for these words k, with v uniform of further words.

    Float64 is fine enough for u near 0, but near 1 it has only multiples of 2^-53: there 1 - u = (2^63 - 1 - k + 1 - v)
    2^-63 takes its place.
    """
    more = fractions(words, len(first))
    low = (first.to(torch.float64) + more).mul_(UNIT).log_()
    high = torch.log1p((MASK - first).to(torch.float64).add_(1 - more).mul_(-UNIT))
    return torch.where(first > MASK // 2, high, low)


def continued_directions(words: RandomWords, second: Tensor) -> Tensor:
    """Cosine and sine (2, n) of the angles 2 pi (k + v) 2^-63 for these words k, with v uniform of further words.

    The angle is taken from the nearest axis, not from 0, so that the number near 0 has the whole precision of float64.
    """
    turns = (second + QUARTER // 2) >> (BITS - 2)  # the nearest axis; what overflows here is whole circles
    from_axis = (second - turns * QUARTER).to(torch.float64).add_(fractions(words, len(second)))
    from_axis.mul_(2 * math.pi * UNIT)
    small, large = torch.sin(from_axis), torch.cos(from_axis)
    odd, sign = turns % 2 == 1, 1.0 - (turns % 4 // 2) * 2.0
    return torch.stack((torch.where(odd, -small, large), torch.where(odd, large, small))).mul_(sign)


def fractions(words: RandomWords, count: int) -> Tensor:
    """Uniform numbers (count,) of as many words each as `further` says, never 0."""
    digits = words.draw(count * words.further).view(count, words.further).to(torch.float64)
    digits[:, -1].add_(0.5)
    return digits.mv(UNIT ** torch.arange(1, words.further + 1, dtype=torch.float64, device=digits.device))


def largest(words: RandomWords | type[RandomWords]) -> float:
    """The largest size of a standard normal number that can be drawn: that of words which are all 0."""
    return math.sqrt(2 * math.log(2) * (BITS * (1 + words.further) + 1))


def missing_mass(words: RandomWords | type[RandomWords], draws: float) -> float:
    """The probability, at most, that any of so many numbers is not one of the Gaussian law up to rounding.

    It is that of a radius that the words cannot tell from larger ones, one for each pair of numbers.
    """
    return draws * 2.0 ** -(BITS * (1 + words.further))


def charged_delta(words: RandomWords | type[RandomWords], epsilon: float, draws: float) -> float:
    """What the missing mass adds to the delta that holds at epsilon: (1 + e^epsilon) times the mass.

    With noise that differs from Gaussian noise with probability m at most, on either of two neighbouring data sets,
    P(A) <= P_gauss(A) + m <= e^epsilon P'_gauss(A) + delta + m <= e^epsilon (P'(A) + m) + delta + m.

    >>> from dpcore.training.randomness.random_words import AesWords
    >>> charged_delta(AesWords, 300.0, draws=1e12) < 1e-3 * 1e-60
    True
    """
    mass = missing_mass(words, draws)
    return math.exp(min(math.log1p(math.exp(-epsilon)) + epsilon + math.log(mass), 700.0)) if mass else 0.0
