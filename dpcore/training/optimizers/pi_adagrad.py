"""PIAdagrad: Adagrad's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1. **Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no epsilon. The
paper's reading as coded would be `adagrad`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.base import Hyperparameters, Optimizer, State, UpdateRules
from dpcore.training.optimizers.readings import NOTE, READINGS, Row, by_reading

if TYPE_CHECKING:
    from torch import Tensor


FLOOR = 1.0


def absorb(gradient: Tensor, state: State) -> None:
    """s <- s + g^2."""
    state.vectors[0].addcmul_(gradient, gradient)


def rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """f = g; s <- s + g^2 from 0. The state is s."""
    row = Row(
        (0.0,),
        absorb,
        first=lambda gradient, state: (gradient, 1.0),
        second=lambda state: (state.vectors[0], 1.0),
        floor=FLOOR,
    )
    return by_reading(hyperparameters.reading, row)


PI_ADAGRAD = Optimizer(
    name="pi_adagrad",
    title="PIAdagrad",
    note=NOTE,
    source="paper 000, section 4.1 and Table 1",
    rules=rules,
    lr=0.1,
    baseline_lr=0.05,
    directions=(1.0, 1.0),
    readings=tuple(READINGS),
)
