"""A trainer that draws no noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.audit.broken.base import Trainer
from dpcore.audit.parts import Around, put_in

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


class Silence(Around):
    """A source of noise that adds none."""

    def add(self, piece: int, target: Any, std: Any, scale: Any = None) -> None:
        """Leave the target as it is."""


def _alter(run: TrainingRun) -> None:
    put_in(run, noise=Silence(run.noise))


NO_NOISE = Trainer(
    name="no_noise",
    title="No noise",
    story="The call that adds the noise was left out, and training went well: better than before.",
    fails="noise",
    alter=_alter,
)
