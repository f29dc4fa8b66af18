"""Embeddings, and what makes one vector of those of an example: two modules, and the book-keeping of all three."""

from typing import final

import torch
from torch import Tensor, nn

from dpcore.training.gradients.layers import AddSum, Layer, ParametricLayer
from dpcore.training.gradients.rounding import most_operations, row_sums, squared_norms

MOST_IDS = 4096  # of one example: what rounding is allowed for ends there
NONE = -1  # in the place of an id: a row that belongs to none


class MeanOfRows(nn.Module):
    """The mean of the rows of each example: (B, T, d) -> (B, d)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(1)


class Factors(nn.Module):
    """Two rows of factors (B, 2, k + m) as one: the first k of both multiplied, the others side by side (B, k + 2 m).

    Source: He et al. 2017, arXiv 1708.05031, equations (8) and (12): both branches of neural collaborative filtering.
    """

    def __init__(self, multiplied: int) -> None:
        super().__init__()
        self.multiplied = multiplied

    def forward(self, x: Tensor) -> Tensor:
        first, second = x.unbind(1)
        k = self.multiplied
        return torch.cat([first[:, :k] * second[:, :k], first[:, k:], second[:, k:]], 1)


@final
class Embedding(ParametricLayer):
    """nn.Embedding on ids (B, T). An id that stands several times in an example has one row of its gradient.

    So the loss gradients of equal ids are added up before the norm: the norm of the sum can be T times as long as what
    the norms of the parts say together.
    """

    def __init__(self, module: nn.Embedding) -> None:
        self.module = module

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if x.dim() != 2 or x.is_floating_point() or x.shape[1] > MOST_IDS:
            raise ValueError(f"Expected the input of an Embedding to be ids (B, T <= {MOST_IDS}), not {x.shape}.")
        return nn.functional.embedding(x, self.module.weight), x

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        raise RuntimeError("ids have no gradient: an Embedding is the first layer")

    def book(self, kept: Tensor, g: Tensor, inverse: list[Tensor] | None = None) -> tuple[Tensor, AddSum]:
        ids, rows = by_id(kept, g)

        def add_sum(factors: Tensor, sums: list[Tensor], beta: int) -> None:
            weighted = rows * factors[:, None, None]
            total = rows_added(weighted, ids, self.module.num_embeddings)
            sums[0].copy_(total + sums[0] if beta else total)

        if inverse is None:
            return squared_norms(rows), add_sum
        return row_sums(rows.square().mul_(inverse[0][ids.clamp(min=0)]).flatten(1)), add_sum

    def operations(self) -> int:
        return most_operations(MOST_IDS * self.module.embedding_dim)


@final
class RowMean(Layer):
    """MeanOfRows."""

    def __init__(self, module: MeanOfRows) -> None:
        self.module = module

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        return self.module(x), x.shape[1]

    def backward(self, kept: int, g: Tensor) -> Tensor:
        return (g / kept)[:, None].expand(-1, kept, -1)


@final
class FactorRows(Layer):
    """Factors."""

    def __init__(self, module: Factors) -> None:
        self.module = module

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.module(x), x

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        k, size = self.module.multiplied, kept.shape[2]
        product, *alone = g.split([k, size - k, size - k], 1)
        multiplied = product[:, None] * kept[:, :, :k].flip(1)
        return torch.cat([multiplied, torch.stack(alone, 1)], 2)


def by_id(ids: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """The ids of each example once, NONE behind them (B, T), and their gradients, added up, zeros behind (B, T, d)."""
    ordered, order = ids.long().sort(1)
    starts = torch.ones_like(ordered)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    groups = starts.cumsum(1) - 1  # (B, T): which of the example's ids, in the order of `ordered`
    once = torch.full_like(ordered, NONE).scatter_(1, groups, ordered)
    size, length = ids.shape
    places = groups + length * torch.arange(size, device=ids.device)[:, None]
    sorted_g = g.gather(1, order[:, :, None].expand_as(g))
    return once, rows_added(sorted_g, places, size * length).view_as(g)


def rows_added(rows: Tensor, places: Tensor, count: int) -> Tensor:
    """Zeros (count, d) with each row (B, T, d) added at its place (B, T), always in the same order."""
    back = torch.ops.aten.embedding_dense_backward
    return back(rows.reshape(-1, rows.shape[2]), places.flatten(), count, NONE, False)
