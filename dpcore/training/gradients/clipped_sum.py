"""Clipped sums of per-example gradients, a batch cut into parts for the cores and for memory."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from dpcore.training.gradients.clipping import Clipping
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.inputs import PickedRows

MIN_ROWS_OF_CORE = 64  # rows that justify waking a core, one for each view of an example

Result = TypeVar("Result")
Transform = Callable[[Tensor], Tensor]  # per-example gradients (B, d) -> (B, d), row by row


class ClippedSum(NamedTuple):
    """The results for one batch."""

    # (cores, d) sums of factor * gradient over each core's share, overwritten by the next call.
    shares: Tensor
    losses: Tensor  # (B,)
    norms: Tensor  # (B,) norms before clipping, or upper bounds if views may cancel
    clipped: Tensor  # (B,) true if any factor is below 1

    @property
    def total(self) -> Tensor:
        """The sum over the batch (d,)."""
        if len(self.shares) == 1:
            return self.shares[0]
        return self.shares.sum(0)


class Treatment(NamedTuple):
    clipping: Clipping
    inverse: list[Tensor] | None  # 1 / D^2 shaped as the parameters
    transform: Transform | None
    padding: Tensor | None  # (B,) true for rows that only fill up the batch
    norm_error: float  # largest relative error of the squared norms

    def factors(self, squares: Tensor) -> Tensor:
        """The factor of each group's gradient: squared norms (groups, B) -> (groups, B)."""
        # At least the real squared norms.
        factors = self.clipping.factors(squares / (1 - self.norm_error))
        if self.padding is None:
            return factors
        return factors.masked_fill(self.padding, 0.0)


class Engine(ABC):
    """A module whose parameters lie in one vector, and the clipped sums of its per-example
    gradients.
    """

    name: str  # of the method, with a reason if it is the slow one
    chunk: int  # rows at once; an example has one for each view
    norm_error: float  # largest relative error of its squared norms
    transforms = False  # true if it can replace gradients by functions of them

    def __init__(self, module: nn.Module, cores: Cores, views: int = 1) -> None:
        weights = list(module.parameters())
        self.module = module
        self.views = views
        self.parameters = torch.cat([weight.detach().flatten() for weight in weights])  # (d,)
        self._shapes = [weight.shape for weight in weights]
        for weight, view in zip(weights, shaped(self.parameters, self._shapes), strict=True):
            weight.data = view
        module.requires_grad_(False)
        self._cores = cores
        self._totals = self.parameters.new_empty(cores.count, len(self.parameters))  # (cores, d)
        self._sums = [shaped(total, self._shapes) for total in self._totals]

    def clipped_sum(
        self,
        x: Tensor | PickedRows,
        y: Tensor,
        clipping: Clipping,
        inverse: Tensor | None = None,
        transform: Transform | None = None,
        padding: Tensor | None = None,
    ) -> ClippedSum:
        """The sum over the batch of factor * gradient, for examples x (B, ...) and labels y (B,).

        With K > 1 views x is (B, K, ...): the gradient of an example is the mean over its views,
        and that mean is clipped, so the sensitivity is that of one view. float16 becomes float32 a
        part at a time. `inverse` is 1 / D^2 for a public diagonal D (d,), and the factors are those
        of u = gradient / D. The sum is of factor * gradient = D * factor * u: divided by D it has
        the clipping's sensitivity, so its noise is scaled by D. `transform` replaces the gradients
        by functions of them; only the vmap engine can apply it. **Guarantees:** D^-1 times factor *
        gradient is no longer than the clipping's sensitivity, as real numbers: the norms behind the
        factors are raised by the most that rounding can lower them. This does not cover the
        rounding of the sum itself, see the README of this folder. Rows where `padding` (B,) is true
        add nothing, and their results mean nothing. Edge cases: an empty batch gives zeros; flat
        clipping to inf gives the plain sum. Errors: ValueError for x of another number of views,
        RuntimeError for a transform that cannot be applied. Source of the mean over views: De et
        al. 2022, arXiv 2204.13650, "augmentation multiplicity".
        """
        if self.views > 1 and x.shape[1:2] != (self.views,):
            raise ValueError(
                f"Expected x of shape {tuple(x.shape)} to be (B, {self.views}, ...): an example's"
                " views."
            )
        if transform is not None and not self.transforms:
            raise RuntimeError(f"{self.name} forms no gradients to transform")
        scale = None
        if inverse is not None:
            scale = shaped(inverse, self._shapes)
        treatment = Treatment(clipping, scale, transform, padding, self.norm_error)
        return self._fitting(lambda: self._sum(x, y, treatment))

    def _sum(self, x: Tensor | PickedRows, y: Tensor, treatment: Treatment) -> ClippedSum:
        losses, norms = self._totals.new_empty(2, len(x))
        clipped = torch.empty(len(x), dtype=torch.bool, device=losses.device)
        padding = treatment.padding
        busy, parts = self._parts(len(x))

        def add_share(core: int) -> None:
            # The first one overwrites the previous step's sum.
            for i, part in enumerate(parts[core::busy]):
                own = treatment
                if padding is not None:
                    own = treatment._replace(padding=padding[part])
                rows = self._numbers(x[part])
                losses[part], squares, factors = self._add(
                    rows, y[part], own, self._sums[core], min(i, 1)
                )
                norms[part] = squares.sum(0).sqrt_()
                clipped[part] = (factors < 1).any(0)

        self._cores.map(add_share, range(busy))
        shares = self._totals[:busy] if busy else self._totals[:1].zero_()
        return ClippedSum(shares, losses, norms, clipped)

    def logits(self, x: Tensor) -> Tensor:
        """The outputs (B, classes) for examples (B, ...), or the mean over K > 1 views (B, K, ...):
        no privacy cost.
        """

        def outputs(part: slice) -> Tensor:
            rows = self._numbers(x[part])
            if self.views == 1:
                return self._logits(rows)
            return self._logits(rows.flatten(0, 1)).unflatten(0, (-1, self.views)).mean(1)

        return self._fitting(lambda: torch.cat(self._cores.map(outputs, self._parts(len(x))[1])))

    def _numbers(self, x: Tensor) -> Tensor:
        """Convert a part of a batch to the parameters' dtype; ids stay whole numbers."""
        return x.to(self._totals.dtype) if x.is_floating_point() else x

    def _fitting(self, work: Callable[[], Result]) -> Result:
        """Return the work's result; smaller parts are used from now on if a GPU's memory is too
        small.

        The work draws nothing random, so it can be repeated. A recording cannot begin again.
        """
        while True:
            try:
                return work()
            except torch.OutOfMemoryError:
                recorded = self.parameters.is_cuda and torch.cuda.is_current_stream_capturing()
                if self.chunk == 1 or recorded:
                    raise
            self.chunk //= 2  # out here the exception no longer holds the parts that were too large

    def _parts(self, size: int) -> tuple[int, list[slice]]:
        """The number of busy cores, and the parts of a batch: nearly equal, as many for each core,
        at most a chunk.
        """
        if size == 0:
            return 0, []
        busy = min(self._cores.count, -(-size * self.views // MIN_ROWS_OF_CORE), size)
        most = max(1, self.chunk // self.views)
        count = min(size, busy * -(-size // (busy * most)))
        return busy, [slice(size * i // count, size * (i + 1) // count) for i in range(count)]

    @abstractmethod
    def _add(
        self, x: Tensor, y: Tensor, treatment: Treatment, sums: list[Tensor], beta: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Set sums <- beta sums + clipped gradients, shaped as the parameters, for x (B, ...), or
        (B, K, ...) of views.

        Returns losses (B,), squared norms (groups, B) and factors (groups, B).
        """

    @abstractmethod
    def _logits(self, x: Tensor) -> Tensor:
        """The outputs for a part of a batch."""


def shaped(vector: Tensor, shapes: Sequence[torch.Size]) -> list[Tensor]:
    """Cut the vector (d,) into views of these shapes."""
    parts = vector.split([shape.numel() for shape in shapes])
    return list(map(Tensor.view, parts, shapes))


def group_sizes(module: nn.Module) -> list[int]:
    """The number of parameters of each layer that has some.

    >>> group_sizes(nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2, bias=False)))
    [15, 6]
    """
    sizes: dict[str, int] = {}
    for name, weight in module.named_parameters():
        layer = name.rpartition(".")[0]
        sizes[layer] = sizes.get(layer, 0) + weight.numel()
    return list(sizes.values())
