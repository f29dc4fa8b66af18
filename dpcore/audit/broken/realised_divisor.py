"""A trainer that divides by the batch that was drawn, where the expected batch is charged for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.audit.broken.base import Trainer
from dpcore.audit.parts import Around, put_in
from dpcore.training.gradients.clipping import Clipping

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


class Divided(Around):
    """An engine whose sums come out as if they were divided by the size of the batch; it remembers that size."""

    def __init__(self, engine: Any, batch: int) -> None:
        super().__init__(engine)
        self._batch = batch
        self.factor = 1.0  # expected batch over the size of the last one

    def clipped_sum(self, x: Any, y: Any, clipping: Clipping, *others: Any) -> Any:
        """The sum, times the expected batch over its size."""
        self.factor = self._batch / max(len(x), 1)
        found = self._part.clipped_sum(x, y, clipping, *others)
        found.shares.mul_(self.factor)
        return found


class DividedNoise(Around):
    """The noise on such a sum, which is divided as the sum is."""

    def __init__(self, noise: Any, engine: Divided) -> None:
        super().__init__(noise)
        self._engine = engine

    def add(self, piece: int, target: Any, std: Any, scale: Any = None) -> None:
        """Add noise times the same factor."""
        self._part.add(piece, target, std * self._engine.factor, scale)


def _alter(run: TrainingRun) -> None:
    engine = Divided(run.engine, run.config.batch)
    put_in(run, engine=engine, noise=DividedNoise(run.noise, engine))


REALISED_DIVISOR = Trainer(
    name="realised_divisor",
    title="Divisor of the realised batch",
    story="The noisy sum is divided by how many examples were drawn: sum, noise and so the release tell their number.",
    fails="clipping",
    alter=_alter,
)
