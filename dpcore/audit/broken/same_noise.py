"""A trainer whose generator of noise gets the same seed before every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.audit.broken.base import Trainer
from dpcore.audit.parts import Around, put_in

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


class Reseeded(Around):
    """A source of noise that begins anew with every draw."""

    def __init__(self, noise: Any) -> None:
        super().__init__(noise)
        self._first = noise.states()

    def add(self, piece: int, target: Any, std: Any, scale: Any = None) -> None:
        """Add the noise of the first step again."""
        self._part.words[piece].restore(self._first[piece])
        self._part.add(piece, target, std, scale)


def _alter(run: TrainingRun) -> None:
    put_in(run, noise=Reseeded(run.noise))


SAME_NOISE = Trainer(
    name="same_noise",
    title="The same noise in every step",
    story="The generator is seeded inside the step, so that each step draws what the first one drew; it cancels.",
    fails="fresh_noise",
    alter=_alter,
)
