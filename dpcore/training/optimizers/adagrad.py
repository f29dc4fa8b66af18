"""NoisyAdagrad: Adagrad on the noisy mean gradient.

Source: Duchi, Hazan and Singer 2011, "Adaptive subgradient methods"; constants of TensorFlow 1, on which paper 000's
code trains: the sum starts at 0.1 and there is no epsilon. **Soundness:** post-processing, charged as DP-SGD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Optimizer

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

START = 0.1


def adagrad(config: RunConfig) -> Optimizer:
    """s <- s + g^2 from s = 0.1; step -lr g / sqrt(s). The state is s (d,)."""
    lr = config.lr

    def init(parameters: Tensor) -> Tensor:
        return parameters.new_full(parameters.shape, START)

    def update(gradient: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        total = total.addcmul(gradient, gradient)
        return total.rsqrt().mul_(gradient).mul_(-lr), total

    return Optimizer(init, update)
