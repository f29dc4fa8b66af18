"""A closer look at one step: what a single example can do to what is released.

Neighbouring batches are coupled: the same step is taken again from the same state and with the same noise, on the batch
without one of its examples. If a release is f(batch) + noise, as is charged, then the noise cancels, and the two differ
by no more than C. A noise that depends on the batch does not cancel: it shows here too.

Then the step is taken on both batches, and both times the optimizer is given the same release. Whatever it remembers
must then be the same, bit for bit, as what is remembered is a function of releases. The next step, on a batch that the
example is not in, shows what is not.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from dpcore.audit.observed.observer import Observer, Seen, scale_of
from dpcore.audit.observed.own_gradients import OwnGradients
from dpcore.training.training_run import Snapshot, TrainingRun

ROWS = 8  # examples of a batch whose part in the sum is measured, the longest gradients first
NEIGHBOURS = 2  # of these, how many are left out of the batch


class Look(NamedTuple):
    """What was found, in units of C."""

    alone: float  # the longest part of one example in the sum
    moved: float  # how far leaving an example out moved the release, at most
    remembered: float  # how far an example that is not in the batch moved the release, at most
    differs: float  # how far the engine's part of an example is from the audit's own, at most


class Looking:
    """Looks at steps of one run."""

    def __init__(self, run: TrainingRun, observer: Observer, own: OwnGradients, classes: int) -> None:
        self._run, self._observer, self._own, self._classes = run, observer, own, classes
        self._clip_norm = run.config.clip_norm

    def at(self, step: int, before: Snapshot, seen: Seen) -> Look | None:
        """What the step shows that was taken from there. The run is as it was.

        None for a batch without examples, and where training diverges, so that what it shows is no number.
        """
        rows = self._longest(seen)
        if not len(rows):
            return None
        after = self._run.snapshot()
        numbers = float(self._run.sigmas[step - 1]), self._run.learning_rate.at(step)
        try:
            alone, differs = self._parts(before, seen, rows)
            pairs = [self._pair(before, seen, int(row), *numbers) for row in rows[:NEIGHBOURS]]
        finally:
            self._observer.forced = None
            self._run.restore(after)
        moved, remembered = (max(column) for column in zip(*pairs, strict=True))
        found = Look(alone, moved, remembered, differs)
        return found if all(math.isfinite(each) for pair in pairs for each in (*pair, alone, differs)) else None

    def _longest(self, seen: Seen) -> Tensor:
        """The rows of the batch with the longest gradients, canaries left out."""
        examples = torch.nonzero(seen.y < self._classes).flatten()
        return examples[seen.norms.argsort(descending=True)[:ROWS]]

    def _parts(self, before: Snapshot, seen: Seen, rows: Tensor) -> tuple[float, float]:
        """How long the engine's parts of the examples are, and how far from the audit's own, each at most."""
        self._run.restore(before)
        descent, scale = self._run.descent, scale_of(self._run)
        inverse = None if scale is None else scale.pow(-2)
        transform = descent.optimizer.transform(descent.state) if descent.optimizer.transform else None
        x, y = seen.x[rows], seen.y[rows]
        lengths, gaps = [], []
        for i, own in enumerate(self._own.of(before.parameters, x, y, scale, transform)):
            one = slice(i, i + 1)
            with self._run.cores.working():
                found = self._run.engine.clipped_sum(x[one], y[one], descent.clipping, inverse, transform).total
            part = divided(found.double(), scale)
            lengths.append(part.norm().item())
            gaps.append((part - own).norm().item())
        return max(lengths) / self._clip_norm, max(gaps) / self._clip_norm

    def _pair(self, before: Snapshot, seen: Seen, row: int, sigma: float, lr: float) -> tuple[float, float]:
        """How far one example moves the release of its batch, and the next one of a batch that it is not in."""
        run, again = self._run, self._observer.again
        kept = torch.arange(len(seen.x), device=seen.x.device) != row
        others = seen.x[kept], seen.y[kept], sigma, lr
        run.restore(before)
        without = again(*others)
        moved = self._apart(without, seen)
        later = []
        for batch in ((seen.x, seen.y, sigma, lr), others):
            run.restore(before)
            self._observer.forced = seen.means
            again(*batch)
            self._observer.forced = None
            later.append(again(*others))
        return moved, self._apart(*later)

    def _apart(self, one: Seen, other: Seen) -> float:
        gap = one.released.double() - other.released.double()
        return divided(gap, other.scale).norm().item() / self._clip_norm


def divided(vector: Tensor, scale: Tensor | None) -> Tensor:
    """The vector (d,) over D."""
    return vector if scale is None else vector / scale
