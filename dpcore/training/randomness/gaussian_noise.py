"""The one place where noise for differential privacy is drawn. The README beside it derives what it can return."""

import torch
from numpy.random import SeedSequence
from torch import Tensor

from dpcore import check
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness.box_muller import Number, add_normals, normals
from dpcore.training.randomness.machine import machine_of
from dpcore.training.randomness.missing_mass import NUMBERS
from dpcore.training.randomness.random_words import AesWords, DeviceWords, RandomWords, secret_of

PIECE = 200_000  # coordinates that one stream draws at once: with less to do, threads wait for the interpreter


class GaussianNoise:
    """A stream of Gaussian vectors of one size, from random words of its own, which nothing else draws from.

    Every piece of the vector has its own stream. A piece is drawn where it is added, by the core that goes on with it:
    no draw waits in memory, and all cores share the work. On CUDA the vector is one piece and its words come from the
    device, so that a step can be recorded; everywhere else they come from AES on the CPU, and with `secure` also there.

    **Guarantees:** each coordinate is within rounding of a Gaussian real number, except with a probability that the
    README bounds, as it bounds the size of a coordinate. Another seed, another number of cores, another
    kind of device and another version of torch give noise that shares nothing.
    """

    def __init__(
        self, size: int, seed: SeedSequence, device: torch.device, cores: Cores, *, secure: bool = False
    ) -> None:
        check.whole(0, NUMBERS, size=size)  # what they leave out is charged for no more
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
        if words.device == target.device:
            add_normals(words, target, std, scale)
            return
        drawn = normals(words, len(target), std)
        if scale is not None:
            drawn.mul_(scale.to(words.device))
        sums = drawn.add_(target.to(words.device))  # where the words are: MPS has no float64
        target.copy_(sums.to(target.dtype))

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


def words_of(secret: bytes, device: torch.device, secure: bool) -> RandomWords:
    """What a vector on the device is drawn from."""
    return device_words(secret, device) if device.type == "cuda" and not secure else AesWords(secret)


def device_words(secret: bytes, device: torch.device) -> DeviceWords:
    """Words from the device's own generator, which takes 63 bits of the secret and no more."""
    return DeviceWords(torch.Generator(device).manual_seed(int.from_bytes(secret[:8]) >> 1))
