"""Clipped sums of per-example gradients: by book-keeping where every layer is known, by vmap(grad) elsewhere."""

from abc import ABC, abstractmethod
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional as F

from dpcore.training import layers
from dpcore.training.clipping import clip_factors
from dpcore.training.cores import Cores

CHUNK = 320  # examples that a core works on at once: what they need stays in its cache
CHUNK_ELSEWHERE = 4096  # a GPU has no such cache, and wants large pieces
FEWEST = 64  # examples that are worth waking a core for
BATCH_NORM = (nn.modules.batchnorm._BatchNorm,)  # mixes the examples of a batch: no per-example gradient exists


class ClippedSum(NamedTuple):
    """What one batch gives."""

    total: Tensor  # (d,) sum of the clipped gradients, overwritten by the next call
    losses: Tensor  # (B,)
    norms: Tensor  # (B,) gradient norms before clipping


class Engine(ABC):
    """A module whose parameters lie in one vector, and the clipped sums of its per-example gradients."""

    name: str
    chunk: int

    def __init__(self, module: nn.Module, cores: Cores) -> None:
        weights = list(module.parameters())
        self.module = module
        self.parameters = torch.cat([weight.detach().flatten() for weight in weights])  # (d,)
        for weight, view in zip(weights, views(self.parameters, weights), strict=True):
            weight.data = view
        module.requires_grad_(False)
        self._cores = cores
        self._totals = self.parameters.new_empty(cores.count, len(self.parameters))  # (cores, d)
        self._sums = [views(total, weights) for total in self._totals]

    def clipped_sum(self, x: Tensor, y: Tensor, clip_norm: float) -> ClippedSum:
        """The sum over the batch of min(1, C / norm) gradient, for images x (B, 1, 28, 28) and labels y (B,).

        Edge cases: an empty batch gives zeros; clip_norm = inf gives the plain sum.
        """
        losses, norms = x.new_empty(len(x)), x.new_empty(len(x))
        busy, parts = self._parts(len(x))

        def add_share(core: int) -> None:
            for i, part in enumerate(parts[core::busy]):  # the first one overwrites what the last step left
                losses[part], norms[part] = self._add(x[part], y[part], clip_norm, self._sums[core], min(i, 1))

        def add_up(columns: Tensor) -> None:
            for other in columns[1:]:
                columns[0].add_(other)

        self._cores.map(add_share, range(busy))
        self._cores.map(add_up, self._totals[:busy].tensor_split(self._cores.count, 1) if busy > 1 else ())
        total = self._totals[0]
        return ClippedSum(total if busy else total.zero_(), losses, norms)

    def logits(self, x: Tensor) -> Tensor:
        """The network's outputs (B, classes)."""
        return torch.cat(self._cores.map(lambda part: self._logits(x[part]), self._parts(len(x))[1]))

    def _parts(self, size: int) -> tuple[int, list[slice]]:
        """How many cores a batch keeps busy, and its parts: equal, as many for each core, none above the chunk."""
        busy = min(self._cores.count, -(-size // FEWEST))
        count = busy * -(-size // (busy * self.chunk)) if busy else 0
        return busy, [slice(size * i // count, size * (i + 1) // count) for i in range(count)]

    @abstractmethod
    def _add(self, x: Tensor, y: Tensor, clip_norm: float, sums: list[Tensor], beta: int) -> tuple[Tensor, Tensor]:
        """sums <- beta sums + clipped gradients, shaped as the parameters; losses (B,) and norms (B,)."""

    @abstractmethod
    def _logits(self, x: Tensor) -> Tensor:
        """The outputs for a part of a batch."""


@final
class BookKeeping(Engine):
    """One forward and one backward pass through known layers."""

    name = "book-keeping"

    def __init__(self, module: nn.Sequential, cores: Cores) -> None:
        super().__init__(module, cores)
        self.chunk = CHUNK if self.parameters.is_cpu else CHUNK_ELSEWHERE
        self._layers = [KNOWN[type(child)](child) for child in module]
        counts = [len(list(child.parameters())) for child in module]
        ends = [sum(counts[: i + 1]) for i in range(len(counts))]
        self._slots = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
        self._first = next(i for i, count in enumerate(counts) if count)

    def _logits(self, x: Tensor) -> Tensor:
        x = channels_last(x)
        for layer in self._layers:
            x, _ = layer.forward(x)
        return x

    def _add(self, x: Tensor, y: Tensor, clip_norm: float, sums: list[Tensor], beta: int) -> tuple[Tensor, Tensor]:
        x = channels_last(x)
        kept = []
        for layer in self._layers:
            x, keep = layer.forward(x)
            kept.append(keep)
        losses, g = cross_entropy(x, y)
        squares = x.new_zeros(len(x))
        books = []
        for i in reversed(range(self._first, len(self._layers))):
            layer = self._layers[i]
            if isinstance(layer, layers.ParametricLayer):
                square, add_sum = layer.book(kept[i], g)
                squares += square
                books.append((add_sum, sums[self._slots[i]]))
            if i > self._first:
                g = layer.backward(kept[i], g)
        norms = squares.sqrt_()
        factors = clip_factors(norms, clip_norm)
        for add_sum, own in books:
            add_sum(factors, own, beta)
        return losses, norms


@final
class PerExample(Engine):
    """vmap(grad) over any module whose examples do not mix."""

    name = "vmap"
    chunk = 64

    def __init__(self, module: nn.Module) -> None:
        super().__init__(module, Cores(1))  # torch.func keeps a stack that threads must not share
        self._gradients = vmap(grad_and_value(self._loss), in_dims=(None, 0, 0), randomness="different")

    def _loss(self, weights: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(functional_call(self.module, weights, (x[None],)), y[None])

    def _logits(self, x: Tensor) -> Tensor:
        return self.module(x)

    def _add(self, x: Tensor, y: Tensor, clip_norm: float, sums: list[Tensor], beta: int) -> tuple[Tensor, Tensor]:
        by_name, losses = self._gradients(dict(self.module.named_parameters()), x, y)
        rows = [gradient.flatten(1) for gradient in by_name.values()]  # (B, size of the parameter) each
        norms = torch.linalg.vector_norm(torch.cat(rows, 1), dim=1)
        factors = clip_factors(norms, clip_norm)
        for total, part in zip(sums, rows, strict=True):
            share = (factors @ part).view_as(total)
            total.copy_(total + share if beta else share)
        return losses, norms


KNOWN = {
    nn.Linear: layers.Linear,
    nn.Conv2d: layers.Conv2d,
    nn.Tanh: lambda module: layers.Tanh(),
    nn.ReLU: lambda module: layers.ReLU(),
    nn.MaxPool2d: layers.MaxPool2d,
    nn.Flatten: lambda module: layers.Flatten(),
}


def engine_of(module: nn.Module, cores: Cores) -> Engine:
    """The fastest engine that is exact for the module; ValueError for BatchNorm, which mixes examples."""
    for child in module.modules():
        if isinstance(child, BATCH_NORM):
            raise ValueError(f"Expected no {type(child).__name__}: it mixes the examples of a batch; use GroupNorm.")
    return PerExample(module) if unknown(module) else BookKeeping(module, cores)  # type: ignore[arg-type]


def unknown(module: nn.Module) -> str:
    """What keeps the module from the book-keeping engine, as a phrase; empty if nothing does."""
    if not isinstance(module, nn.Sequential):
        return f"{type(module).__name__} is not a Sequential"
    for child in module:
        if type(child) not in KNOWN:
            return f"no book-keeping for {type(child).__name__}"
        if isinstance(child, nn.Conv2d) and not plain(child):
            return "no book-keeping for a grouped, dilated or unusually padded Conv2d"
        if isinstance(child, nn.MaxPool2d) and (child.ceil_mode or layers.pair(child.dilation) != (1, 1)):
            return "no book-keeping for a dilated or ceil_mode MaxPool2d"
        if isinstance(child, nn.Flatten) and (child.start_dim, child.end_dim) != (1, -1):
            return "no book-keeping for a partial Flatten"
    weights = [weight for child in module for weight in child.parameters()]
    return "" if len(weights) == len(set(map(id, weights))) else "layers share parameters"


def plain(conv: nn.Conv2d) -> bool:
    """Whether the convolution is one that the book-keeping layer computes."""
    usual = conv.padding_mode == "zeros" and not isinstance(conv.padding, str)
    return usual and conv.groups == 1 and tuple(conv.dilation) == (1, 1)


def cross_entropy(logits: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Each example's loss (B,), and its gradient at the logits (B, classes)."""
    logarithms = torch.log_softmax(logits, 1)
    g = logarithms.exp()
    rows = torch.arange(len(y), device=y.device)
    g[rows, y] -= 1.0
    return -logarithms[rows, y], g


def channels_last(x: Tensor) -> Tensor:
    """(B, C, H, W) -> (B, H, W, C) in that memory order; other shapes stay."""
    return x.permute(0, 2, 3, 1).contiguous() if x.dim() == 4 else x


def views(vector: Tensor, shapes: list[nn.Parameter]) -> list[Tensor]:
    """The vector (d,) cut into views shaped as the parameters."""
    parts = vector.split([weight.numel() for weight in shapes])
    return [part.view(weight.shape) for part, weight in zip(parts, shapes, strict=True)]
