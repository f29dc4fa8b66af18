"""Ways to shorten each example's gradient; free of torch at import.

Every variant turns the squared norms of an example's groups (one group for each layer with
parameters) into factors. Its sensitivity is the most that one example can then move the sum of the
gradients, in units of C.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, final

if TYPE_CHECKING:
    from torch import Tensor

SAFETY = 1 - 1e-6  # covers at most 14 roundings to float32 here, of 2^-24 each: 8.4e-7
STABILITY = 0.01  # gamma of AUTO-S, the value of its paper


@dataclass(frozen=True)
class Clipping(ABC):
    """A variant with its bound C."""

    title: ClassVar[str]  # in the label of a run
    note: ClassVar[str]  # one line on its effect and its charge
    source: ClassVar[str]
    clip_norm: float

    @abstractmethod
    def factors(self, squares: Tensor) -> Tensor:
        """The factor of each group's gradient: squared norms (groups, B) -> (groups, B)."""

    @staticmethod
    @abstractmethod
    def sensitivity(groups: int) -> float:
        """The largest L2 norm of a clipped gradient, in units of C."""


@final
class Flat(Clipping):
    """min(1, C / norm) of the whole gradient; 1 where the norm is 0 or C is infinite.

    **Guarantees:** factor * norm <= C, rounding included, for squared norms that are at least the
    real ones.

    >>> import torch
    >>> Flat(2.0).factors(torch.tensor([[0.0, 0.25, 9.0], [0.0, 0.0, 7.0]]))
    tensor([[1.0000, 1.0000, 0.5000],
            [1.0000, 1.0000, 0.5000]])
    """

    title = "flat"
    note = "The whole gradient is clipped to C. Charges each step at (q, sigma)."
    source = "Abadi et al. 2016, arXiv 1607.00133, Algorithm 1"

    def factors(self, squares: Tensor) -> Tensor:
        norms = squares.sum(0).sqrt_()
        return (self.clip_norm * SAFETY / norms).clamp_(max=1.0).expand_as(squares)

    @staticmethod
    def sensitivity(groups: int) -> float:
        return 1.0


@final
class AutoS(Clipping):
    """C / (norm + 0.01), which brings every gradient nearly to norm C, without a threshold.

    **Guarantees:** factor * norm <= C, rounding included, for squared norms that are at least the
    real ones.

    >>> import torch
    >>> AutoS(2.0).factors(torch.tensor([[0.0, 3.9601]]))
    tensor([[199.9998,   1.0000]])
    """

    title = "AUTO-S"
    note = "AUTO-S: each gradient times C / (norm + 0.01). Charges each step at (q, sigma)."
    source = "Bu et al. 2023, arXiv 2206.07136"

    def factors(self, squares: Tensor) -> Tensor:
        norms = squares.sum(0).sqrt_()
        return norms.add_(STABILITY).reciprocal_().mul_(self.clip_norm * SAFETY).expand_as(squares)

    @staticmethod
    def sensitivity(groups: int) -> float:
        return 1.0


@final
class PerLayer(Clipping):
    """min(1, C / norm) for each layer on its own; k layers move the sum by up to C sqrt(k)
    together.

    >>> import torch
    >>> PerLayer(2.0).factors(torch.tensor([[16.0, 1.0], [1.0, 64.0]])), PerLayer.sensitivity(4)
    (tensor([[0.5000, 1.0000],
            [1.0000, 0.2500]]), 2.0)
    """

    title = "per layer"
    note = "Each of k layers is clipped to C. Charges each step at (q, sigma / sqrt k)."
    source = "the code beside Abadi et al. 2016, arXiv 1607.00133"

    def factors(self, squares: Tensor) -> Tensor:
        return (self.clip_norm * SAFETY / squares.sqrt()).clamp_(max=1.0)

    @staticmethod
    def sensitivity(groups: int) -> float:
        return math.sqrt(groups)


CLIPPINGS: dict[str, type[Clipping]] = {"flat": Flat, "auto_s": AutoS, "per_layer": PerLayer}
