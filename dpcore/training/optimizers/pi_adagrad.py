"""PIAdagrad: Adagrad's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1. **Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no epsilon. The
paper's reading as coded would be `adagrad`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.readings import Rule, by_reading

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig
    from dpcore.training.optimizers.base import Optimizer, State

FLOOR = 1.0


def absorb(gradient: Tensor, state: State) -> None:
    """s <- s + g^2."""
    state.vectors[0].addcmul_(gradient, gradient)


def pi_adagrad(config: RunConfig) -> Optimizer:
    """f = g; s <- s + g^2 from 0. The state is s."""
    rule = Rule(
        (0.0,),
        absorb,
        first=lambda gradient, state: (gradient, 1.0),
        second=lambda state: (state.vectors[0], 1.0),
        floor=FLOOR,
    )
    return by_reading(config, rule)
