"""PIRMSprop: RMSprop's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1; it gives no beta2. **Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no
epsilon. The paper's reading as coded would be `rmsprop`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Hyperparameters, Optimizer, State, UpdateRules
from dpcore.training.optimizers.readings import NOTE, READINGS, Row, by_reading

if TYPE_CHECKING:
    from torch import Tensor


BETA2 = 0.99  # noisy squares need a longer memory than the usual 0.9
FLOOR = 1.0


def absorb(gradient: Tensor, state: State) -> None:
    """s <- beta2 s + (1 - beta2) g^2."""
    state.vectors[0].mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """f = g; s without its start bias, so that the first steps are no longer than the rest. The state is s."""
    row = Row(
        (0.0,),
        absorb,
        first=lambda gradient, state: (gradient, 1.0),
        second=lambda state: (state.vectors[0], 1 / (1 - BETA2**state.count)),
        floor=FLOOR,
    )
    return by_reading(hyperparameters.reading, row)


PI_RMSPROP = Optimizer(
    name="pi_rmsprop",
    title="PIRMSprop",
    note=NOTE,
    source="paper 000, section 4.1 and Table 1",
    rules=rules,
    lr=0.02,
    baseline_lr=0.005,
    special_lr={("mnist", "mlp"): 0.01},
    directions=(1.0, 1.0),
    readings=tuple(READINGS),
)
