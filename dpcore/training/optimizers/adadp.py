"""AdaDP in a sound variant: scale, then clip, by the noisy RMS history of each coordinate.

Inspired by, not a reproduction of, Xu et al. 2020 (INFOCOM), whose text and code are not public: there each coordinate
is clipped to a multiple of its RMS and gets noise in proportion. Here the gradient divided by s = sqrt(E) + a is
clipped to C as a whole, which spares the sqrt(d) of clipping to a box.
**Soundness:** s follows from noisy releases only, so each step is one sampled Gaussian of multiplier sigma: charged as
DP-SGD. It differs from `pi_rmsprop` in waiting until E is informative, and in a step that is not damped by a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcore.training.optimizers.base import Optimizer
from dpcore.training.optimizers.readings import scale_of

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

GAMMA = 0.99
INFORMATIVE = 20  # steps before E sets the scale: until then plain DP-SGD clipping, as the paper begins
FLOOR = 1.0  # a, as a multiple of the root mean square of sqrt(E)
EPS = 1e-16


class Accumulated(NamedTuple):
    """Steps taken, E, and the D that follows: None for ones."""

    count: int
    squares: Tensor  # (d,)
    scale: Tensor | None  # (d,)


def adadp(config: RunConfig) -> Optimizer:
    """E <- gamma E + (1 - gamma) g^2; step -lr g / sqrt(E / (1 - gamma^t)); D = sqrt(E) + a, relative."""
    lr = config.lr

    def init(parameters: Tensor) -> Accumulated:
        return Accumulated(0, parameters.new_zeros(parameters.shape), None)

    def update(gradient: Tensor, state: Accumulated) -> tuple[Tensor, Accumulated]:
        count = state.count + 1
        squares = state.squares.lerp(gradient.square(), 1 - GAMMA)
        step = (squares + EPS).rsqrt_().mul_(gradient).mul_(-lr * (1 - GAMMA**count) ** 0.5)
        waits = state.scale is None and count < INFORMATIVE
        return step, Accumulated(count, squares, None if waits else scale_of(squares, FLOOR)[0])

    return Optimizer(init, update, scale=lambda state: state.scale)
