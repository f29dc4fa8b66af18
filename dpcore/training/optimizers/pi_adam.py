"""PIAdam: Adam's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1, with Adam's recursion on the uncorrected means, which the table writes corrected.
**Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no epsilon. The paper's code is another
optimizer: `adam`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.adam import BETA1, BETA2, absorb
from dpcore.training.optimizers.readings import Rule, by_reading

if TYPE_CHECKING:
    from dpcore.training.config import RunConfig
    from dpcore.training.optimizers.base import Optimizer

FLOOR = 1.0


def pi_adam(config: RunConfig) -> Optimizer:
    """f = m / (1 - .9^t); s = v / (1 - .999^t). The state is Adam's m, v."""
    rule = Rule(
        (0.0, 0.0),
        absorb,
        first=lambda gradient, state: (state.vectors[0], 1 / (1 - BETA1**state.count)),
        second=lambda state: (state.vectors[1], 1 / (1 - BETA2**state.count)),
        floor=FLOOR,
    )
    return by_reading(config, rule)
