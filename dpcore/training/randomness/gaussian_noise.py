"""The one place where noise for differential privacy is drawn. The README beside it derives what it can return."""

import math

import torch
from numpy.random import SeedSequence
from torch import Tensor

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness.machine import machine_of
from dpcore.training.randomness.random_words import BITS, MASK, AesWords, DeviceWords, RandomWords, secret_of

PIECE = 1 << 16  # coordinates that one stream draws for: with less to do, threads wait for the interpreter
BLOCK = 1 << 15  # numbers that are drawn at once: what a draw takes in memory then fits a core's cache
SMALL = 1 << 40  # a first word below this is continued by further words: the others err by 2^-41 of the number
NEAR = 1 << 43  # words this near to 1, or angles this near to an axis, are continued too: float64 is too coarse there
QUARTER = 1 << (BITS - 2)  # of the circle
UNIT = 2.0**-BITS
Number = float | Tensor  # a tensor () is read on its device: a recorded step takes it from there each time


class GaussianNoise:
    """A stream of Gaussian vectors of one size, from random words of its own, which nothing else draws from.

    Every piece of the vector has its own stream. A piece is drawn where it is added, by the core that goes on with it:
    no draw waits in memory, and all cores share the work. On CUDA the vector is one piece and its words come from the
    device, so that a step can be recorded; everywhere else they come from AES on the CPU, and with `secure` also there.

    **Guarantees:** each coordinate is within rounding of a Gaussian real number, except with a probability of
    `missing_mass`; no coordinate exceeds `largest` standard deviations. Another seed, another number of cores, another
    kind of device and another version of torch give noise that shares nothing.
    """

    def __init__(
        self, size: int, seed: SeedSequence, device: torch.device, cores: Cores, *, secure: bool = False
    ) -> None:
        self.count = -(-size // PIECE) if device.type == "cpu" else 1  # of pieces
        machine = machine_of(device, cores.count)
        secrets = [secret_of(each, machine) for each in seed.spawn(self.count)]
        self.words = [words_of(secret, device, secure) for secret in secrets]
        self._cores = cores

    def pieces(self, vector: Tensor) -> tuple[Tensor, ...]:
        """The vector (size,) in views of one piece each."""
        return vector.tensor_split(self.count)

    def add(self, piece: int, target: Tensor, std: Number, scale: Tensor | None = None) -> None:
        """Add a fresh draw of Normal(0, std^2 I), times the scale if there is one, to a piece of a vector in place.

        Noise and sum are added in float64 and rounded once, to what the vector holds.
        """
        words = self.words[piece]
        parts = target.split(BLOCK if words.on_host else max(len(target), 1))
        scales = [None] * len(parts) if scale is None else scale.split(len(parts[0]))
        for part, own in zip(parts, scales, strict=True):
            drawn = normals(words, len(part), std)
            if drawn.device != part.device:
                drawn = drawn.to(part.dtype).to(part.device)  # MPS has no float64
            part.add_(drawn if own is None else drawn.mul_(own))

    def add_to(self, vector: Tensor, std: float, scale: Tensor | None = None) -> None:
        """The same for a whole vector (size,)."""
        targets = self.pieces(vector)
        scales = [None] * self.count if scale is None else self.pieces(scale)
        self._cores.map(lambda piece: self.add(piece, targets[piece], std, scales[piece]), range(self.count))

    def states(self) -> list[Tensor]:
        """What the rest of the stream follows from."""
        return [words.state() for words in self.words]

    def restore(self, states: list[Tensor]) -> None:
        """Go on where the stream of these states was; it must be one of this size, and of this kind of generator."""
        for words, state in zip(self.words, states, strict=True):
            words.restore(state)

    @property
    def generators(self) -> list[torch.Generator]:
        """The generators of the device that are drawn from; none where AES is drawn from."""
        return [words.generator for words in self.words if isinstance(words, DeviceWords)]

    def renew(self) -> None:
        """Other generators, where a failed recording holds these; `restore` says where they go on."""
        for words in self.words:
            if isinstance(words, DeviceWords):
                words.generator = torch.Generator(words.generator.device)


def normals(words: RandomWords, count: int, std: Number = 1.0) -> Tensor:
    """Independent Gaussian numbers (count,) of this standard deviation in float64, by the method of Box and Muller.

    Source: Box and Muller 1958, "A note on the generation of random normal deviates". Of two words, one gives the
    radius std sqrt(-2 ln u) and one the angle. The radius has the whole precision of float64 for every u above
    2^-(63 (1 + further)): that is where the law is cut off. So have cosine and sine, next to an axis too.
    """
    pairs = -(-count // 2)
    first, second = words.draw(2 * pairs).split(max(pairs, 1))
    radius = logarithms(words, first).mul_(-2.0 * std * std).sqrt_()
    angle = second.to(torch.float64).mul_(2 * math.pi * UNIT)
    drawn = torch.empty(2 * pairs, dtype=torch.float64, device=radius.device)
    cosines, sines = drawn[:pairs], drawn[pairs:]
    torch.cos(angle, out=cosines)
    torch.sin(angle, out=sines)
    refine_near_axes(words, second, cosines, sines)
    cosines.mul_(radius)
    sines.mul_(radius)
    return drawn[:count]


def logarithms(words: RandomWords, first: Tensor) -> Tensor:
    """ln u (n,) of uniform numbers u = (k + v) 2^-63 for these words k, with v uniform of further words.

    Float64 is fine enough for u near 0, but near 1 it has only multiples of 2^-53: there 1 - u = (2^63 - 1 - k + v)
    2^-63 takes its place. Where k is neither small nor near 2^63, v = 1/2 errs by 2^-41 of the number at most. To ask
    where it is would make a recorded step wait, so there all words are continued.
    """
    if not words.on_host:
        more = fractions(words, len(first))
        low = (first.to(torch.float64) + more).mul_(UNIT).log_()
        high = torch.log1p((MASK - first).to(torch.float64).add_(1 - more).mul_(-UNIT))
        return torch.where(first > MASK // 2, high, low)
    numbers = first.to(torch.float64).add_(0.5).mul_(UNIT)
    values = first.numpy()  # its minimum takes half as long as torch's
    if len(first) and int(values.min()) < SMALL:
        at = (first < SMALL).nonzero().flatten()
        numbers[at] = first[at].to(torch.float64).add_(fractions(words, len(at))).mul_(UNIT)
    numbers.log_()
    if len(first) and int(values.max()) > MASK - NEAR:
        at = (first > MASK - NEAR).nonzero().flatten()
        rest = (MASK - first[at]).to(torch.float64).add_(fractions(words, len(at)))
        numbers[at] = torch.log1p(rest.mul_(-UNIT))
    return numbers


def refine_near_axes(words: RandomWords, second: Tensor, cosines: Tensor, sines: Tensor) -> None:
    """Replace the cosine and sine of angles next to an axis, where one of the two is near 0, by precise ones.

    The angle of a word k is 2 pi (k + v) 2^-63. It is taken from the nearest axis, not from 0, so that the number near
    0 has the whole precision of float64; v is uniform of further words.
    """
    at: Tensor | slice = slice(None)
    if words.on_host:
        near = second.numpy() + NEAR
        near &= QUARTER - 1
        if not len(second) or int(near.min()) >= 2 * NEAR:
            return
        at = torch.from_numpy(near < 2 * NEAR).nonzero().flatten()
    angle = second[at]
    turns = (angle + QUARTER // 2) >> (BITS - 2)  # the nearest axis; what overflows here is whole circles
    from_axis = (angle - turns * QUARTER).to(torch.float64).add_(fractions(words, len(angle))).mul_(2 * math.pi * UNIT)
    small, large = torch.sin(from_axis), torch.cos(from_axis)
    odd, sign = turns % 2 == 1, 1.0 - (turns % 4 // 2) * 2.0
    cosines[at] = torch.where(odd, -small, large) * sign
    sines[at] = torch.where(odd, large, small) * sign


def fractions(words: RandomWords, count: int) -> Tensor:
    """Uniform numbers (count,) of as many words each as `further` says, never 0."""
    value: Tensor | float = 0.5
    for word in words.draw(count * words.further).to(torch.float64).split(max(count, 1)):
        value = word.add_(value).mul_(UNIT)
    return torch.as_tensor(value)


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

    >>> charged_delta(AesWords, 300.0, draws=1e12) < 1e-3 * 1e-60
    True
    """
    mass = missing_mass(words, draws)
    return math.exp(min(math.log1p(math.exp(-epsilon)) + epsilon + math.log(mass), 700.0)) if mass else 0.0


def words_of(secret: bytes, device: torch.device, secure: bool) -> RandomWords:
    """What a vector on the device is drawn from."""
    return device_words(secret, device) if device.type == "cuda" and not secure else AesWords(secret)


def device_words(secret: bytes, device: torch.device) -> DeviceWords:
    """Words from the device's own generator, which takes 63 bits of the secret and no more."""
    return DeviceWords(torch.Generator(device).manual_seed(int.from_bytes(secret[:8]) >> 1))
