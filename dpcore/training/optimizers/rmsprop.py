"""NoisyRMSprop: RMSprop on the noisy mean gradient.

Source: Tieleman and Hinton 2012, lecture 6.5; constants of TensorFlow 1: decay 0.9, epsilon 1e-10 under the root, and
a mean that starts at 1. **Soundness:** post-processing, charged as DP-SGD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Optimizer, State

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

DECAY, EPS, START = 0.9, 1e-10, 1.0


def absorb(gradient: Tensor, state: State) -> None:
    """s <- .9 s + .1 g^2."""
    state.vectors[0].mul_(DECAY).addcmul_(gradient, gradient, value=1 - DECAY)


def rmsprop(config: RunConfig) -> Optimizer:
    """s <- .9 s + .1 g^2 from s = 1; step -lr g / sqrt(s + 1e-10). The state is s."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        parameters.addcmul_(gradient, (state.vectors[0] + EPS).rsqrt_(), value=-lr)

    return Optimizer((START,), absorb, step)
