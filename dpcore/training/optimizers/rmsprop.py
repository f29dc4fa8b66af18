"""NoisyRMSprop: RMSprop on the noisy mean gradient.

Source: Tieleman and Hinton 2012, lecture 6.5; constants of TensorFlow 1: decay 0.9, epsilon 1e-10 under the root, and
a mean that starts at 1. **Soundness:** post-processing, charged as DP-SGD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Optimizer

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

DECAY, EPS, START = 0.9, 1e-10, 1.0


def rmsprop(config: RunConfig) -> Optimizer:
    """s <- .9 s + .1 g^2 from s = 1; step -lr g / sqrt(s + 1e-10). The state is s (d,)."""
    lr = config.lr

    def init(parameters: Tensor) -> Tensor:
        return parameters.new_full(parameters.shape, START)

    def update(gradient: Tensor, mean: Tensor) -> tuple[Tensor, Tensor]:
        mean = (mean * DECAY).addcmul_(gradient, gradient, value=1 - DECAY)
        return (mean + EPS).rsqrt_().mul_(gradient).mul_(-lr), mean

    return Optimizer(init, update)
