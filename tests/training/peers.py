"""What torch.optim has of the optimizers: f(weights, config)."""

from collections.abc import Callable
from textwrap import indent
from typing import Any

import torch

from dpcore.training.optimizers import OPTIMIZERS


def _made_by(lines: str) -> Callable[..., Any]:
    """The function of weights and config that these lines are the body of, as in the script for Opacus."""
    made: dict[str, Any] = {"torch": torch}
    exec("def peer(weights, config):\n" + indent(lines, "    "), made)  # the lines are the package's own
    return made["peer"]


PEERS = {name: _made_by(optimizer.in_torch) for name, optimizer in OPTIMIZERS.items() if optimizer.in_torch}
PEERS["adppl"] = PEERS["sgd"]  # it differs in its noise alone
