"""The one place where noise for differential privacy is drawn."""

import numpy as np
import torch
from numpy.random import SeedSequence
from torch import Tensor

from dpcore.training.gradients.core_threads import Cores

PIECE = 100_000  # coordinates that one generator draws: with less to do, threads wait for the interpreter
TWISTER = 624  # words of a Mersenne Twister
Number = float | Tensor  # a tensor () is read on its device: a recorded step takes it from there each time


class GaussianNoise:
    """A stream of Gaussian vectors of one size, with generators of its own, which nothing else draws from.

    Every piece of the vector has its own generator: the values do not depend on how many cores there are. A piece is
    drawn where it is added, by the core that goes on with it: no draw waits in memory, and all cores share the work.
    Drawn ahead it took as long from the helpers' share of the next batch, and the batch waited for them.
    """

    def __init__(self, size: int, seed: SeedSequence, device: torch.device, cores: Cores) -> None:
        self.count = -(-size // PIECE) if device.type == "cpu" else 1  # of pieces
        self.generators = [seeded(torch.Generator(device), each) for each in seed.spawn(self.count)]
        self._cores = cores

    def pieces(self, vector: Tensor) -> tuple[Tensor, ...]:
        """The vector (size,) in views of one piece each."""
        return vector.tensor_split(self.count)

    def add(self, piece: int, target: Tensor, std: Number, scale: Tensor | None = None) -> None:
        """Add a fresh draw of Normal(0, std^2 I), times the scale if there is one, to a piece of a vector in place."""
        drawn = torch.empty_like(target).normal_(generator=self.generators[piece])
        if isinstance(std, Tensor):
            drawn, std = drawn.mul_(std), 1.0
        if scale is None:
            target.add_(drawn, alpha=std)
        else:
            target.addcmul_(drawn, scale, value=std)

    def add_to(self, vector: Tensor, std: float, scale: Tensor | None = None) -> None:
        """The same for a whole vector (size,)."""
        targets = self.pieces(vector)
        scales = [None] * self.count if scale is None else self.pieces(scale)
        self._cores.map(lambda piece: self.add(piece, targets[piece], std, scales[piece]), range(self.count))

    def states(self) -> list[Tensor]:
        """What the rest of the stream follows from."""
        return [generator.get_state() for generator in self.generators]

    def restore(self, states: list[Tensor]) -> None:
        """Go on where the stream of these states was; it must be one of this size."""
        for generator, state in zip(self.generators, states, strict=True):
            generator.set_state(state)

    def renew(self) -> None:
        """Other generators, where a failed recording holds these; `restore` says where they go on."""
        self.generators[:] = [torch.Generator(generator.device) for generator in self.generators]


def seeded(generator: torch.Generator, seed: SeedSequence) -> torch.Generator:
    """The generator, started from all of the seed.

    On a CPU torch seeds its Mersenne Twister with 32 bits, few enough to try them all against released noise. So its
    words are written into its state, which keeps them as 64-bit numbers behind 24 bytes of others.
    """
    if generator.device.type != "cpu":
        return generator.manual_seed(int(seed.generate_state(1, np.uint64)[0]) >> 1)
    state = generator.manual_seed(1).get_state()
    words = state.numpy()[24:][: 8 * TWISTER].view(np.uint64)
    assert words[0] == 1, "this torch keeps its state elsewhere"
    words[:] = seed.generate_state(TWISTER, np.uint32)
    words[0] |= 1 << 31  # never all zero
    generator.set_state(state)
    return generator
