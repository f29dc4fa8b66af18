"""One private step, apart from where its batch comes from and whether it is taken."""

import math
from typing import Any, NamedTuple

from torch import Tensor

from dpcore.training.clipping import CLIPPINGS, Flat
from dpcore.training.config import RunConfig
from dpcore.training.gradients import ClippedSum, Engine
from dpcore.training.noise import GaussianNoise
from dpcore.training.optimizers import OPTIMIZERS


class Proposal(NamedTuple):
    """What a batch proposes: nothing is moved yet."""

    found: ClippedSum
    change: Tensor  # (d,) to add to the parameters
    state: Any  # of the optimizer, if the change is taken


class Descent:
    """Clipped sum, noise, division by the expected batch, optimizer.

    **Guarantees:** with D = scale(state) public, what is released of a batch is the sum of clip(g_i / D) plus noise of
    std sigma C: one sampled Gaussian of multiplier sigma over the clipping's sensitivity. D times the release is what
    the optimizer sees. Source of the D: AdaDPS, Li et al. 2022, arXiv 2202.05963, here with a D from noisy history.
    """

    def __init__(self, config: RunConfig, engine: Engine, noise: GaussianNoise) -> None:
        self.optimizer = OPTIMIZERS[config.optimizer](config)
        self.clipping = CLIPPINGS[config.clipping](config.clip_norm) if config.private else Flat(math.inf)
        self.state = self.optimizer.init(engine.parameters)
        self._engine, self._noise = engine, noise
        self._batch, self._private = config.batch, config.private  # q n: the realised batch is not public
        self._noisy = config.private and config.sigma > 0

    def propose(self, x: Tensor, y: Tensor, sigma: float | Tensor, padding: Tensor | None = None) -> Proposal:
        """The step for images x (B, ...) and labels y (B,) that are no padding, with noise std sigma C on the sum."""
        optimizer, state = self.optimizer, self.state
        if optimizer.peek:
            plain = self._engine.clipped_sum(x, y, Flat(math.inf)).total / self._batch
            peeked = optimizer.peek(plain, state)
        scale = optimizer.scale(state) if self._private else None
        transform = optimizer.transform(state) if optimizer.transform else None
        found = self._engine.clipped_sum(x, y, self.clipping, scale, transform, padding)
        if self._noisy:
            self._noise.add_to(found.total, sigma * self.clipping.clip_norm, scale)
        change, state = optimizer.update(found.total.div_(self._batch), state)
        return Proposal(found, change, peeked if optimizer.peek else state)
