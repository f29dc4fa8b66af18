"""Output perturbation: learn without noise, and add it to the parameters."""

from collections.abc import Sequence
from math import expm1, log1p
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods.base import Condition, Method, Protection, convex, smooth, tails, unasked
from dpcore.training.perturbation.minimisers import descended
from dpcore.training.perturbation.task import Draws, Task

MOST_EXPONENT = 600.0  # whose power leaves room for all that it is multiplied with
TOO_FAR = "One row may move the parameters beyond the floating-point numbers; lower the step size or the steps."


@final
class OutputPerturbation(Method):
    """theta_T + Normal(0, s^2 I) with s = sensitivity / mu, where theta_T is gradient descent of T full steps from 0.

    A step brings two runs nearer, or apart, by the factor c = max(|1 - alpha Dl|, |1 - alpha Lsm|) at most, and
    neighbours drive them apart by 2 G alpha / n, so they end within (2 G alpha / n) (1 + c + ... + c^(T-1)) of each
    other. For alpha up to 2 / (Lsm + Dl) this is at most 2 G / (n Dl).
    """

    name = "output"
    title = "Output perturbation"
    note = "Gradient descent without noise; Gaussian noise on the parameters it ends at."
    unit = "of each parameter"
    source = "Zhang, Zheng, Mou and Wang 2017, arXiv 1703.09947; its sensitivity with the constant worked out"
    kind = Protection.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        needed = (convex(task), smooth(task), tails(task, task.mu(epsilon)))
        return (*needed, *unasked("strongly convex", "exact minimiser"))

    def sensitivity(self, task: Task) -> float:
        """How far replacing one row can move theta_T. RuntimeError where that leaves the floating-point numbers."""
        # the factor less 1: itself it would lose the digits of what is small beside 1
        excess = max(-task.rate * task.regulariser, task.rate * task.smoothness - 2)
        exponent = task.steps * log1p(excess)
        if exponent > MOST_EXPONENT:
            raise RuntimeError(TOO_FAR)
        rounds = expm1(exponent) / excess if excess else task.steps
        return task.sensitivity * task.rate * rounds

    def noise(self, task: Task, epsilon: float) -> float:
        return self.sensitivity(task) / task.mu(epsilon)

    def fit(self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]) -> FloatArray:
        def slope(thetas: FloatArray) -> FloatArray:
            return task.model.gradients(thetas, problem.rows, problem.labels)

        theta = descended(task, task.model.start(task.features)[None], slope)
        drawn = np.stack([each.normals(task.parameters) for each in draws])
        return theta + self.noises(task, epsilons)[:, None] * drawn
