"""Gradient descent without noise, with noise on its final parameters, and with noise in each step.

The theorems are in README.md.
"""

from math import expm1, log1p, sqrt
from typing import final

import numpy as np

from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods import base
from dpcore.training.perturbation.methods.base import Condition, Fits, Method, Protection
from dpcore.training.perturbation.minimisers import best, descended
from dpcore.training.perturbation.task import Task

MAX_EXPONENT = 600.0  # e^x leaves room for its factors
TOO_FAR = (
    "The bound on how far one row moves the parameters overflows; lower the step size or the steps."
)


@final
class NonPrivate(Method):
    """The minimiser of the objective; if it is not convex, the best parameters found."""

    name = "none"
    kind = Protection.NONE
    takes_epsilon = False

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        return (Condition("noise", False, "No noise is drawn: the parameters may reveal any row."),)

    def noise(self, task: Task, epsilon: float) -> float:
        return 0.0

    def fit(self, fits: Fits) -> FloatArray:
        return np.repeat(best(fits.task, fits.problem), len(fits.epsilons), axis=0)


@final
class OutputPerturbation(Method):
    """theta_T + Normal(0, s^2 I) with s = sensitivity / mu, where theta_T is gradient descent of T
    full steps from 0.

    Its sensitivity is (2 G alpha / n) (1 + c + ... + c^(T-1)), c = max(|1 - alpha Dl|, |1 - alpha
    Lsm|), by Theorem 1.
    """

    name = "output"
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

    def fit(self, fits: Fits) -> FloatArray:
        theta = descended(fits.task, fits.problem.rows, fits.problem.labels)
        return theta + self.noises(fits) * fits.normals()


@final
class GradientPerturbation(Method):
    """theta <- theta - alpha (grad L + Normal(0, s^2 I)), T times, with s = sqrt(T) (2 G / n) / mu,
    by Theorem 4.
    """

    name = "gradient"
    kind = Protection.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        drawn = base.tails(task, task.mu(epsilon) / sqrt(task.steps), task.steps)
        return (base.bounded_gradients(task), drawn, *base.unasked("convex", "smooth"))

    def noise(self, task: Task, epsilon: float) -> float:
        return sqrt(task.steps) * task.sensitivity / task.mu(epsilon)

    def fit(self, fits: Fits) -> FloatArray:
        task = fits.task
        rows = fits.problem.rows
        labels = fits.problem.labels
        noises = self.noises(fits)
        thetas = np.repeat(task.model.start(task.features)[None], len(fits.draws), axis=0)
        for _ in range(task.steps):
            drawn = noises * fits.normals()
            slope = task.model.gradients(thetas, rows, labels, task.clipping)
            thetas = thetas - task.rate * (slope + task.regulariser * thetas + drawn)
        return thetas
