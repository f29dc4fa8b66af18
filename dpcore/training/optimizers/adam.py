"""NoisyAdam: Adam on the noisy mean gradient.

Source: Bu et al. 2020, arXiv 1911.11607, Algorithm 2; Kingma and Ba 2015, arXiv 1412.6980. The
correction of the start bias is that of the latter: the former writes none, its scripts have it.
**Soundness:** post-processing of the noisy mean gradient, charged as DP-SGD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Optimizer, State

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8  # the values of both papers


def absorb(gradient: Tensor, state: State) -> None:
    """m <- .9 m + .1 g; v <- .999 v + .001 g^2."""
    first, second = state.vectors
    first.lerp_(gradient, 1 - BETA1)
    second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)


def adam(config: RunConfig) -> Optimizer:
    """m and v as absorbed; step -lr m_hat / (sqrt(v_hat) + 1e-8), hats without the start bias. The state is m, v."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        first, second = state.vectors
        bias = 1 - BETA1**state.count
        spread = (second * (bias**2 / (1 - BETA2**state.count))).sqrt_().add_(EPS * bias)
        parameters.addcdiv_(first, spread, value=-lr)

    return Optimizer((0.0, 0.0), absorb, step)
