"""NoisySGD: gradient descent with heavy-ball momentum.

Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1; momentum as in Tramer and Boneh 2021, arXiv 2011.11660.
**Soundness:** post-processing of the noisy mean gradient, charged as DP-SGD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Optimizer, State

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig


def sgd(config: RunConfig) -> Optimizer:
    """v <- momentum v + g; step -lr v. The state is v, or nothing without momentum."""
    momentum = config.momentum

    def absorb(gradient: Tensor, state: State) -> None:
        for velocity in state.vectors:
            velocity.mul_(momentum).add_(gradient)

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        parameters.add_(state.vectors[0] if state.vectors else gradient, alpha=-lr)

    return Optimizer((0.0,) if momentum else (), absorb, step)
