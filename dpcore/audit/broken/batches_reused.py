"""A trainer that draws the batches of one epoch and goes through them again in every other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpcore.audit.broken.base import Trainer
from dpcore.audit.parts import Around
from dpcore.training.config import RunConfig

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.training_run import TrainingRun

FEWEST = 3.0  # epochs


class Replayed(Around):
    """Random words that begin anew after so many draws."""

    def __init__(self, words: Any, period: int) -> None:
        super().__init__(words)
        self._period, self._drawn, self._first = period, 0, words.state()

    def draw(self, count: int) -> Tensor:
        """The next words, or those of the first epoch again."""
        if self._drawn % self._period == 0:
            self._part.restore(self._first)
        self._drawn += 1
        return self._part.draw(count)


def _alter(run: TrainingRun) -> None:
    run.batches = Replayed(run.batches, max(1, round(1 / run.config.q)))  # type: ignore[assignment]


def _trains(config: RunConfig) -> RunConfig:
    return replace(config, epochs=max(config.epochs, FEWEST))  # a first epoch is as it should be


BATCHES_REUSED = Trainer(
    name="batches_reused",
    title="Batches reused every epoch",
    story="A list of batches is made once, for speed, and each epoch goes through it: nothing is sampled anew.",
    fails="sampler",
    alter=_alter,
    trains=_trains,
)
