"""Learning without noise: what all others are compared with."""

from collections.abc import Sequence
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods.base import Condition, Method, Protection
from dpcore.training.perturbation.minimisers import best
from dpcore.training.perturbation.task import Draws, Task


@final
class NonPrivate(Method):
    """The minimiser of the objective, or the best that was found where it is not convex."""

    name = "none"
    title = "Without noise"
    note = "The minimiser of the objective, released as it is."
    unit = "of nothing"
    source = "Empirical risk minimisation"
    kind = Protection.NONE
    takes_epsilon = False

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        return (Condition("noise", False, "No noise is drawn: the parameters may give any row away."),)

    def noise(self, task: Task, epsilon: float) -> float:
        return 0.0

    def fit(self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]) -> FloatArray:
        return np.repeat(best(task, problem), len(epsilons), axis=0)
