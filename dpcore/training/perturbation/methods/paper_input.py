"""Input perturbation as its paper has it: a formula whose constant nobody knows, and whose proof does not hold."""

from collections.abc import Sequence
from math import log, sqrt
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.conditions import Condition
from dpcore.training.perturbation.methods.base import Kind, Method
from dpcore.training.perturbation.minimisers import stepped
from dpcore.training.perturbation.task import Draws, Task

GAPS = (
    (
        "constant known",
        "No guarantee: the formula has a constant c that no proof determines, as it swallows the loss that is left, "
        "which depends on the data; here c = 1.",
    ),
    (
        "Gaussian gradients",
        "The proof takes the noise of the gradient for Gaussian and fresh in each step; it is neither.",
    ),
    ("labels protected", "Labels are released as they are."),
)


@final
class PaperInputPerturbation(Method):
    """x + Normal(0, s^2 I) with s^2 = c G^2 T ln(1/delta) / (n (n - 1) sqrt(Dl) epsilon^2), and c = 1 here.

    Without a regulariser the root of Dl is left out, as in the paper's Theorem 3. Each row gets noise of its own: with
    one draw for all rows, as the formulas of the proof have it, the differences of rows would be released exactly.
    """

    name = "paper_input"
    title = "Input perturbation, the paper's formula"
    label = "Paper's input"
    note = "Noise on each row by the paper's formula with its open constant set to 1: no guarantee."
    unit = "of each feature of each row"
    source = (
        "Kang et al., Input Perturbation: A New Paradigm between Central and Local Differential Privacy, Equation 9"
    )
    kind = Kind.NONE

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        return tuple(Condition(name, False, said) for name, said in GAPS)

    def noise(self, task: Task, epsilon: float) -> float:
        count, root = task.examples * (task.examples - 1), sqrt(task.regulariser or 1.0)
        return task.lipschitz * sqrt(task.steps * log(1 / task.delta) / (count * root)) / epsilon

    def fit(self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]) -> FloatArray:
        thetas = []
        for noise, each in zip(self.noises(task, epsilons), draws, strict=True):
            rows = problem.rows + noise * each.normals(*problem.rows.shape)
            thetas.append(stepped(task, rows, problem.labels, 1 + task.features * noise**2))
        return np.stack(thetas)
