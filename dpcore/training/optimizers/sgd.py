"""NoisySGD: gradient descent with heavy-ball momentum.

Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1; momentum as in Tramer and Boneh 2021, arXiv 2011.11660.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Optimizer

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig


def sgd(config: RunConfig) -> Optimizer:
    """v <- momentum v + g; step -lr v. The state is v (d,), or None without momentum."""
    lr, momentum = config.lr, config.momentum

    def init(parameters: Tensor) -> Tensor | None:
        return parameters.new_zeros(parameters.shape) if momentum else None

    def update(gradient: Tensor, velocity: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if velocity is None:
            return gradient * -lr, None
        velocity = gradient.add(velocity, alpha=momentum)
        return velocity * -lr, velocity

    return Optimizer(init, update)
