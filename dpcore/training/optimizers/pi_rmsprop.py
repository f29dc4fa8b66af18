"""PIRMSprop: RMSprop's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1; it gives no beta2. **Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no
epsilon. The paper's reading as coded would be `rmsprop`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcore.training.optimizers.readings import Rule, by_reading

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig
    from dpcore.training.optimizers.base import Optimizer

BETA2 = 0.99  # noisy squares need a longer memory than the usual 0.9
FLOOR = 1.0


class Squares(NamedTuple):
    """Gradients seen, and s."""

    count: int
    second: Tensor  # (d,)


def init(parameters: Tensor) -> Squares:
    """No history."""
    return Squares(0, parameters.new_zeros(parameters.shape))


def absorb(gradient: Tensor, state: Squares) -> Squares:
    """s <- beta2 s + (1 - beta2) g^2."""
    return Squares(state.count + 1, state.second.lerp(gradient.square(), 1 - BETA2))


def pi_rmsprop(config: RunConfig) -> Optimizer:
    """f = g; s without its start bias, so that the first steps are no longer than the rest."""
    rule = Rule(
        init,
        absorb,
        first=lambda gradient, state: gradient,
        second=lambda state: (state.second, 1 / (1 - BETA2**state.count)),
        floor=FLOOR,
    )
    return by_reading(config, rule)
