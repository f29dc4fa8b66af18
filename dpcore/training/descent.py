"""One private step, apart from where its batch comes from and whether it is kept."""

import math

import torch
from torch import Tensor

from dpcore.training.clipping import CLIPPINGS, Flat
from dpcore.training.config import RunConfig
from dpcore.training.cores import Cores
from dpcore.training.gradients import ClippedSum, Engine
from dpcore.training.noise import GaussianNoise, Number
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.base import State, begin


class Descent:
    """Clipped sum, noise, division by the expected batch, optimizer.

    **Guarantees:** with D = scale(state) public, what is released of a batch is the sum of clip(g_i / D) plus noise of
    std sigma C: one sampled Gaussian of multiplier sigma over the clipping's sensitivity. D times the release is what
    the optimizer sees. Source of the D: AdaDPS, Li et al. 2022, arXiv 2202.05963, here with a D from noisy history.

    Parameters, sum and state are changed in place, a piece of the noise at a time: each piece goes through noise,
    history and step while it is in a core's cache. The pieces do not depend on how many cores there are.
    """

    def __init__(self, config: RunConfig, engine: Engine, noise: GaussianNoise, cores: Cores) -> None:
        self.optimizer = OPTIMIZERS[config.optimizer](config)
        self.clipping = CLIPPINGS[config.clipping](config.clip_norm) if config.private else Flat(math.inf)
        self.state = begin(self.optimizer, engine.parameters)
        scaling = config.private and self.optimizer.scale is not None
        self._inverse = torch.ones_like(engine.parameters) if scaling else None  # 1 / D^2
        self._engine, self._noise, self._cores = engine, noise, cores
        self._batch = config.batch  # q n: the realised batch is not public
        self._noisy = config.private and config.sigma > 0
        self._vectors = [noise.pieces(vector) for vector in self.state.vectors]
        self._parameters = noise.pieces(engine.parameters)
        self._inverses = None if self._inverse is None else noise.pieces(self._inverse)

    def take(
        self,
        x: Tensor,
        y: Tensor,
        sigma: Number,
        rate: Number = 1.0,
        *,
        padding: Tensor | None = None,
        count: Tensor | None = None,
    ) -> ClippedSum:
        """Move by `rate` times the step for images x (B, ...), labels y (B,), with noise of std sigma C on the sum.

        Rows where `padding` (B,) is true are no part of the batch. `count` holds the steps, this one included, where
        the rules must not read them from the state.
        """
        optimizer, state, engine = self.optimizer, self.state, self._engine
        plain = engine.clipped_sum(x, y, Flat(math.inf)).total / self._batch if optimizer.peek else None
        inverse = self._inverse if state.count >= optimizer.wait else None
        transform = optimizer.transform(state) if optimizer.transform else None
        found = engine.clipped_sum(x, y, self.clipping, inverse, transform, padding)
        if optimizer.peek and plain is not None:
            optimizer.peek(plain, state._replace(count=state.count + 1))
        self._move(found.total, sigma * self.clipping.clip_norm, rate, count)
        return found

    def _move(self, total: Tensor, std: Number, rate: Number, count: Tensor | None) -> None:
        """Noise, history, mean, step. The sum (d,) is used up."""
        optimizer, gradients, averaged = self.optimizer, self._noise.pieces(total), self.optimizer.averaged
        before, done = self.state, self.state.count + 1
        after = before._replace(count=done if count is None else count)

        def absorb(i: int) -> Tensor | None:
            own = self._piece(after, i)
            if self._noisy:
                self._noise.add(i, gradients[i], std, self._scale(self._piece(before, i), before.count))
            optimizer.absorb(gradients[i].div_(self._batch), own)
            return averaged(own).sum() if averaged else step(i)

        def step(i: int) -> None:
            own = self._piece(after, i)
            scale = self._scale(own, done)
            optimizer.step(gradients[i], own, scale)
            if isinstance(rate, Tensor):
                self._parameters[i].add_(gradients[i].mul_(rate))
            else:
                self._parameters[i].add_(gradients[i], alpha=rate)
            if averaged:
                self._invert(i, scale)

        pieces = range(len(gradients))
        sums = self._cores.map(absorb, pieces)
        if averaged:
            torch.div(torch.stack(sums).sum(), len(total), out=after.mean)  # type: ignore[arg-type]
            self._cores.map(step, pieces)
        self.state = before._replace(count=done)

    def _piece(self, state: State, i: int) -> State:
        """The i-th piece of a state."""
        return state._replace(vectors=tuple(pieces[i] for pieces in self._vectors))

    def _scale(self, state: State, done: int) -> Tensor | None:
        """D for the step after the state, or a piece of it, after so many steps; None for ones."""
        optimizer = self.optimizer
        return optimizer.scale(state) if optimizer.scale and done >= optimizer.wait else None

    def _invert(self, i: int, scale: Tensor | None) -> None:
        """Keep 1 / D^2 of a piece for the next step."""
        if self._inverses and scale is not None:
            torch.reciprocal(scale, out=self._inverses[i]).square_()

    def snapshot(self) -> State:
        """A copy of the optimizer's state."""
        return self.state._replace(
            mean=self.state.mean.clone(), vectors=tuple(vector.clone() for vector in self.state.vectors)
        )

    def restore(self, state: State) -> None:
        """Take on a state, in place."""
        for own, other in zip((self.state.mean, *self.state.vectors), (state.mean, *state.vectors), strict=True):
            own.copy_(other)
        self.state = self.state._replace(count=state.count)
        for i in range(len(self._parameters)):
            self._invert(i, self._scale(self._piece(self.state, i), state.count))
