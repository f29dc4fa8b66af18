"""NoisyAdam: Adam on the noisy mean gradient.

Source: Bu et al. 2020, arXiv 1911.11607, Algorithm 2; Kingma and Ba 2015, arXiv 1412.6980.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcore.training.optimizers.base import Optimizer

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8  # the values of both papers


class Moments(NamedTuple):
    """Adam's state: steps taken, and the running means of g and g^2."""

    count: int
    first: Tensor  # (d,)
    second: Tensor  # (d,)


def adam(config: RunConfig) -> Optimizer:
    """m <- .9 m + .1 g; v <- .999 v + .001 g^2; step -lr m_hat / (sqrt(v_hat) + 1e-8), hats without the start bias."""
    lr = config.lr

    def init(parameters: Tensor) -> Moments:
        return Moments(0, parameters.new_zeros(parameters.shape), parameters.new_zeros(parameters.shape))

    def update(gradient: Tensor, state: Moments) -> tuple[Tensor, Moments]:
        count = state.count + 1
        first = state.first.lerp(gradient, 1 - BETA1)
        second = (state.second * BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        scale = (second / (1 - BETA2**count)).sqrt_().add_(EPS)
        return (first / scale).mul_(-lr / (1 - BETA1**count)), Moments(count, first, second)

    return Optimizer(init, update)
