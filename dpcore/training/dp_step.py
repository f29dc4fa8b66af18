"""One private step, without the choice of its batch and the decision to keep it."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dpcore.training.config import RunConfig
from dpcore.training.gradients.clipped_sum import ClippedSum, Engine
from dpcore.training.gradients.clipping import CLIPPINGS, Flat
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.inputs import PickedRows
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.base import State, begin
from dpcore.training.randomness.gaussian_noise import GaussianNoise, Number

# `UpdateRules.step`, for a learning rate that may be a tensor ().
Move = Callable[[Tensor, Tensor, State, Any], None]


class Descent:
    """Clipped sum, noise, division by the expected batch, optimizer.

    **Guarantees:** with D = scale(state) public, the release of a batch is the sum of clip(g_i / D)
    plus noise of std sigma C: one sampled Gaussian of multiplier sigma over the clipping's
    sensitivity. The optimizer sees D times the release. Source of the D: AdaDPS, Li et al. 2022,
    arXiv 2202.05963, here with a D from noisy history.

    Parameters, sum and state change in place, piece by piece: each piece goes through noise,
    history and step while it is in a core's cache. The pieces do not depend on the number of cores.
    """

    def __init__(
        self, config: RunConfig, engine: Engine, noise: GaussianNoise, cores: Cores
    ) -> None:
        self.optimizer = OPTIMIZERS[config.optimizer].rules(config.momentum, config.reading)
        self.clipping = Flat(math.inf)
        if config.private:
            self.clipping = CLIPPINGS[config.clipping](config.clip_norm)
        self.state = begin(self.optimizer, engine.parameters)
        scaling = config.private and self.optimizer.scale is not None
        self._inverse = torch.ones_like(engine.parameters) if scaling else None  # 1 / D^2
        self._engine = engine
        self._noise = noise
        self._cores = cores
        self._batch = config.batch  # q n, since the realised batch is not public
        self.noisy = config.private and config.sigma > 0  # true if a step draws noise
        self._vectors = [noise.pieces(vector) for vector in self.state.vectors]
        self._parameters = noise.pieces(engine.parameters)
        self._inverses = () if self._inverse is None else noise.pieces(self._inverse)

    def take(
        self,
        x: Tensor | PickedRows,
        y: Tensor,
        sigma: Number,
        lr: Number,
        *,
        padding: Tensor | None = None,
        step: Move | None = None,
    ) -> ClippedSum:
        """Take the step for images x (B, ...) and labels y (B,), with noise of std sigma C on the
        sum.

        Rows where `padding` (B,) is true only fill up the batch. `step` replaces that of the
        optimizer.
        """
        optimizer = self.optimizer
        state = self.state
        engine = self._engine
        plain = None
        if optimizer.peek:
            plain = engine.clipped_sum(x, y, Flat(math.inf)).total / self._batch
        transform = optimizer.transform(state) if optimizer.transform else None
        inverse = self._inverse if self._scaled else None
        found = engine.clipped_sum(x, y, self.clipping, inverse, transform, padding)
        if optimizer.peek and plain is not None:
            optimizer.peek(plain, state._replace(count=state.count + 1))
        self._move(found.shares, sigma * self.clipping.clip_norm, lr, step or optimizer.step)
        return found

    def _move(self, shares: Tensor, std: Number, lr: Number, move: Move) -> None:
        """Add up, add noise, divide, absorb, step; overwrites the shares of the sum (cores, d)."""
        optimizer = self.optimizer
        gradients, *others = map(self._noise.pieces, shares)
        scaled = self._scaled  # as the sum was, before this step counts
        self.state = self.state._replace(count=self.state.count + 1)
        variance = (std / self._batch) ** 2 if self.noisy else 0.0

        def absorb(i: int) -> Tensor | None:
            for other in others:
                gradients[i].add_(other[i])
            if self.noisy:
                scale = self._inverses[i].rsqrt() if scaled else None
                self._noise.add(i, gradients[i], std, scale)
            own = self._piece(i, variance)
            optimizer.absorb(gradients[i].mul_(1 / self._batch), own)
            if optimizer.averaged:
                return optimizer.averaged(own).sum()
            step(i)
            return None

        def step(i: int) -> None:
            own = self._piece(i, variance)
            if optimizer.averaged:
                own = own._replace(scale=self._rescaled(i, own))
            move(self._parameters[i], gradients[i], own, lr)

        pieces = range(len(gradients))
        sums = self._cores.map(absorb, pieces)
        if optimizer.averaged:
            total = torch.stack(sums).sum()  # type: ignore[arg-type]
            torch.div(total, shares.shape[1], out=self.state.mean)
            self._cores.map(step, pieces)

    @property
    def _scaled(self) -> bool:
        """True if the next step has a D."""
        return self._inverse is not None and self.state.count >= self.optimizer.wait

    def _piece(self, i: int, variance: Number = 0.0) -> State:
        """The i-th piece of the state, in a step whose noise has this variance."""
        return self.state._replace(
            vectors=tuple(pieces[i] for pieces in self._vectors), variance=variance
        )

    def _rescaled(self, i: int, own: State) -> Tensor | None:
        """Compute D of a piece for the next step, None for ones, and keep 1 / D^2."""
        optimizer = self.optimizer
        if not optimizer.scale or self.state.count < optimizer.wait:
            return None
        scale = optimizer.scale(own)
        if self._inverses:
            torch.pow(scale, -2, out=self._inverses[i])
        return scale

    def snapshot(self) -> State:
        """A copy of the optimizer's state."""
        return self.state._replace(
            mean=self.state.mean.clone(),
            vectors=tuple(vector.clone() for vector in self.state.vectors),
        )

    def restore(self, state: State) -> None:
        """Restore a state, in place."""
        for own, other in zip(
            (self.state.mean, *self.state.vectors), (state.mean, *state.vectors), strict=True
        ):
            own.copy_(other)
        self.state = self.state._replace(count=state.count)
        for i in range(len(self._parameters)):
            self._rescaled(i, self._piece(i))
