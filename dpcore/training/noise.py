"""The one place where noise for differential privacy is drawn."""

import torch
from torch import Tensor


class GaussianNoise:
    """A stream of Gaussian vectors of one size with a generator of its own, which nothing else draws from."""

    def __init__(self, size: int, seed: int, device: torch.device) -> None:
        self._buffer = torch.empty(size, device=device)
        self._generator = torch.Generator(device).manual_seed(seed)

    def draw(self, std: float) -> Tensor:
        """A fresh draw of Normal(0, std^2 I) (size,), overwritten by the next one."""
        return self._buffer.normal_(0.0, std, generator=self._generator)
