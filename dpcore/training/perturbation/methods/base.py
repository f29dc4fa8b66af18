"""Interface of a method: its noise, the conditions of its theorem, and its fit."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy import words_in
from dpcore.privacy.certified.rounding import RESERVED
from dpcore.privacy.mechanism import MIN_SIGMA, FloatArray, Release
from dpcore.training.perturbation.task import Draws, Task
from dpcore.training.randomness.missing_mass import RADIUS, added_delta

TEXTS = Path(__file__).with_name("methods.toml")
NOT_CONVEX = "The loss is not convex, so nothing bounds how far one row moves the parameters."
NOT_SMOOTH = "The curvature of the loss has no bound."
UNASKED = "not needed"


class Condition(NamedTuple):
    """One condition: its name, True if it holds, and why: a sentence if it fails, else a few words.

    A condition of other theorems, which this one does not need, neither holds nor fails: None.
    """

    name: str
    holds: bool | None
    said: str

    @property
    def fails(self) -> bool:
        """True if the theorem needs it and it does not hold."""
        return self.holds is False


def asked(name: str, holds: bool, held: str, failed: str) -> Condition:
    """Return a condition with the words for its outcome."""
    return Condition(name, holds, held if holds else failed)


def unasked(*names: str) -> tuple[Condition, ...]:
    """Return conditions of other theorems, which this one does not need."""
    return tuple(Condition(name, None, UNASKED) for name in names)


def convex(task: Task) -> Condition:
    """Check that the loss of every row is convex in the parameters."""
    return asked("convex", task.model.convex, "yes", NOT_CONVEX)


def smooth(task: Task) -> Condition:
    """Check that the eigenvalues of the Hessian of the objective have a bound, Lsm."""
    return asked(
        "smooth", task.model.smoothness is not None, f"up to {task.smoothness:.3g}", NOT_SMOOTH
    )


def bounded_gradients(task: Task) -> Condition:
    """Return the condition that the gradient of one row's loss is at most G long, which clipping
    ensures.
    """
    how = "by the loss" if task.clipping is None else "by clipping"
    return Condition("gradients bounded", True, f"at most {task.lipschitz:g} long {how}")


def tails(task: Task, mu: float, count: int = 1) -> Condition:
    """Check that delta pays for noise that is never drawn: `count` releases, each of which a row
    moves by mu.
    """
    reserved = RESERVED * task.delta
    radius = RADIUS["AES"]
    paid = mu < 1 / MIN_SIGMA and added_delta([Release(1.0, 1 / mu, count)], radius) <= reserved
    failed = (
        f"Noise is drawn up to {radius:.3g} standard deviations, and one row moves the release by"
        f" {mu:.3g} of them: the missing tails may show it more often than delta allows."
    )
    return asked("tails of the noise", paid, "delta pays for what is cut off", failed)


class Protection(StrEnum):
    """Kind of attacker that a method protects from."""

    CENTRAL = "central"  # readers of the parameters; the trainer sees the rows
    LOCAL = "local"  # also the trainer: every row is perturbed before it is handed over
    NONE = "none"


@dataclass(frozen=True, eq=False)
class Fits:
    """Several fits of a method on one problem, each at its epsilon and with its random numbers."""

    task: Task
    problem: Problem
    epsilons: Sequence[float]  # (S,)
    draws: Sequence[Draws]  # (S,)

    def normals(self) -> FloatArray:
        """Draw a standard Gaussian number for each parameter of each fit, (S, p)."""
        return np.stack([each.normals(self.task.parameters) for each in self.draws])


class Method(ABC):
    """A method that adds noise at one place.

    Noise and conditions follow from public facts alone.
    """

    name: str  # the id in requests and on the command line
    kind: Protection
    takes_epsilon = True

    def __init__(self) -> None:
        words = words_in(TEXTS)[self.name]
        self.title: str = words["title"]
        self.label: str = words.get("label", "")  # beside its line, if the title is too long
        self.note: str = words["note"]  # one line on the place of the noise
        self.unit: str = words["unit"]  # of `noise`
        self.source: str = words["source"]

    @abstractmethod
    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        """Check the conditions of its theorem, the same at every epsilon, at this one."""

    def obstacles(self, task: Task, epsilon: float) -> tuple[str, ...]:
        """Return a sentence for each failing condition.

        Without any, the release keeps (epsilon, delta).
        """
        return tuple(each.said for each in self.conditions(task, epsilon) if each.fails)

    @abstractmethod
    def noise(self, task: Task, epsilon: float) -> float:
        """Return the standard deviation of each coordinate of its noise."""

    @abstractmethod
    def fit(self, fits: Fits) -> FloatArray:
        """Return the released parameters (S, p)."""

    def noises(self, fits: Fits) -> FloatArray:
        """Return the standard deviation of each fit, (S, 1)."""
        return np.array([[self.noise(fits.task, epsilon)] for epsilon in fits.epsilons])
