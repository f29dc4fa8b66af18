"""What an optimizer is: two pure functions, the state passed in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


class Optimizer(NamedTuple):
    """Post-processing of the noisy mean gradient: it sees nothing else of the data, so it costs no privacy."""

    init: Callable[[Tensor], Any]  # parameters (d,) -> state
    update: Callable[[Tensor, Any], tuple[Tensor, Any]]  # noisy mean gradient (d,), state -> step to add (d,), state
