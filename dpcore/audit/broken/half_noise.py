"""A trainer that draws half of the noise that it claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.audit.broken.base import Trainer
from dpcore.audit.parts import Around, put_in

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


class Quieter(Around):
    """A source of noise whose standard deviation is a part of what was asked for."""

    def __init__(self, noise: Any, part: float) -> None:
        super().__init__(noise)
        self._share = part

    def add(self, piece: int, target: Any, std: Any, scale: Any = None) -> None:
        """Add noise of a part of the standard deviation."""
        self._part.add(piece, target, std * self._share, scale)


def _alter(run: TrainingRun) -> None:
    put_in(run, noise=Quieter(run.noise, 0.5))


HALF_NOISE = Trainer(
    name="half_noise",
    title="Half the noise",
    story="A factor of two was lost between two conventions of sensitivity: sigma C / 2 is drawn for sigma C.",
    fails="noise",
    alter=_alter,
)
