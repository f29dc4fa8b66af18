"""A method: the noise that it draws, the conditions on which that keeps epsilon, and what it learns."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.task import Draws, Task

NOT_CONVEX = "The loss is not convex: nothing bounds how far one row moves the parameters."
NOT_SMOOTH = "Nothing bounds the curvature of the loss."
UNASKED = "not asked for"


class Condition(NamedTuple):
    """One condition: its name, whether it holds, and why, which is a sentence where it fails and a few words elsewhere.

    What the theorem does not ask for, though another one does, neither holds nor fails: None.
    """

    name: str
    holds: bool | None
    said: str

    @property
    def fails(self) -> bool:
        """Whether the theorem asks for it in vain."""
        return self.holds is False


def asked(name: str, holds: bool, held: str, failed: str) -> Condition:
    """The condition with the words for what is the case."""
    return Condition(name, holds, held if holds else failed)


def unasked(*names: str) -> tuple[Condition, ...]:
    """Conditions of other theorems, which this one does not ask for."""
    return tuple(Condition(name, None, UNASKED) for name in names)


def convex(task: Task) -> Condition:
    """Whether the loss of every row is convex in the parameters."""
    return asked("convex", task.model.convex, "yes", NOT_CONVEX)


def smooth(task: Task) -> Condition:
    """Whether the eigenvalues of the Hessian of the objective have a bound, Lsm."""
    return asked("smooth", task.model.smoothness is not None, f"up to {task.smoothness:.3g}", NOT_SMOOTH)


def bounded_gradients(task: Task) -> Condition:
    """That the gradient of one row's loss is at most G long; it always is, where need be by clipping."""
    how = "by the loss" if task.clipping is None else "by clipping"
    return Condition("gradients bounded", True, f"at most {task.lipschitz:g} long {how}")


def tails(task: Task, mu: float, count: int = 1) -> Condition:
    """Whether delta pays for the noise that no generator returns: `count` releases, each of which a row moves by mu."""
    missing = task.missing(mu, count)
    return asked("tails of the noise", not missing, "what is never drawn is paid for", missing)


class Protection(StrEnum):
    """Who is protected from whom."""

    CENTRAL = "central"  # whoever sees the parameters; those who learn see the rows
    LOCAL = "local"  # also those who learn: every row is perturbed before it is handed over
    NONE = "none"


class Method(ABC):
    """A place where noise can go. Noise and conditions follow from what is public alone."""

    name: str  # the id in requests and on the command line
    title: str
    note: str  # one line: where the noise goes
    unit: str  # what `noise` is the standard deviation of
    source: str
    kind: Protection
    label = ""  # beside its line, where the title is too long for that
    takes_epsilon = True

    @abstractmethod
    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        """The conditions of its theorem, the same ones at every epsilon, and whether they hold at this one."""

    def obstacles(self, task: Task, epsilon: float) -> tuple[str, ...]:
        """Sentences: which conditions of its theorem fail. Without any, what is released keeps (epsilon, delta)."""
        return tuple(each.said for each in self.conditions(task, epsilon) if each.fails)

    @abstractmethod
    def noise(self, task: Task, epsilon: float) -> float:
        """Standard deviation of each coordinate of its noise."""

    @abstractmethod
    def fit(self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]) -> FloatArray:
        """The parameters (S, p) that are released, one vector for each pair of an epsilon and its draws."""

    def noises(self, task: Task, epsilons: Sequence[float]) -> FloatArray:
        """The standard deviation for each fit, (S,)."""
        return np.array([self.noise(task, epsilon) for epsilon in epsilons])
