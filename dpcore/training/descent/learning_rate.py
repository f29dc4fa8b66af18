"""Learning rates over a run. They depend on nothing but the step, so they cost no privacy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcore.training.config import RunConfig


def lr_of(config: RunConfig, step: int) -> float:
    """The learning rate of a step, from 1; with e the epochs done before it and E = lr_epochs, or the whole run.

    constant: lr; linear: from lr to lr_end over E epochs, then lr_end (Abadi et al. 2016, arXiv 1607.00133, section
    5.2: 0.1 to 0.052 over 10 epochs); cosine: lr_end + (lr - lr_end) (1 + cos(pi e / E)) / 2 (Loshchilov and Hutter
    2017, arXiv 1608.03983), then lr_end.
    """
    if config.lr_schedule == "constant":
        return config.lr
    whole = config.lr_epochs * config.examples / config.batch or config.steps  # in steps
    done = min(1.0, (step - 1) / whole)
    left = 1.0 - done if config.lr_schedule == "linear" else (1.0 + math.cos(math.pi * done)) / 2
    return config.lr_end + (config.lr - config.lr_end) * left
