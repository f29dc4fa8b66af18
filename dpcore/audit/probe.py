"""Observation of a run's steps, and probes of the influence of single examples on releases.

The observer stands where the trainer hands data on. A probe takes a step again, from the same state
and with the same noise, without one example of its batch; README.md explains it.
"""

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from dpcore.audit.broken_trainers import Wrapper, replace_parts
from dpcore.training.gradients.clipped_sum import ClippedSum, Transform, group_sizes
from dpcore.training.gradients.clipping import Clipping
from dpcore.training.optimizers.base import State
from dpcore.training.training_run import Snapshot, TrainingRun


class SeenStep(NamedTuple):
    x: Tensor  # (b, ...) the engine's examples
    y: Tensor  # (b,)
    norms: Tensor  # of the gradients, before clipping
    clipped: Tensor  # (d,) the engine's sum
    means: Tensor  # (d,) the optimizer's input
    released: Tensor  # (d,) the same times the expected batch: the noisy sum that is charged
    scale: Tensor  # (d,) D, which multiplied sum and noise


class WatchedEngine(Wrapper):
    """An engine that keeps its last sum and batch."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.x = self.y = self.norms = self.total = engine.parameters.new_empty(0)
        self._given = torch.empty_like(engine.parameters)[None]  # (1, d)

    def clipped_sum(self, x: Tensor, y: Tensor, clipping: Clipping, *others: Any) -> ClippedSum:
        """Return the engine's sum in separate memory, as the step changes it in place."""
        found = self._part.clipped_sum(x, y, clipping, *others)
        self.x = x
        self.y = y
        self.norms = found.norms
        self.total = self._given[0].copy_(found.total).clone()
        return found._replace(shares=self._given)


class WatchedRows:
    """A run's examples, or their labels: notes the rows drawn, and returns the rows that are in the
    data.
    """

    def __init__(self, rows: Tensor, present: Tensor) -> None:
        self._rows = rows
        self._present = present
        self.drawn = torch.empty(0, dtype=torch.int64)

    def __getitem__(self, at: Tensor) -> Tensor:
        self.drawn = at
        return self._rows[at[self._present[at]]]


class Observer:
    """Watches a run from before its first step, after all replacements of its parts.

    It sees the optimizer's input piece by piece, and replaces it by `forced` if that is set: so the
    audit finds what a step leaves behind beside its release.
    """

    def __init__(self, run: TrainingRun, present: Tensor) -> None:
        self._run = run
        self._engine = WatchedEngine(run.engine)
        replace_parts(run, engine=self._engine)
        self._absorb = run.descent.optimizer.absorb
        run.descent.optimizer = run.descent.optimizer._replace(absorb=self._absorbed)
        self._means = torch.zeros_like(run.engine.parameters)
        x, y = run.train
        self._rows = WatchedRows(x, present)
        run.train = (self._rows, WatchedRows(y, present))  # type: ignore[assignment]
        self.forced: Tensor | None = None
        self.releases = 0  # inputs that the trainer gave the optimizer
        self._given = 0  # the same, with those of the audit's probes

    def _absorbed(self, gradient: Tensor, state: State) -> None:
        start = int(gradient.storage_offset())  # a piece lies in the memory of the whole sum
        piece = slice(start, start + len(gradient))
        if self.forced is not None:
            gradient.copy_(self.forced[piece])
        self._means[piece] = gradient
        self._given += int(start == 0)
        self._absorb(gradient, state)

    def take(self, step: int) -> SeenStep:
        """Let the trainer take a step, and return what was observed."""
        scale = scale_of(self._run)
        before = self._given
        with self._run.cores.working():
            self._run.step(step)
        self.releases += self._given - before
        return self._seen(scale)

    def again(self, x: Tensor, y: Tensor, sigma: float, lr: float) -> SeenStep:
        """Let the trainer take a step from its present state, on a batch of the audit's choice."""
        scale = scale_of(self._run)
        with self._run.cores.working():
            self._run.descent.take(x, y, sigma, lr)
        return self._seen(scale)

    def _seen(self, scale: Tensor | None) -> SeenStep:
        engine = self._engine
        means = self._means.clone()
        if scale is None:
            scale = torch.ones_like(means)
        released = means * self._run.config.batch
        return SeenStep(engine.x, engine.y, engine.norms, engine.total, means, released, scale)

    @property
    def drawn(self) -> NDArray[np.int64]:
        """The positions of the last batch, with canaries that are out."""
        return self._rows.drawn.cpu().numpy()


def scale_of(run: TrainingRun) -> Tensor | None:
    """Return D of the next step (d,), which is public; None for ones."""
    rules = run.descent.optimizer
    state = run.descent.state
    if run.config.private and rules.scale and state.count >= rules.wait:
        return rules.scale(state)
    return None


class OwnGradients:
    """Clipped gradients of a copy of the network, at any parameters."""

    def __init__(self, module: nn.Module, clipping: Clipping) -> None:
        self._module = copy.deepcopy(module).requires_grad_(True)
        self._clipping = clipping
        self._sizes = group_sizes(self._module)

    def of(
        self,
        parameters: Tensor,
        x: Tensor,
        y: Tensor,
        scale: Tensor,
        transform: Transform | None,
    ) -> Iterator[Tensor]:
        """Yield each example's clipped gradient divided by D (d,), in float64."""
        nn.utils.vector_to_parameters(parameters.clone(), self._module.parameters())
        for i in range(len(x)):
            row = self._gradient(x[i : i + 1], y[i : i + 1])
            if transform:
                row = transform(row[None])[0]
            yield self._clipped(row.double() / scale)

    def _gradient(self, x: Tensor, y: Tensor) -> Tensor:
        parameters = [*self._module.parameters()]
        loss = F.cross_entropy(self._module(x), y)
        parts = torch.autograd.grad(loss, parameters, materialize_grads=True)
        return torch.cat([part.flatten() for part in parts])

    def _clipped(self, row: Tensor) -> Tensor:
        parts = row.split(self._sizes)
        squares = torch.stack([part.square().sum() for part in parts])[:, None]  # (groups, 1)
        factors = self._clipping.factors(squares)[:, 0]
        return torch.cat([part * factor for part, factor in zip(parts, factors, strict=True)])


ROWS = 8  # examples of a batch that are compared, the longest gradients first
NEIGHBOURS = 2  # examples of these that are left out of the batch, one by one
# Of a release, at most: with its noise, over the batch, and times it.
ROUNDING = 2 * torch.finfo(torch.float32).eps


class Look(NamedTuple):
    """The numbers of a probed step, in units of C."""

    alone: float  # the longest part of one example in the sum
    # The longest move of the release by leaving an example out, less what rounding can add.
    moved: float
    remembered: float  # the longest move of a release by an example outside its batch
    differs: float  # the largest distance of the engine's part of an example from the audit's own


class NeighbourProbe:
    """Takes steps of a run again on neighbouring batches."""

    def __init__(self, run: TrainingRun, observer: Observer, classes: int) -> None:
        self._run = run
        self._observer = observer
        self._classes = classes
        self._own = OwnGradients(run.engine.module, run.descent.clipping)
        self._clip_norm = run.config.clip_norm

    def measure(self, step: int, before: Snapshot, seen: SeenStep) -> Look | None:
        """Probe the step taken from `before`, then restore the run's state.

        Return None for a batch without examples and for numbers that are not finite.
        """
        rows = self._longest(seen)
        if not len(rows):
            return None
        run = self._run
        after = run.snapshot()
        sigma = float(run.sigmas[step - 1])
        lr = run.learning_rate.at(step)
        try:
            alone, differs = self._parts(before, seen, rows)
            pairs = [self._pair(before, seen, int(row), sigma, lr) for row in rows[:NEIGHBOURS]]
        finally:
            self._observer.forced = None
            run.restore(after)
        moved, remembered = np.max(pairs, axis=0).tolist()
        look = Look(alone, moved, remembered, differs)
        return look if np.isfinite(look).all() else None

    def _longest(self, seen: SeenStep) -> Tensor:
        """Return the rows of the batch with the longest gradients, without canaries."""
        examples = torch.nonzero(seen.y < self._classes).flatten()
        return examples[seen.norms.argsort(descending=True)[:ROWS]]

    def _parts(self, before: Snapshot, seen: SeenStep, rows: Tensor) -> tuple[float, float]:
        """Return the largest length of the engine's parts of examples, and the largest distance
        from the audit's.
        """
        self._run.restore(before)
        descent = self._run.descent
        scale = scale_of(self._run)
        inverse = None if scale is None else scale.pow(-2)
        transform = descent.optimizer.transform
        if transform:
            transform = transform(descent.state)
        rules = (descent.clipping, inverse, transform)
        x = seen.x[rows]
        y = seen.y[rows]
        lengths = []
        gaps = []
        for i, own in enumerate(self._own.of(before.parameters, x, y, seen.scale, transform)):
            with self._run.cores.working():
                found = self._run.engine.clipped_sum(x[i : i + 1], y[i : i + 1], *rules)
            part = found.total.double() / seen.scale
            lengths.append(part.norm().item())
            gaps.append((part - own).norm().item())
        return max(lengths) / self._clip_norm, max(gaps) / self._clip_norm

    def _pair(
        self, before: Snapshot, seen: SeenStep, row: int, sigma: float, lr: float
    ) -> tuple[float, float]:
        """Return the moves by one example of the release of its batch, and of the next release,
        without it.
        """
        again = self._observer.again
        kept = torch.arange(len(seen.x), device=seen.x.device) != row
        whole = (seen.x, seen.y, sigma, lr)
        others = (seen.x[kept], seen.y[kept], sigma, lr)
        self._run.restore(before)
        without = again(*others)
        size = _length(without.released, seen.scale) + _length(seen.released, seen.scale)
        moved = max(self._apart(without, seen) - ROUNDING * size / self._clip_norm, 0.0)
        later = []
        for batch in (whole, others):
            self._run.restore(before)
            self._observer.forced = seen.means
            again(*batch)
            self._observer.forced = None
            later.append(again(*others))
        return moved, self._apart(*later)

    def _apart(self, one: SeenStep, other: SeenStep) -> float:
        gap = one.released.double() - other.released.double()
        return _length(gap, other.scale) / self._clip_norm


def _length(vector: Tensor, scale: Tensor) -> float:
    """Return the length of a vector (d,) divided by D."""
    return (vector.double() / scale).norm().item()
