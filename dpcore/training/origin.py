"""Where a run comes from: program, machine and data, so that a number can be traced back and a run repeated."""

import platform

import numpy as np

from dpcore import __version__
from dpcore.training.begun import Begun
from dpcore.training.checkpoint import where
from dpcore.training.training_run import TrainingRun


def origin_of(run: TrainingRun) -> dict[str, str]:
    """Versions, the machine as `machine_of` says it, and the fingerprint of the data: nothing of it is a secret.

    On a CPU, runs of one fixed seed and the same settings that agree in all of it have bit for bit the same parameters.
    """
    return {**_versions(), **where(run), "data": run.fingerprint}


def check_origin(run: TrainingRun, begun: Begun, done: int) -> None:
    """ValueError where going on with a run would say other numbers than were said, or spend its noise on other data.

    Behind a checkpoint, of which `done` steps are known, the machine has been asked already; what a run of an older
    version did not note cannot be asked.
    """
    here, there = origin_of(run), begun.origin
    way = (
        "Start a new run" if done else "Resume it, which charges the steps that it has released once more, or start one"
    )
    for name in [name for name in here if name in there or not done]:
        if here[name] != there.get(name):
            was = there.get(name, "unknown")
            raise ValueError(f"Expected {name}={here[name]} to be {was}, as where the run began. {way}.")


def _versions() -> dict[str, str]:
    return {"dpcore": __version__, "python": platform.python_version(), "numpy": str(np.__version__)}
