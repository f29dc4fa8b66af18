"""Resume point of an interrupted run, and the origin that a worker must share to go on with it; free of torch."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore import __version__
from dpcore.training.events import Evaluated, Started, Stepped

if TYPE_CHECKING:
    from dpcore.training.training_run import TrainingRun


@dataclass(frozen=True)
class ResumePoint:
    """How far a run had come. No event is reported twice: a reader may have seen it, and no other may replace it.

    The steps after the last checkpoint are taken again with the same batches and the same noise, so that nothing is
    released twice.
    """

    reported: int = 0  # the step of the last report
    tested: int = 0  # the step of the last evaluation
    origin: Mapping[str, str] = field(default_factory=dict)  # where it was trained: elsewhere its noise is another

    @property
    def silent_until(self) -> int:
        """No event of a step up to this one is said."""
        return max(self.reported, self.tested)


def resume_point_of(events: Iterable[Any], origin: Mapping[str, str] | None) -> ResumePoint | None:
    """The resume point of a run with these events; None where there are none."""
    reported = tested = 0
    started = False
    for event in events:
        started = started or isinstance(event, Started)
        reported = event.step if isinstance(event, Stepped) else reported
        tested = event.step if isinstance(event, Evaluated) else tested
    return ResumePoint(reported, tested, origin or {}) if started else None


def origin_of(run: TrainingRun) -> dict[str, str]:
    """Versions, the machine as `machine_of` says it, and the fingerprint of the data: nothing of it is a secret.

    On a CPU, runs of one fixed seed and the same settings that agree in all of it have bit for bit the same parameters.
    """
    from dpcore.training.checkpoint import where  # late: it loads torch

    versions = {"dpcore": __version__, "python": platform.python_version(), "numpy": str(np.__version__)}
    return {**versions, **where(run), "data": run.fingerprint}


def check_origin(run: TrainingRun, resume_point: ResumePoint, done: int) -> None:
    """ValueError where going on with a run would say other numbers than were said, or spend its noise on other data.

    Behind a checkpoint, of which `done` steps are known, the machine has been asked already; what a run of an older
    version did not note cannot be asked.
    """
    here, there = origin_of(run), resume_point.origin
    way = (
        "Start a new run" if done else "Resume it, which charges the steps that it has released once more, or start one"
    )
    for name in [name for name in here if name in there or not done]:
        if here[name] != there.get(name):
            was = there.get(name, "unknown")
            raise ValueError(f"Expected {name}={here[name]} to be {was}, as where the run began. {way}.")
