"""Wrappers before the parts of a run, by which a trainer is watched or broken without its knowing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


class Wrapper:
    """A wrapper before a part of a run: what it does not do itself is done by the part."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)


def replace_parts(run: TrainingRun, *, engine: Any = None, noise: Any = None) -> None:
    """Let the run take its steps with another engine or source of noise; the optimizer goes on where it was."""
    from dpcore.training.dp_step import Descent  # late: what names the trainers must not load torch

    run.engine, run.noise, before = engine or run.engine, noise or run.noise, run.descent
    run.descent = Descent(run.config, run.engine, run.noise, run.cores)
    run.descent.optimizer = before.optimizer
    run.descent.restore(before.state)
