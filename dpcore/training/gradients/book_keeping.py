"""Clipped sums where every layer is known: one forward and one backward pass, and no per-example gradient is formed."""

from typing import final

import torch
from torch import Tensor, nn

from dpcore.training.gradients import embedding, layers
from dpcore.training.gradients.clipped_sum import Engine, Treatment
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.rounding import relative_error
from dpcore.training.gradients.views import AVERAGED

CHUNK = 320  # examples a core works on at once, or views of fewer examples
CHUNK_BYTES = 2**21  # of the widest layer's inputs at once, about what a core's cache holds
CHUNK_CONV = 128  # where patches are unfolded, which take much more memory than what else a layer keeps
CHUNK_ELSEWHERE = 4096  # a GPU has no such cache, and wants large pieces


@final
class BookKeeping(Engine):
    """One forward and one backward pass through known layers."""

    name = "book-keeping"

    def __init__(self, module: nn.Sequential, cores: Cores, views: int = 1) -> None:
        super().__init__(module, cores, views)
        self.chunk = _chunk(module) if self.parameters.is_cpu else CHUNK_ELSEWHERE
        self._layers = [layer_of(child, views) for child in module]
        parametric = [layer for layer in self._layers if isinstance(layer, layers.ParametricLayer)]
        self.norm_error = relative_error(max(layer.operations() for layer in parametric))
        counts = [len(list(child.parameters())) for child in module]
        ends = [sum(counts[: i + 1]) for i in range(len(counts))]
        self._slots = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
        self._first = next(i for i, count in enumerate(counts) if count)
        self._arranged = flat if isinstance(module[0], nn.Flatten) else channels_last

    def _logits(self, x: Tensor) -> Tensor:
        x = self._arranged(x)
        for layer in self._layers:
            x, _ = layer.forward(x)
        return x

    def _add(
        self, x: Tensor, y: Tensor, treatment: Treatment, sums: list[Tensor], beta: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        x = self._arranged(x if self.views == 1 else x.flatten(0, 1))
        kept = []
        for layer in self._layers:
            x, keep = layer.forward(x)
            kept.append(keep)
        losses, g = cross_entropy(x, y, self.views)
        inverse = treatment.inverse
        squares, books = [], []
        for i in reversed(range(self._first, len(self._layers))):
            layer, slot, keep = self._layers[i], self._slots[i], kept.pop()
            if isinstance(layer, layers.ParametricLayer):
                square, add_sum = layer.book(keep, g, inverse and inverse[slot])
                squares.append(square)
                books.append((add_sum, sums[slot]))
            if i > self._first:
                g = layer.backward(keep, g)
        stacked = torch.stack(squares)
        factors = treatment.factors(stacked)
        for factor in factors:
            add_sum, own = books.pop(0)  # and what the layer kept is free for the next one
            add_sum(factor, own, beta)
        return losses, stacked, factors


def _chunk(module: nn.Sequential) -> int:
    """Rows that a core works on at once."""
    if any(isinstance(child, nn.Conv2d) for child in module):
        return CHUNK_CONV
    widest = max((child.weight[0].nbytes for child in module if isinstance(child, nn.Linear)), default=0)
    return min(CHUNK, CHUNK_BYTES // max(1, widest)) or 1


KNOWN = {
    nn.Linear: layers.Linear,
    nn.Conv2d: layers.Conv2d,
    nn.Tanh: lambda module: layers.Tanh(),
    nn.ReLU: lambda module: layers.ReLU(),
    nn.MaxPool2d: layers.MaxPool2d,
    nn.Flatten: lambda module: layers.Flatten(),
    nn.Embedding: embedding.Embedding,
    embedding.MeanOfRows: embedding.RowMean,
    embedding.Factors: embedding.FactorRows,
}


def layer_of(child: nn.Module, views: int) -> layers.Layer:
    """The child written out; what has parameters averages its gradients over the views of each example."""
    layer = KNOWN[type(child)](child)
    if views == 1 or not isinstance(layer, layers.ParametricLayer):
        return layer
    return AVERAGED[type(child)](layer, views)


def cross_entropy(logits: Tensor, y: Tensor, views: int = 1) -> tuple[Tensor, Tensor]:
    """Each example's loss (B,), the mean over its views, and its gradient at their logits (B views, classes)."""
    if views > 1:
        y = y[:, None].expand(-1, views).flatten()
    logarithms = torch.log_softmax(logits, 1)
    g = logarithms.exp()
    rows = torch.arange(len(y), device=y.device)
    g[rows, y] -= 1.0
    losses = -logarithms[rows, y]
    return (losses, g) if views == 1 else (losses.view(-1, views).mean(1), g.div_(views))


def flat(x: Tensor) -> Tensor:
    """(B, ...) -> (B, -1), as they lie: a network that flattens first needs no other order, and no copies for it."""
    return x.flatten(1)


def channels_last(x: Tensor) -> Tensor:
    """(B, C, H, W) -> (B, H, W, C) in that memory order; other shapes stay."""
    return x.permute(0, 2, 3, 1).contiguous() if x.dim() == 4 else x
