"""What a method is: how much noise it draws, on which conditions that keeps epsilon, and what it learns."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.conditions import Condition
from dpcore.training.perturbation.task import Draws, Task


class Kind(StrEnum):
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
    kind: Kind
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
        known = {epsilon: self.noise(task, epsilon) for epsilon in dict.fromkeys(epsilons)}
        return np.array([known[epsilon] for epsilon in epsilons])
