"""A trainer that takes the noise of the mean for that of the sum, and divides by the batch again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.audit.broken.base import Trainer
from dpcore.audit.broken.half_noise import Quieter
from dpcore.audit.parts import put_in

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


def _alter(run: TrainingRun) -> None:
    put_in(run, noise=Quieter(run.noise, 1 / run.config.batch))


NOISE_DIVIDED_TWICE = Trainer(
    name="noise_divided_twice",
    title="Noise divided twice",
    story="Noise that is right for the mean, sigma C / B, is added to the sum, which is then divided by B as well.",
    fails="noise",
    alter=_alter,
)
