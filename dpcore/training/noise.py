"""The one place where noise for differential privacy is drawn."""

import numpy as np
import torch
from torch import Tensor

from dpcore.training.cores import Cores

PIECE = 1 << 16  # coordinates that one generator draws: torch draws on one core only, so large vectors are shared out


class GaussianNoise:
    """A stream of Gaussian vectors of one size, with generators of its own, which nothing else draws from.

    Every piece of the vector has its own generator: the values do not depend on how many cores there are.
    """

    def __init__(self, size: int, seed: int, device: torch.device, cores: Cores) -> None:
        count = -(-size // PIECE) if device.type == "cpu" else 1
        self._buffer = torch.empty(size, device=device)
        self._pieces = self._buffer.tensor_split(count)
        seeds = np.random.SeedSequence(seed).generate_state(count, np.uint64)
        self._generators = [torch.Generator(device).manual_seed(int(each) >> 1) for each in seeds]
        self._cores = cores

    def add_to(self, vector: Tensor, std: float, scale: Tensor | None = None) -> None:
        """Add a fresh draw of Normal(0, std^2 I), times the scale (size,) if there is one, to the vector in place."""
        count = len(self._pieces)
        targets, scales = vector.tensor_split(count), None if scale is None else scale.tensor_split(count)

        def add(piece: int) -> None:
            drawn = self._pieces[piece].normal_(0.0, std, generator=self._generators[piece])
            if scales is None:
                targets[piece].add_(drawn)
            else:
                targets[piece].addcmul_(drawn, scales[piece])

        self._cores.map(add, range(count))
