"""Clipped sums by vmap(grad): every example's gradient is formed."""

from itertools import groupby
from typing import final

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional as F

from dpcore.training.gradients.clipped_sum import Engine, Treatment, owner, shaped
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.rounding import operations, relative_error, squared_norms

ROWS = 1 << 26  # bytes of per-example gradients that are formed at once; what is done to them takes some more


@final
class PerExample(Engine):
    """vmap(grad) over any module whose examples do not mix."""

    transforms = True

    def __init__(self, module: nn.Module, why: str, views: int = 1) -> None:
        super().__init__(module, Cores(1), views)  # torch.func keeps a stack that threads must not share
        self.name = f"vmap: {why}"
        self.chunk = max(1, min(64, views * (ROWS // self.parameters.nbytes)))
        owners = [owner(name) for name, _ in module.named_parameters()]
        sizes = [weight.numel() for weight in module.parameters()]
        pairs = groupby(zip(owners, sizes, strict=True), key=lambda pair: pair[0])
        self._sizes = [sum(size for _, size in group) for _, group in pairs]  # of each group
        self.norm_error = relative_error(max(map(operations, self._sizes)))

    def _loss(self, weights: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        """The loss of one example (...), or the mean over its views (K, ...), of label y ()."""
        x, y = (x[None], y[None]) if self.views == 1 else (x, y.expand(self.views))
        return F.cross_entropy(functional_call(self.module, weights, (x,)), y)

    def _logits(self, x: Tensor) -> Tensor:
        self.module.eval()
        try:
            return self.module(x)
        finally:
            self.module.train()

    def _add(
        self, x: Tensor, y: Tensor, treatment: Treatment, sums: list[Tensor], beta: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        # made anew for each part: kept, it would hold the engine that holds it, and the memory of both
        gradients = vmap(grad_and_value(self._loss), in_dims=(None, 0, 0), randomness="different")
        by_name, losses = gradients(dict(self.module.named_parameters()), x, y)
        rows = torch.cat([gradient.flatten(1) for gradient in by_name.values()], 1)  # (B, d)
        del by_name
        if treatment.transform:
            rows = treatment.transform(rows)
        squares = self._squares(rows, treatment.inverse)
        factors = treatment.factors(squares)
        parts = zip(factors, rows.split(self._sizes, 1), strict=True)
        share = torch.cat([factor @ part for factor, part in parts])
        for total, part in zip(sums, shaped(share, self._shapes), strict=True):
            total.copy_(total + part if beta else part)
        return losses, squares, factors

    def _squares(self, rows: Tensor, inverse: list[Tensor] | None) -> Tensor:
        """The squared norm of each group of each row: (groups, B)."""
        parts = rows.split(self._sizes, 1)
        if inverse is None:
            return torch.stack([squared_norms(part) for part in parts])
        weights = torch.cat([part.flatten() for part in inverse]).split(self._sizes)
        return torch.stack([squared_norms(part, weight) for part, weight in zip(parts, weights, strict=True)])
