"""PIAdam: Adam's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1, with Adam's recursion on the uncorrected means, which the table writes corrected.
**Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no epsilon. The paper's code is another
optimizer: `adam`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from dpcore.training.optimizers.adam import BETA1, BETA2, absorb
from dpcore.training.optimizers.base import Hyperparameters, Optimizer, UpdateRules
from dpcore.training.optimizers.readings import NOTE, READINGS, Row, by_reading

FLOOR = 1.0


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """f = m / (1 - .9^t); s = v / (1 - .999^t). The state is Adam's m, v."""
    row = Row(
        (0.0, 0.0),
        absorb,
        first=lambda gradient, state: (state.vectors[0], 1 / (1 - BETA1**state.count)),
        second=lambda state: (state.vectors[1], 1 / (1 - BETA2**state.count)),
        floor=FLOOR,
    )
    return by_reading(hyperparameters.reading, row)


PI_ADAM = Optimizer(
    name="pi_adam",
    title="PIAdam",
    note=NOTE,
    source="paper 000, section 4.1 and Table 1",
    rules=rules,
    lr=0.02,
    baseline_lr=0.005,
    directions=(0.1, 5.0),
    readings=tuple(READINGS),
)
