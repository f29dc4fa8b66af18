"""The audit's own clipped gradients: autograd, one example at a time, and nothing of the trainer's engines."""

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcore.training.gradients.clipped_sum import Transform, owner
from dpcore.training.gradients.clipping import Clipping


class OwnGradients:
    """Clipped gradients of a network of the same layers, at whatever parameters it is asked for."""

    def __init__(self, module: nn.Module, clipping: Clipping) -> None:
        self._module = copy.deepcopy(module).requires_grad_(True)
        self._clipping = clipping
        sizes: dict[str, int] = {}
        for name, weight in self._module.named_parameters():
            sizes[owner(name)] = sizes.get(owner(name), 0) + weight.numel()
        self._sizes = list(sizes.values())  # of the groups that are clipped on their own, or not

    def of(
        self, parameters: Tensor, x: Tensor, y: Tensor, scale: Tensor | None, transform: Transform | None
    ) -> Iterator[Tensor]:
        """Each example's clipped gradient divided by D (d,), in float64."""
        nn.utils.vector_to_parameters(parameters.clone(), self._module.parameters())
        for i in range(len(x)):
            row = self._gradient(x[i : i + 1], y[i : i + 1])
            row = row if transform is None else transform(row[None])[0]
            yield self._clipped(row.double() if scale is None else row.double() / scale.double())

    def _gradient(self, x: Tensor, y: Tensor) -> Tensor:
        self._module.zero_grad()
        F.cross_entropy(self._module(x), y).backward()
        rows = [torch.zeros_like(each) if each.grad is None else each.grad for each in self._module.parameters()]
        return torch.cat([row.flatten() for row in rows])

    def _clipped(self, row: Tensor) -> Tensor:
        parts = row.split(self._sizes)
        squares = torch.stack([part.square().sum() for part in parts])[:, None]  # (groups, 1)
        factors = self._clipping.factors(squares)[:, 0]
        return torch.cat([part * factor for part, factor in zip(parts, factors, strict=True)])
