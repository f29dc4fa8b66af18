"""NoisyRMSprop: RMSprop on the noisy mean gradient.

Source: Tieleman and Hinton 2012, lecture 6.5; constants of TensorFlow 1: decay 0.9, epsilon 1e-10 under the root, and
a mean that starts at 1. **Soundness:** post-processing, charged as DP-SGD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcore.training.optimizers.base import Optimizer

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

DECAY, EPS, START = 0.9, 1e-10, 1.0


class Walk(NamedTuple):
    """s, and the velocity: None without momentum."""

    mean: Tensor  # (d,)
    velocity: Tensor | None  # (d,)


def rmsprop(config: RunConfig) -> Optimizer:
    """s <- .9 s + .1 g^2 from s = 1; v <- momentum v + g / sqrt(s + 1e-10); step -lr v."""
    lr, momentum = config.lr, config.momentum

    def init(parameters: Tensor) -> Walk:
        velocity = parameters.new_zeros(parameters.shape) if momentum else None
        return Walk(parameters.new_full(parameters.shape, START), velocity)

    def update(gradient: Tensor, state: Walk) -> tuple[Tensor, Walk]:
        mean = (state.mean * DECAY).addcmul_(gradient, gradient, value=1 - DECAY)
        velocity = (mean + EPS).rsqrt_().mul_(gradient)
        if state.velocity is None:
            return velocity.mul_(-lr), Walk(mean, None)
        velocity.add_(state.velocity, alpha=momentum)
        return velocity * -lr, Walk(mean, velocity)

    return Optimizer(init, update)
