"""What the audit sees of a step, at the places where the trainer hands things on."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore.audit.parts import Around, put_in
from dpcore.training.gradients.clipped_sum import ClippedSum
from dpcore.training.gradients.clipping import Clipping
from dpcore.training.optimizers.base import State
from dpcore.training.rows import Rows
from dpcore.training.training_run import TrainingRun


class Seen(NamedTuple):
    """One step, as it was."""

    x: Tensor  # (b, ...) the examples that the engine was given
    y: Tensor  # (b,)
    norms: Tensor  # of the gradients, before clipping
    clipped: Tensor  # (d,) the engine's sum
    means: Tensor  # (d,) what the optimizer was given
    released: Tensor  # (d,) the same times the expected batch: the noisy sum that is charged for
    scale: Tensor | None  # (d,) D, which sum and noise were multiplied by; None for ones


class WatchedEngine(Around):
    """An engine whose last sum is kept, with the batch that it was taken of."""

    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self.x = self.y = self.norms = self.total = engine.parameters.new_empty(0)
        self._given = torch.empty_like(engine.parameters)[None]  # (1, d)

    def clipped_sum(self, x: Tensor, y: Tensor, clipping: Clipping, *others: Any) -> ClippedSum:
        """The engine's sum, in memory of its own: the step works on it in place."""
        found = self._part.clipped_sum(x, y, clipping, *others)
        self.x, self.y, self.norms = x, y, found.norms
        self.total = self._given[0].copy_(found.total).clone()
        return found._replace(shares=self._given)


class WatchedRows:
    """A run's examples, or their labels: notes which were drawn, and gives those of them that are in the data."""

    def __init__(self, rows: Rows, present: Tensor) -> None:
        self._rows, self._present = rows, present
        self.drawn = torch.empty(0, dtype=torch.int64)

    def __getitem__(self, at: Tensor) -> Tensor:
        self.drawn = at
        return self._rows[at[self._present[at]]]

    def all_of(self, part: slice) -> Tensor:
        """The rows of a part of the data, which nobody has drawn."""
        return self._rows[part]


class Observer:
    """Watches a run that has not begun; every part of it that was to be replaced has been.

    What the optimizer is given is seen where it absorbs it, piece by piece. With `forced` it is given that instead: so
    the audit can ask what a step leaves behind that is no function of its release.
    """

    def __init__(self, run: TrainingRun, present: Tensor) -> None:
        self._run = run
        self._engine = WatchedEngine(run.engine)
        put_in(run, engine=self._engine)
        self._absorb = run.descent.optimizer.absorb
        run.descent.optimizer = run.descent.optimizer._replace(absorb=self._absorbed)
        self._means = torch.zeros_like(run.engine.parameters)
        self.rows = (WatchedRows(run.train[0], present), WatchedRows(run.train[1], present))
        run.train = self.rows  # type: ignore[assignment]
        self.forced: Tensor | None = None
        self.releases = 0  # how often the trainer has given the optimizer something
        self._given = 0  # the same, with what the audit has

    def _absorbed(self, gradient: Tensor, state: State) -> None:
        start = int(gradient.storage_offset())  # of a piece: it lies in the memory of the whole sum
        piece = slice(start, start + len(gradient))
        if self.forced is not None:
            gradient.copy_(self.forced[piece])
        self._means[piece] = gradient
        self._given += int(start == 0)
        self._absorb(gradient, state)

    def take(self, step: int) -> Seen:
        """Let the trainer take a step: what was seen of it."""
        scale, before = scale_of(self._run), self._given
        with self._run.cores.working():
            self._run.step(step)
        self.releases += self._given - before
        return self._seen(scale)

    def again(self, x: Tensor, y: Tensor, sigma: float, lr: float) -> Seen:
        """Let the trainer take a step on a batch of the audit's choice, from where the run stands."""
        scale = scale_of(self._run)
        with self._run.cores.working():
            self._run.descent.take(x, y, sigma, lr)
        return self._seen(scale)

    def _seen(self, scale: Tensor | None) -> Seen:
        engine, means = self._engine, self._means.clone()
        released = means * self._run.config.batch
        return Seen(engine.x, engine.y, engine.norms, engine.total, means, released, scale)

    @property
    def drawn(self) -> NDArray[np.int64]:
        """The positions of the last batch, those of canaries that are out included."""
        return self.rows[0].drawn.cpu().numpy()


def scale_of(run: TrainingRun) -> Tensor | None:
    """D of the next step (d,), which is public; None for ones."""
    rules, state = run.descent.optimizer, run.descent.state
    return rules.scale(state) if run.config.private and rules.scale and state.count >= rules.wait else None
