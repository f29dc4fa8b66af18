"""The only source of noise for differential privacy, by Box and Muller from random words
(README.md).
"""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import SeedSequence
from torch import Tensor

from dpcore import check
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness.missing_mass import NUMBERS
from dpcore.training.randomness.random_words import (
    BITS,
    MASK,
    AesWords,
    DeviceWords,
    RandomWords,
    machine_of,
    secret_of,
)

# Words this near to 0, to 2^63 or, for an angle, to an axis are continued by further words.
NEAR = 1 << 40
QUARTER = 1 << (BITS - 2)  # of the circle
UNIT = 2.0**-BITS
SCRATCH_NUMBERS = 1 << 19  # float64 numbers of a thread's scratch memory
Number = float | Tensor  # a recorded step reads a tensor () from its device each time


class Memory(NamedTuple):
    """The memory of a draw of pairs: views of 3 rows of 8 bytes for each pair, which fit into a
    core's cache.

    Radii and angles overwrite the words, and sines overwrite the angles.
    """

    words: Tensor  # (2, pairs) of int64: of the radii and of the angles
    polar: Tensor  # (2, pairs) of float64, as all below
    radii: Tensor  # (pairs,)
    angles: Tensor
    sines: Tensor
    cosines: Tensor
    directions: Tensor  # (2, pairs): sines, cosines
    rests: Tensor  # (pairs,) of int64, over the cosines

    @classmethod
    def over(cls, memory: Tensor, pairs: int) -> Memory:
        rows = memory[: 3 * pairs].view(3, pairs)
        whole = rows.view(torch.int64)
        return cls(whole[:2], rows[:2], rows[0], rows[1], rows[1], rows[2], rows[1:], whole[2])


class Scratch(threading.local):
    """Memory that a thread uses again, since allocating it takes as long as drawing the numbers."""

    def __init__(self) -> None:
        self._kept = torch.empty(SCRATCH_NUMBERS, dtype=torch.float64)
        self._views: dict[int, Memory] = {}

    def of(self, pairs: int, device: torch.device) -> Memory:
        """Memory that the thread's next call may return again; large draws, and recorded ones, have
        their own.
        """
        if device.type != "cpu" or 3 * pairs > SCRATCH_NUMBERS:
            return Memory.over(torch.empty(3 * pairs, dtype=torch.float64, device=device), pairs)
        if pairs not in self._views:
            if len(self._views) == 2:  # the pieces of a vector have at most two sizes
                self._views.clear()
            self._views[pairs] = Memory.over(self._kept, pairs)
        return self._views[pairs]


_scratch = Scratch()


def normals(words: RandomWords, count: int, std: Number = 1.0) -> Tensor:
    """Independent Gaussian numbers (count,) of this standard deviation in float64."""
    drawn = torch.zeros(count, dtype=torch.float64, device=words.device)
    add_normals(words, drawn, std)
    return drawn


def add_normals(
    words: RandomWords, target: Tensor, std: Number, scale: Tensor | None = None
) -> None:
    """Add independent Gaussian numbers of this standard deviation, times the scale (n,) if there is
    one.

    The target (n,) changes in place. Noise and target are added in float64 and rounded once, to the
    target's dtype.

    Source: Box and Muller 1958, "A note on the generation of random normal deviates". Of two words,
    one gives the radius std sqrt(-2 ln u) and one the angle; all sines come first, then all
    cosines.
    """
    count = len(target)
    if not count:
        return
    memory = _scratch.of(-(-count // 2), target.device)
    words.fill(memory.words)
    of_radius, of_angle = coarse(memory) if words.on_host else (slice(None), slice(None))
    logarithms = (
        None if of_radius is None else continued_logarithms(words, memory.words[0, of_radius])
    )
    directions = (
        None if of_angle is None else continued_directions(words, memory.words[1, of_angle])
    )
    memory.polar.copy_(memory.words)
    radii = memory.radii.mul_(UNIT).log_()
    if logarithms is not None:
        radii[of_radius] = logarithms
    radii.mul_(-2.0 * std * std).sqrt_()
    memory.angles.mul_(2 * math.pi * UNIT)
    torch.cos(memory.angles, out=memory.cosines)
    memory.sines.sin_()
    if directions is not None:
        memory.directions[:, of_angle] = directions
    drawn = memory.directions.mul_(radii).view(-1)[:count]
    if scale is not None:
        drawn.mul_(scale)
    if words.on_host:
        sums = target.numpy()  # NumPy needs two thirds of torch's time to add float64 to float32
        with np.errstate(all="ignore"):  # the loss shows that a run diverges
            np.add(sums, drawn.numpy(), out=sums, casting="unsafe")
    else:
        target.add_(drawn)


def coarse(memory: Memory) -> tuple[Tensor | None, Tensor | None]:
    """The positions of words of radii and of angles that must be continued, None for none."""
    (first, second), rests = memory.words.numpy(), memory.rests.numpy()
    np.bitwise_and(second, QUARTER - 1, out=rests)
    return near_ends(first, MASK), near_ends(rests, QUARTER - 1)


def near_ends(numbers: np.ndarray, top: int) -> Tensor | None:
    """The positions of numbers in 0 ... top that are near 0 or near the top, None for none."""
    if np.minimum.reduce(numbers) >= NEAR and np.maximum.reduce(numbers) <= top - NEAR:
        return None
    return torch.from_numpy(np.flatnonzero((numbers < NEAR) | (numbers > top - NEAR)))


def continued_logarithms(words: RandomWords, first: Tensor) -> Tensor:
    """ln u (n,) of uniform numbers u = (k + v) 2^-63 for these words k, with v uniform from further
    words.

    Near 1 float64 has only multiples of 2^-53, so that 1 - u = (2^63 - 1 - k + 1 - v) 2^-63
    replaces u there.
    """
    more = fractions(words, len(first))
    low = (first.to(torch.float64) + more).mul_(UNIT).log_()
    high = torch.log1p((MASK - first).to(torch.float64).add_(1 - more).mul_(-UNIT))
    return torch.where(first > MASK // 2, high, low)


def continued_directions(words: RandomWords, second: Tensor) -> Tensor:
    """Sine and cosine (2, n) of the angles 2 pi (k + v) 2^-63 for these words k, with v uniform
    from further words.

    The angle is measured from the nearest axis, so that the number near 0 has the full precision of
    float64.
    """
    turns = (second + QUARTER // 2) >> (BITS - 2)  # the nearest axis; an overflow is a whole circle
    from_axis = (second - turns * QUARTER).to(torch.float64).add_(fractions(words, len(second)))
    from_axis.mul_(2 * math.pi * UNIT)
    small = torch.sin(from_axis)
    large = torch.cos(from_axis)
    odd = turns % 2 == 1
    sign = 1.0 - (turns % 4 // 2) * 2.0
    return torch.stack((torch.where(odd, large, small), torch.where(odd, -small, large))).mul_(sign)


def fractions(words: RandomWords, count: int) -> Tensor:
    """Uniform numbers (count,) from `further` words each, never 0."""
    digits = words.draw(count * words.further).view(count, words.further).to(torch.float64)
    digits[:, -1].add_(0.5)
    return digits.mv(
        UNIT ** torch.arange(1, words.further + 1, dtype=torch.float64, device=digits.device)
    )


# Coordinates that one stream draws at once; with fewer, threads wait for the interpreter.
PIECE = 200_000


class GaussianNoise:
    """A stream of Gaussian vectors of one size, from its own random words.

    Every piece of the vector has its own stream. The core that adds a piece also draws it: no draw
    waits in memory, and all cores share the work. On CUDA the vector is one piece and its words
    come from the device, so that a step can be recorded. Elsewhere, and with `secure` everywhere,
    they come from AES on the CPU.

    **Guarantees:** each coordinate is within rounding of a Gaussian real number, except with a
    probability that README.md bounds, as it bounds the size of a coordinate. Another seed, number
    of cores, kind of device or version of torch gives noise that shares nothing.
    """

    def __init__(
        self,
        size: int,
        seed: SeedSequence,
        device: torch.device,
        cores: Cores,
        *,
        secure: bool = False,
    ) -> None:
        check.whole(0, NUMBERS, size=size)  # the charge for missing mass covers no more
        self.count = -(-size // PIECE) if device.type == "cpu" else 1  # of pieces
        machine = machine_of(device, cores.count)
        secrets = [secret_of(each, machine) for each in seed.spawn(self.count)]
        self.words = [words_of(secret, device, secure) for secret in secrets]
        self._cores = cores

    def pieces(self, vector: Tensor) -> tuple[Tensor, ...]:
        """Cut the vector (size,) into views of one piece each."""
        return vector.tensor_split(self.count)

    def add(self, piece: int, target: Tensor, std: Number, scale: Tensor | None = None) -> None:
        """Add a fresh draw of Normal(0, std^2 I), times the scale if there is one, to a piece of a
        vector in place.
        """
        words = self.words[piece]
        if words.device == target.device:
            add_normals(words, target, std, scale)
            return
        drawn = normals(words, len(target), std)
        if scale is not None:
            drawn.mul_(scale.to(words.device))
        sums = drawn.add_(target.to(words.device))  # on the words' device, since MPS has no float64
        target.copy_(sums.to(target.dtype))

    def add_to(self, vector: Tensor, std: float) -> None:
        """Add a fresh draw of Normal(0, std^2 I) to a whole vector (size,) in place."""
        targets = self.pieces(vector)
        self._cores.map(lambda piece: self.add(piece, targets[piece], std), range(self.count))

    def states(self) -> list[Tensor]:
        """The states of the stream."""
        return [words.state() for words in self.words]

    def restore(self, states: list[Tensor]) -> None:
        """Continue from the states of a stream of this size and kind of generator."""
        for words, state in zip(self.words, states, strict=True):
            words.restore(state)

    @property
    def generators(self) -> list[torch.Generator]:
        """The device's generators in use; none with AES."""
        return [words.generator for words in self.words if isinstance(words, DeviceWords)]

    def renew(self) -> None:
        """Replace generators that a failed recording holds; `restore` sets their state."""
        for words in self.words:
            if isinstance(words, DeviceWords):
                words.generator = torch.Generator(words.generator.device)


def words_of(secret: bytes, device: torch.device, secure: bool) -> RandomWords:
    """The random words for a vector on the device."""
    return (
        device_words(secret, device) if device.type == "cuda" and not secure else AesWords(secret)
    )


def device_words(secret: bytes, device: torch.device) -> DeviceWords:
    """Words from the device's own generator, which takes 63 bits of the secret."""
    return DeviceWords(torch.Generator(device).manual_seed(int.from_bytes(secret[:8]) >> 1))
