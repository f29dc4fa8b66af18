"""Gradient perturbation: full-batch gradient descent with noise in each step."""

from collections.abc import Sequence
from math import sqrt
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods.base import Condition, Method, Protection, bounded_gradients, tails, unasked
from dpcore.training.perturbation.task import Draws, Task


@final
class GradientPerturbation(Method):
    """theta <- theta - alpha (grad L + Normal(0, s^2 I)), T times, with s = sqrt(T) (2 G / n) / mu.

    Each step is a Gaussian mechanism of sensitivity 2 G / n, and T of them are exactly mu-GDP: no constant is open.
    """

    name = "gradient"
    title = "Gradient perturbation"
    note = "Gradient descent with Gaussian noise on every gradient, charged as T full-batch Gaussians."
    unit = "of each coordinate of the mean gradient, in every step"
    source = "Wang, Ye and Xu 2017, arXiv 1802.05251; the constant by Dong, Roth and Su 2019, Corollary 3.3"
    kind = Protection.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        drawn = tails(task, task.mu(epsilon) / sqrt(task.steps), task.steps)
        return (bounded_gradients(task), drawn, *unasked("convex", "smooth"))

    def noise(self, task: Task, epsilon: float) -> float:
        return sqrt(task.steps) * task.sensitivity / task.mu(epsilon)

    def fit(self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]) -> FloatArray:
        noises = self.noises(task, epsilons)[:, None]
        thetas = np.repeat(task.model.start(task.features)[None], len(draws), axis=0)
        for _ in range(task.steps):
            drawn = np.stack([each.normals(task.parameters) for each in draws])
            slope = task.model.gradients(thetas, problem.rows, problem.labels, task.clipping)
            thetas = thetas - task.rate * (slope + task.regulariser * thetas + noises * drawn)
        return thetas
