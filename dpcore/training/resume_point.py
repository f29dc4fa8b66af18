"""The resume point of an interrupted run, and the origin that a worker must share to continue it;
free of torch.
"""

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
    """The last reported steps of a run.

    No event is reported twice, since a reader may have seen it.

    The steps after the last checkpoint are taken again with equal batches and noise, so that
    nothing is released twice.
    """

    reported: int = 0  # the step of the last report
    tested: int = 0  # the step of the last evaluation
    # Machine and versions, which decide the noise.
    origin: Mapping[str, str] = field(default_factory=dict)


def resume_point_of(events: Iterable[Any], origin: Mapping[str, str] | None) -> ResumePoint | None:
    """The resume point of a run with these events; None if it has not started."""
    reported = tested = 0
    started = False
    for event in events:
        if isinstance(event, Started):
            started = True
        if isinstance(event, Stepped):
            reported = event.step
        if isinstance(event, Evaluated):
            tested = event.step
    if not started:
        return None
    return ResumePoint(reported, tested, origin or {})


def origin_of(run: TrainingRun) -> dict[str, str]:
    """Versions, the machine, and the fingerprint of the data; nothing of it is a secret.

    On a CPU, runs of one origin with one fixed seed and equal settings have bit for bit the same
    parameters.
    """
    versions = {
        "dpcore": __version__,
        "python": platform.python_version(),
        "numpy": str(np.__version__),
    }
    return {**versions, **run.machine, "data": run.fingerprint}


def check_origin(run: TrainingRun, resume_point: ResumePoint, done: int) -> None:
    """Raise ValueError if a continued run would report other numbers than before, or use its noise
    on other data.

    After a checkpoint of `done` steps the machine was checked already, and an older version did not
    note everything.
    """
    there = resume_point.origin
    way = "Start a new run"
    if not done:
        way += ", or resume this one, which charges its released steps again"
    for name, value in origin_of(run).items():
        was = there.get(name, value if done else "unknown")
        if value != was:
            raise ValueError(f"Expected {name}={value} to be {was}, as where the run began. {way}.")
