"""The one place where noise for differential privacy is drawn."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from dpcore.training.cores import Cores

PIECE = 1 << 16  # coordinates that one generator draws: torch draws on one core only, so large vectors are shared out


class GaussianNoise:
    """A stream of Gaussian vectors of one size, with generators of its own, which nothing else draws from.

    Every piece of the vector has its own generator: the values do not depend on how many cores there are. The draw for
    the next step is made by cores that would idle while the calling thread ends this step and samples the next batch.
    """

    def __init__(self, size: int, seed: int, device: torch.device, cores: Cores) -> None:
        count = -(-size // PIECE) if device.type == "cpu" else 1
        pieces = torch.empty(size, device=device).tensor_split(count)
        seeds = np.random.SeedSequence(seed).generate_state(count, np.uint64)
        generators = [torch.Generator(device).manual_seed(int(each) >> 1) for each in seeds]

        def draw(piece: int) -> None:
            pieces[piece].normal_(generator=generators[piece])

        self._pieces, self._draw, self._cores, self.generators = pieces, draw, cores, generators
        self._drawn: Callable[[], object] | None = None  # what waits for the draw that was begun ahead, if one was

    def add_to(self, vector: Tensor, std: float | Tensor, scale: Tensor | None = None) -> None:
        """Add a fresh draw of Normal(0, std^2 I), times the scale (size,) if there is one, to the vector in place.

        A std that is a tensor is read on its device, so that a recorded step takes it from there each time.
        """
        count = len(self._pieces)
        if self._drawn:
            self._drawn()
        else:
            self._cores.map(self._draw, range(count))
        if isinstance(std, Tensor):
            for piece in self._pieces:
                piece.mul_(std)
            std = 1.0
        targets, scales = vector.tensor_split(count), None if scale is None else scale.tensor_split(count)

        def add(piece: int) -> None:
            if scales is None:
                targets[piece].add_(self._pieces[piece], alpha=std)
            else:
                targets[piece].addcmul_(self._pieces[piece], scales[piece], value=std)

        self._cores.map(add, range(count))
        self._drawn = self._cores.later(self._draw, range(count)) if self._cores.count > 1 else None

    def states(self) -> list[Tensor]:
        """What the rest of the stream follows from: a draw made ahead, (size,) or (0,), and the generators' states."""
        ready = torch.empty(0)
        if self._drawn:
            self._drawn()
            self._drawn, ready = drawn_already, torch.cat(self._pieces)
        return [ready, *(generator.get_state() for generator in self.generators)]

    def restore(self, states: list[Tensor]) -> None:
        """Go on where the stream of these states was; it must be one of this size."""
        if self._drawn:
            self._drawn()  # a draw under way must not overwrite it
        ready, *rest = states
        self._drawn = drawn_already if len(ready) else None
        for piece, values in zip(self._pieces, ready.tensor_split(len(self._pieces)), strict=True):
            if len(ready):
                piece.copy_(values)
        for generator, state in zip(self.generators, rest, strict=True):
            generator.set_state(state)

    def renew(self) -> None:
        """Other generators, where a failed recording holds these; `restore` says where they go on."""
        self.generators[:] = [torch.Generator(generator.device) for generator in self.generators]


def drawn_already() -> None:
    """The next draw is there."""
