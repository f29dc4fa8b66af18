"""A trainer that does not clip."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dpcore.audit.broken.base import Trainer
from dpcore.audit.parts import Around, put_in
from dpcore.training.gradients.clipping import Clipping, Flat

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


class Unclipped(Around):
    """An engine that sums gradients as long as they are."""

    def clipped_sum(self, x: Any, y: Any, clipping: Clipping, *others: Any) -> Any:
        """The plain sum."""
        return self._part.clipped_sum(x, y, Flat(math.inf), *others)


def _alter(run: TrainingRun) -> None:
    put_in(run, engine=Unclipped(run.engine))


NO_CLIPPING = Trainer(
    name="no_clipping",
    title="No clipping",
    story="Noise is drawn for gradients of norm C at most, but nothing holds them to it.",
    fails="clipping",
    alter=_alter,
)
