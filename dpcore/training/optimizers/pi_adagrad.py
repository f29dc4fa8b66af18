"""PIAdagrad: Adagrad's direction for each example, in the sound readings of `readings`.

Source: paper 000, Table 1. **Soundness:** `scaled` and `literal` are charged as DP-SGD; `raw` has no epsilon. The
paper's reading as coded would be `adagrad`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.optimizers.readings import Rule, by_reading

if TYPE_CHECKING:
    from dpcore.training.config import RunConfig
    from dpcore.training.optimizers.base import Optimizer

FLOOR = 1.0


def pi_adagrad(config: RunConfig) -> Optimizer:
    """f = g; s <- s + g^2 from 0."""
    rule = Rule(
        lambda parameters: parameters.new_zeros(parameters.shape),
        lambda gradient, total: total.addcmul(gradient, gradient),
        first=lambda gradient, total: gradient,
        second=lambda total: (total, 1.0),
        floor=FLOOR,
    )
    return by_reading(config, rule)
