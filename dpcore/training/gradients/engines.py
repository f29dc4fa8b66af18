"""The two engines of clipped sums: one pass through known layers (`BookKeeping`), or vmap(grad)
(`PerExample`).
"""

from typing import final

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional as F

from dpcore import check
from dpcore.training.gradients import layers
from dpcore.training.gradients.clipped_sum import Engine, Treatment, group_sizes, shaped
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.layers import AVERAGED
from dpcore.training.gradients.rounding import operations, relative_error, squared_norms

CHUNK = 320  # examples, or views of fewer examples, that a core works on at once
CHUNK_BYTES = 2**21  # of the widest layer's inputs at once, about a core's cache
CHUNK_CONV = 128  # for convolutions, whose unfolded patches take much memory
CHUNK_ELSEWHERE = 16_384  # a GPU has no such cache and needs large pieces


@final
class BookKeeping(Engine):
    """One forward and one backward pass through known layers."""

    name = "book-keeping"

    def __init__(self, module: nn.Sequential, cores: Cores, views: int = 1) -> None:
        super().__init__(module, cores, views)
        self.chunk = _chunk(module) if self.parameters.is_cpu else CHUNK_ELSEWHERE
        self._layers = [layer_of(child, views) for child in module]
        self._slots: list[slice] = []  # of each layer's parameters among all
        with_parameters = []
        most = 0
        end = 0
        for i, layer in enumerate(self._layers):
            start = end
            end += len(list(module[i].parameters()))
            self._slots.append(slice(start, end))
            if isinstance(layer, layers.ParametricLayer):
                with_parameters.append(i)
                most = max(most, layer.operations())
        self.norm_error = relative_error(most)
        self._first = with_parameters[0]
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
        squares = []
        books = []
        for i in reversed(range(self._first, len(self._layers))):
            layer = self._layers[i]
            slot = self._slots[i]
            keep = kept.pop()
            if isinstance(layer, layers.ParametricLayer):
                square, add_sum = layer.book(keep, g, inverse and inverse[slot])
                squares.append(square)
                books.append((add_sum, sums[slot]))
            if i > self._first:
                g = layer.backward(keep, g)
        stacked = torch.stack(squares)
        factors = treatment.factors(stacked)
        for factor in factors:
            add_sum, own = books.pop(0)  # frees the layer's memory for the next one
            add_sum(factor, own, beta)
        return losses, stacked, factors


def _chunk(module: nn.Sequential) -> int:
    if any(isinstance(child, nn.Conv2d) for child in module):
        return CHUNK_CONV
    widest = 1
    for child in module:
        if isinstance(child, nn.Linear):
            widest = max(widest, child.weight[0].nbytes)
    return min(CHUNK, CHUNK_BYTES // widest) or 1


KNOWN = {
    nn.Linear: layers.Linear,
    nn.Conv2d: layers.Conv2d,
    nn.Tanh: lambda module: layers.TANH,
    nn.ReLU: lambda module: layers.RELU,
    nn.MaxPool2d: layers.MaxPool2d,
    nn.Flatten: lambda module: layers.Flatten(),
    nn.Embedding: layers.Embedding,
    layers.MeanOfRows: layers.RowMean,
    layers.Factors: layers.FactorRows,
}


def layer_of(child: nn.Module, views: int) -> layers.Layer:
    """The book-keeping layer of a child; with parameters it averages its gradients over an
    example's views.
    """
    if views > 1 and list(child.parameters()):
        return AVERAGED[type(child)](child, views)
    return KNOWN[type(child)](child)


def cross_entropy(logits: Tensor, y: Tensor, views: int) -> tuple[Tensor, Tensor]:
    """Each example's mean loss over its views (B,), and its gradient at their logits (B views,
    classes).
    """
    if views > 1:
        y = y[:, None].expand(-1, views).flatten()
    logarithms = torch.log_softmax(logits, 1)
    g = logarithms.exp()
    rows = torch.arange(len(y), device=y.device)
    g[rows, y] -= 1.0
    losses = -logarithms[rows, y]
    if views == 1:
        return losses, g
    return losses.view(-1, views).mean(1), g.div_(views)


def flat(x: Tensor) -> Tensor:
    """(B, ...) -> (B, -1) in memory order: a network that flattens first needs no other order, and
    no copy.
    """
    return x.flatten(1)


def channels_last(x: Tensor) -> Tensor:
    """(B, C, H, W) -> (B, H, W, C) in that memory order; other shapes stay."""
    return x.permute(0, 2, 3, 1).contiguous() if x.dim() == 4 else x


ROWS = 1 << 26  # bytes of per-example gradients at once; working on them takes some more


@final
class PerExample(Engine):
    """vmap(grad) over any module whose examples do not mix."""

    transforms = True

    def __init__(self, module: nn.Module, why: str, views: int = 1) -> None:
        # Torch.func keeps a stack that threads must not share.
        super().__init__(module, Cores(1), views)
        self.name = f"vmap: {why}"
        self.chunk = max(1, min(64, views * (ROWS // self.parameters.nbytes)))
        self._sizes = group_sizes(module)
        self.norm_error = relative_error(max(map(operations, self._sizes)))

    def _loss(self, weights: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        """The loss of one example (...), or the mean over its views (K, ...), of label y ()."""
        views = x[None] if self.views == 1 else x
        logits = functional_call(self.module, weights, (views,))
        return F.cross_entropy(logits, y.expand(self.views))

    def _logits(self, x: Tensor) -> Tensor:
        self.module.eval()
        try:
            return self.module(x)
        finally:
            self.module.train()

    def _add(
        self, x: Tensor, y: Tensor, treatment: Treatment, sums: list[Tensor], beta: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        # A kept function would hold the engine that holds it, and the memory of both.
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
            layers.add_to(total, part, beta)
        return losses, squares, factors

    def _squares(self, rows: Tensor, inverse: list[Tensor] | None) -> Tensor:
        """The squared norm of each group of each row: (groups, B)."""
        parts = rows.split(self._sizes, 1)
        if inverse is None:
            return torch.stack(list(map(squared_norms, parts)))
        weights = torch.cat([part.flatten() for part in inverse]).split(self._sizes)
        return torch.stack(list(map(squared_norms, parts, weights)))


# Mixes the examples of a batch, so per-example gradients do not exist.
BATCH_NORM = (nn.modules.batchnorm._BatchNorm,)


def engine_of(
    module: nn.Module, cores: Cores, *, transforms: bool = False, views: int = 1
) -> Engine:
    """The fastest engine that is exact for the module; `transforms` asks for one that takes
    transforms.

    With K > 1 views it averages the gradients of each example's views before it clips.
    Errors: ValueError for views below 1, for BatchNorm, for layers that keep running statistics,
    for embeddings with max_norm or scale_grad_by_freq, and for parameters that are not trained.
    """
    check.whole(1, views=views)
    for child in module.modules():
        if isinstance(child, BATCH_NORM):
            raise ValueError(
                f"Expected no {type(child).__name__}: it mixes the examples of a batch; use"
                " GroupNorm."
            )
        if getattr(child, "track_running_stats", False):
            raise ValueError(
                f"Expected no {type(child).__name__} with running statistics: noise does not cover"
                " them."
            )
        if isinstance(child, nn.Embedding) and (
            child.max_norm is not None or child.scale_grad_by_freq
        ):
            raise ValueError(
                "Expected no Embedding with max_norm or scale_grad_by_freq: noise covers neither."
            )
    for weight in module.parameters():
        if not weight.requires_grad:
            raise ValueError(
                "Expected every parameter to be trained: put frozen layers in front of the module."
            )
    why = unknown(module, views)
    if transforms:
        why = why or "every example's gradient is transformed"
    if why:
        return PerExample(module, why, views)
    return BookKeeping(module, cores, views)  # type: ignore[arg-type]


def unknown(module: nn.Module, views: int = 1) -> str:
    """The reason why the book-keeping engine does not take the module, as a phrase; empty if it
    does.
    """
    if not isinstance(module, nn.Sequential):
        return f"{type(module).__name__} is not a Sequential"
    for child in module:
        if type(child) not in KNOWN:
            return f"no book-keeping for {type(child).__name__}"
        if views > 1 and type(child) not in AVERAGED and list(child.parameters()):
            return f"no average over views for {type(child).__name__}"
        if isinstance(child, nn.Conv2d):
            usual = child.padding_mode == "zeros" and not isinstance(child.padding, str)
            if not usual or child.groups != 1 or tuple(child.dilation) != (1, 1):
                return "no book-keeping for a grouped, dilated or unusually padded Conv2d"
        if isinstance(child, nn.MaxPool2d) and (
            child.ceil_mode or child.dilation not in (1, (1, 1))
        ):
            return "no book-keeping for a dilated or ceil_mode MaxPool2d"
        if isinstance(child, nn.Embedding) and (
            child.padding_idx is not None or child is not module[0]
        ):
            return "no book-keeping for an Embedding with padding_idx or behind another layer"
        if isinstance(child, nn.Flatten) and (child.start_dim, child.end_dim) != (1, -1):
            return "no book-keeping for a partial Flatten"
    weights = [weight for child in module for weight in child.parameters()]
    return "" if len(weights) == len(set(map(id, weights))) else "layers share parameters"
