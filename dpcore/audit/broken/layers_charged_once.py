"""A trainer that clips each layer to C and charges as if the whole gradient had been."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpcore.audit.broken.base import Trainer
from dpcore.audit.parts import Around, put_in
from dpcore.training.config import RunConfig
from dpcore.training.gradients.clipping import Clipping, PerLayer

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


class LayerByLayer(Around):
    """An engine that clips each layer on its own, whatever it is told."""

    def clipped_sum(self, x: Any, y: Any, clipping: Clipping, *others: Any) -> Any:
        """The sum of gradients whose layers are clipped to C one by one."""
        return self._part.clipped_sum(x, y, PerLayer(clipping.clip_norm), *others)


def _alter(run: TrainingRun) -> None:
    put_in(run, engine=LayerByLayer(run.engine))


def _trains(config: RunConfig) -> RunConfig:
    return replace(config, clipping="flat")  # which is what is charged


LAYERS_CHARGED_ONCE = Trainer(
    name="layers_charged_once",
    title="Layers clipped one by one, charged once",
    story="Each of k layers is clipped to C, so one example moves the sum by up to C sqrt k; C is charged.",
    fails="clipping",
    alter=_alter,
    trains=_trains,
)
