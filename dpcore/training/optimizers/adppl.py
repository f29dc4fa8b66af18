"""ADPPL in a sound variant: more noise where a coordinate matters less to the output.

Inspired by, not a reproduction of, Gong et al. 2020 (Neural Networks 125), whose text and code are not public: there
Laplace noise of a scale in inverse proportion to a neuron's relevance goes on the gradients, step by step. Here the
noise is Gaussian: coordinates of relevance c_j get D_j in proportion to 1 / sqrt(c_j), the gradient divided by D is
clipped to C, and the noise of coordinate j is sigma C D_j.
**Soundness:** given public relevances each step is one sampled Gaussian of multiplier sigma, as DP-SGD. The relevances
are a noisy release of their own, charged once (`relevance_sigma`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcore import check
from dpcore.training.optimizers.base import Optimizer

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig


class Allotted(NamedTuple):
    """Momentum, and the D of the whole run: None for ones."""

    velocity: Tensor  # (d,)
    scale: Tensor | None  # (d,)


def with_relevance(state: Allotted, relevance: Tensor) -> Allotted:
    """The state with D = 1 / sqrt(c), of root mean square 1, for a relevance c (d,) > 0 of each coordinate.

    **Guarantees:** the noise has the total variance that it has without: it is only moved.
    """
    check.positive(relevance=float(relevance.min()), largest_relevance=float(relevance.max()))
    scale = relevance.rsqrt()
    return state._replace(scale=scale.mul_(len(scale) ** 0.5 / float(scale.norm())))


def adppl(config: RunConfig) -> Optimizer:
    """v <- momentum v + g; step -lr v."""
    lr, momentum = config.lr, config.momentum

    def init(parameters: Tensor) -> Allotted:
        return Allotted(parameters.new_zeros(parameters.shape), None)

    def update(gradient: Tensor, state: Allotted) -> tuple[Tensor, Allotted]:
        velocity = gradient.add(state.velocity, alpha=momentum)
        return velocity * -lr, state._replace(velocity=velocity)

    return Optimizer(init, update, scale=lambda state: state.scale)
