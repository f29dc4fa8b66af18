"""Clipped sums of per-example gradients: by book-keeping where every layer is known, by vmap(grad) elsewhere."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional as F

from dpcore.training import layers
from dpcore.training.clipping import Clipping
from dpcore.training.cores import Cores

CHUNK = 320  # examples a core works on at once
CHUNK_CONV = 128  # where patches are unfolded, which take much more memory than what else a layer keeps
CHUNK_ELSEWHERE = 4096  # a GPU has no such cache, and wants large pieces
FEWEST = 64  # examples that are worth waking a core for
ROWS = 1 << 26  # bytes of per-example gradients that the vmap path forms at once; what is done to them takes some more
BATCH_NORM = (nn.modules.batchnorm._BatchNorm,)  # mixes the examples of a batch: no per-example gradient exists


Transform = Callable[[Tensor], Tensor]  # per-example gradients (B, d) -> (B, d), row by row


class ClippedSum(NamedTuple):
    """What one batch gives."""

    shares: Tensor  # (cores, d) sums of factor * gradient over each core's share, overwritten by the next call
    losses: Tensor  # (B,)
    norms: Tensor  # (B,) norms before clipping, of what is clipped
    clipped: Tensor  # (B,) whether any factor is below 1

    @property
    def total(self) -> Tensor:
        """The sum over the batch (d,)."""
        return self.shares[0] if len(self.shares) == 1 else self.shares.sum(0)


class Treatment(NamedTuple):
    """What is done to the gradient of each example."""

    clipping: Clipping
    inverse: list[Tensor] | None  # 1 / D^2 shaped as the parameters
    transform: Transform | None
    padding: Tensor | None  # (B,) which rows only fill the batch up

    def factors(self, squares: Tensor) -> Tensor:
        """What each group's gradient is multiplied by: squared norms (groups, B) -> (groups, B)."""
        factors = self.clipping.factors(squares)
        return factors if self.padding is None else factors.masked_fill(self.padding, 0.0)


class Engine(ABC):
    """A module whose parameters lie in one vector, and the clipped sums of its per-example gradients."""

    name: str  # of the method, and why where it is the slow one
    chunk: int

    def __init__(self, module: nn.Module, cores: Cores) -> None:
        weights = list(module.parameters())
        names = [name for name, _ in module.named_parameters()]
        self.module = module
        self.parameters = torch.cat([weight.detach().flatten() for weight in weights])  # (d,)
        self.groups = len(list(groupby(names, key=owner)))  # layers with parameters
        self._shapes = [weight.shape for weight in weights]
        for weight, view in zip(weights, views(self.parameters, self._shapes), strict=True):
            weight.data = view
        module.requires_grad_(False)
        self._cores = cores
        self._totals = self.parameters.new_empty(cores.count, len(self.parameters))  # (cores, d)
        self._sums = [views(total, self._shapes) for total in self._totals]

    def clipped_sum(
        self,
        x: Tensor,
        y: Tensor,
        clipping: Clipping,
        inverse: Tensor | None = None,
        transform: Transform | None = None,
        padding: Tensor | None = None,
    ) -> ClippedSum:
        """The sum over the batch of factor * gradient, for images x (B, 1, 28, 28) and labels y (B,).

        `inverse` is 1 / D^2 for a public diagonal D (d,): the factors are those of u = gradient / D. The sum is that of
        factor * gradient = D * factor * u: divided by D it has the clipping's sensitivity, so noise on it takes D too.
        `transform`, which only the vmap path can apply, puts functions of the gradients in their place.
        Rows where `padding` (B,) is true add nothing: what is found of them means nothing.
        Edge cases: an empty batch gives zeros; flat clipping to inf gives the plain sum.
        """
        assert transform is None or isinstance(self, PerExample), f"{self.name} forms no gradients to transform"
        treatment = Treatment(clipping, None if inverse is None else views(inverse, self._shapes), transform, padding)
        losses, norms = x.new_empty(len(x)), x.new_empty(len(x))
        clipped = torch.empty(len(x), dtype=torch.bool, device=x.device)
        busy, parts = self._parts(len(x))

        def add_share(core: int) -> None:
            for i, part in enumerate(parts[core::busy]):  # the first one overwrites what the last step left
                own = treatment if padding is None else treatment._replace(padding=padding[part])
                losses[part], squares, factors = self._add(x[part], y[part], own, self._sums[core], min(i, 1))
                norms[part] = squares.sum(0).sqrt_()
                clipped[part] = (factors < 1).any(0)

        self._cores.map(add_share, range(busy))
        shares = self._totals[:busy] if busy else self._totals[:1].zero_()
        return ClippedSum(shares, losses, norms, clipped)

    def logits(self, x: Tensor) -> Tensor:
        """The network's outputs (B, classes)."""
        return torch.cat(self._cores.map(lambda part: self._logits(x[part]), self._parts(len(x))[1]))

    def _parts(self, size: int) -> tuple[int, list[slice]]:
        """How many cores a batch keeps busy, and its parts: equal, as many for each core, none above the chunk."""
        busy = min(self._cores.count, -(-size // FEWEST))
        count = busy * -(-size // (busy * self.chunk)) if busy else 0
        return busy, [slice(size * i // count, size * (i + 1) // count) for i in range(count)]

    @abstractmethod
    def _add(
        self, x: Tensor, y: Tensor, treatment: Treatment, sums: list[Tensor], beta: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """sums <- beta sums + clipped gradients, shaped as the parameters.

        Gives losses (B,), squared norms (groups, B) and factors (groups, B).
        """

    @abstractmethod
    def _logits(self, x: Tensor) -> Tensor:
        """The outputs for a part of a batch."""


@final
class BookKeeping(Engine):
    """One forward and one backward pass through known layers."""

    name = "book-keeping"

    def __init__(self, module: nn.Sequential, cores: Cores) -> None:
        super().__init__(module, cores)
        unfolds = any(isinstance(child, nn.Conv2d) for child in module)
        self.chunk = CHUNK_ELSEWHERE if not self.parameters.is_cpu else CHUNK_CONV if unfolds else CHUNK
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

    def _add(
        self, x: Tensor, y: Tensor, treatment: Treatment, sums: list[Tensor], beta: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        x = channels_last(x)
        kept = []
        for layer in self._layers:
            x, keep = layer.forward(x)
            kept.append(keep)
        losses, g = cross_entropy(x, y)
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


@final
class PerExample(Engine):
    """vmap(grad) over any module whose examples do not mix."""

    def __init__(self, module: nn.Module, why: str) -> None:
        super().__init__(module, Cores(1))  # torch.func keeps a stack that threads must not share
        self.name = f"vmap: {why}"
        self.chunk = max(1, min(64, ROWS // self.parameters.nbytes))
        self._gradients = vmap(grad_and_value(self._loss), in_dims=(None, 0, 0), randomness="different")
        owners = [owner(name) for name, _ in module.named_parameters()]
        sizes = [weight.numel() for weight in module.parameters()]
        pairs = groupby(zip(owners, sizes, strict=True), key=lambda pair: pair[0])
        self._sizes = [sum(size for _, size in group) for _, group in pairs]  # of each group

    def _loss(self, weights: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(functional_call(self.module, weights, (x[None],)), y[None])

    def _logits(self, x: Tensor) -> Tensor:
        return self.module(x)

    def _add(
        self, x: Tensor, y: Tensor, treatment: Treatment, sums: list[Tensor], beta: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        by_name, losses = self._gradients(dict(self.module.named_parameters()), x, y)
        rows = torch.cat([gradient.flatten(1) for gradient in by_name.values()], 1)  # (B, d)
        del by_name
        if treatment.transform:
            rows = treatment.transform(rows)
        squares = self._squares(rows, treatment.inverse)
        factors = treatment.factors(squares)
        parts = zip(factors, rows.split(self._sizes, 1), strict=True)
        share = torch.cat([factor @ part for factor, part in parts])
        for total, part in zip(sums, views(share, self._shapes), strict=True):
            total.copy_(total + part if beta else part)
        return losses, squares, factors

    def _squares(self, rows: Tensor, inverse: list[Tensor] | None) -> Tensor:
        """The squared norm of each group of each row: (groups, B)."""
        parts = rows.split(self._sizes, 1)
        if inverse is None:
            return torch.stack([layers.squared_norms(part) for part in parts])
        weights = torch.cat([part.flatten() for part in inverse]).split(self._sizes)
        return torch.stack([layers.squared_norms(part, weight) for part, weight in zip(parts, weights, strict=True)])


KNOWN = {
    nn.Linear: layers.Linear,
    nn.Conv2d: layers.Conv2d,
    nn.Tanh: lambda module: layers.Tanh(),
    nn.ReLU: lambda module: layers.ReLU(),
    nn.MaxPool2d: layers.MaxPool2d,
    nn.Flatten: lambda module: layers.Flatten(),
}


def engine_of(module: nn.Module, cores: Cores, *, transforms: bool = False) -> Engine:
    """The fastest engine that is exact for the module, and takes transforms if it must.

    Errors: ValueError for BatchNorm, which mixes examples.
    """
    for child in module.modules():
        if isinstance(child, BATCH_NORM):
            raise ValueError(f"Expected no {type(child).__name__}: it mixes the examples of a batch; use GroupNorm.")
    why = unknown(module) or ("every example's gradient is transformed" if transforms else "")
    return PerExample(module, why) if why else BookKeeping(module, cores)  # type: ignore[arg-type]


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


def views(vector: Tensor, shapes: Sequence[torch.Size]) -> list[Tensor]:
    """The vector (d,) cut into views of these shapes."""
    parts = vector.split([shape.numel() for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def owner(name: str) -> str:
    """The layer that a parameter belongs to.

    >>> owner("3.weight")
    '3'
    """
    return name.rpartition(".")[0]
