"""Where a run stands between two steps, so that a step can be taken again from there."""

from typing import NamedTuple

from torch import Tensor

from dpcore.training.optimizers.base import State
from dpcore.training.training_run import TrainingRun


class Moment(NamedTuple):
    """All that the next private step follows from, but for its batch."""

    parameters: Tensor
    state: State
    noise: list[Tensor]


def moment_of(run: TrainingRun) -> Moment:
    """Where the run stands."""
    return Moment(run.engine.parameters.clone(), run.descent.snapshot(), run.noise.states())


def go_back(run: TrainingRun, moment: Moment) -> None:
    """Let the run stand there again."""
    run.engine.parameters.copy_(moment.parameters)
    run.descent.restore(moment.state)
    run.noise.restore(moment.noise)
