"""PIRMSprop: RMSprop's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1; it gives no beta2. **Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no
epsilon. The paper's reading as coded would be `rmsprop`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.readings import Rule, by_reading

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig
    from dpcore.training.optimizers.base import Optimizer, State

BETA2 = 0.99  # noisy squares need a longer memory than the usual 0.9
FLOOR = 1.0


def absorb(gradient: Tensor, state: State) -> None:
    """s <- beta2 s + (1 - beta2) g^2."""
    state.vectors[0].mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)


def pi_rmsprop(config: RunConfig) -> Optimizer:
    """f = g; s without its start bias, so that the first steps are no longer than the rest. The state is s."""
    rule = Rule(
        (0.0,),
        absorb,
        first=lambda gradient, state: (gradient, 1.0),
        second=lambda state: (state.vectors[0], 1 / (1 - BETA2**state.count)),
        floor=FLOOR,
    )
    return by_reading(config, rule)
