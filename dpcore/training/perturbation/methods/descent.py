"""Gradient descent without noise, with noise on its final parameters, and with noise in each step.

The theorems are in README.md.
"""

from collections.abc import Sequence
from math import expm1, log1p, sqrt
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods import base
from dpcore.training.perturbation.methods.base import Condition, Method, Protection, words_of
from dpcore.training.perturbation.minimisers import best, descended
from dpcore.training.perturbation.task import Draws, Task

MAX_EXPONENT = 600.0  # e^x leaves room for its factors
TOO_FAR = (
    "The bound on how far one row moves the parameters overflows; lower the step size or the steps."
)


@final
class NonPrivate(Method):
    """The minimiser of the objective; if it is not convex, the best parameters found."""

    name, title, label, note, unit, source = words_of("none")
    kind = Protection.NONE
    takes_epsilon = False

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        return (Condition("noise", False, "No noise is drawn: the parameters may reveal any row."),)

    def noise(self, task: Task, epsilon: float) -> float:
        return 0.0

    def fit(
        self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]
    ) -> FloatArray:
        return np.repeat(best(task, problem), len(epsilons), axis=0)


@final
class OutputPerturbation(Method):
    """theta_T + Normal(0, s^2 I) with s = sensitivity / mu, where theta_T is gradient descent of T
    full steps from 0.

    Its sensitivity is (2 G alpha / n) (1 + c + ... + c^(T-1)), c = max(|1 - alpha Dl|, |1 - alpha
    Lsm|), by Theorem 1.
    """

    name, title, label, note, unit, source = words_of("output")
    kind = Protection.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        needed = (base.convex(task), base.smooth(task), base.tails(task, task.mu(epsilon)))
        return (*needed, *base.unasked("strongly convex", "exact minimiser"))

    def sensitivity(self, task: Task) -> float:
        """Return how far replacing one row can move theta_T; RuntimeError if that overflows."""
        # the factor less 1, since the factor itself would lose digits
        excess = max(-task.rate * task.regulariser, task.rate * task.smoothness - 2)
        exponent = task.steps * log1p(excess)
        if exponent > MAX_EXPONENT:
            raise RuntimeError(TOO_FAR)
        rounds = expm1(exponent) / excess if excess else task.steps
        return task.sensitivity * task.rate * rounds

    def noise(self, task: Task, epsilon: float) -> float:
        return self.sensitivity(task) / task.mu(epsilon)

    def fit(
        self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]
    ) -> FloatArray:
        theta = descended(task, problem.rows, problem.labels)
        drawn = np.stack([each.normals(task.parameters) for each in draws])
        return theta + self.noises(task, epsilons)[:, None] * drawn


@final
class GradientPerturbation(Method):
    """theta <- theta - alpha (grad L + Normal(0, s^2 I)), T times, with s = sqrt(T) (2 G / n) / mu,
    by Theorem 4.
    """

    name, title, label, note, unit, source = words_of("gradient")
    kind = Protection.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        drawn = base.tails(task, task.mu(epsilon) / sqrt(task.steps), task.steps)
        return (base.bounded_gradients(task), drawn, *base.unasked("convex", "smooth"))

    def noise(self, task: Task, epsilon: float) -> float:
        return sqrt(task.steps) * task.sensitivity / task.mu(epsilon)

    def fit(
        self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]
    ) -> FloatArray:
        noises = self.noises(task, epsilons)[:, None]
        thetas = np.repeat(task.model.start(task.features)[None], len(draws), axis=0)
        for _ in range(task.steps):
            drawn = np.stack([each.normals(task.parameters) for each in draws])
            slope = task.model.gradients(thetas, problem.rows, problem.labels, task.clipping)
            thetas = thetas - task.rate * (slope + task.regulariser * thetas + noises * drawn)
        return thetas
