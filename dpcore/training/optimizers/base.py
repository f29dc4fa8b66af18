"""What an optimizer is: pure functions, the state passed in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


def unscaled(state: Any) -> None:
    """No preconditioner."""
    return


class Optimizer(NamedTuple):
    """Post-processing of the noisy mean gradient: it sees nothing else of the data, so it costs no privacy.

    `scale` and `transform` see the state only, and so earlier releases only: what they give is public, and each
    example's part in the sum is a function of that example and of public values. The one exception is `peek`, for the
    demonstration of the unsound reading: a run that has it has no epsilon.
    """

    init: Callable[[Tensor], Any]  # parameters (d,) -> state
    update: Callable[[Tensor, Any], tuple[Tensor, Any]]  # noisy mean gradient (d,), state -> step to add (d,), state
    scale: Callable[[Any], Tensor | None] = unscaled  # state -> D (d,) above 0: gradients / D are clipped; None: D = 1
    transform: Callable[[Any], Callable[[Tensor], Tensor]] | None = None  # state -> f((B, d)) -> (B, d), row by row
    peek: Callable[[Tensor, Any], Any] | None = None  # mean gradient without noise (d,), state -> state
