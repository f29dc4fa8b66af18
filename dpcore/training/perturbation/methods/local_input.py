"""Input perturbation that is proven: every row is perturbed on its own, and what is learnt from them is free."""

from collections.abc import Sequence
from math import ceil, exp
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.conditions import Condition, tails, unasked
from dpcore.training.perturbation.methods.base import Kind, Method
from dpcore.training.perturbation.minimisers import learnt
from dpcore.training.perturbation.task import ROUNDING, Draws, Task

LABEL_SHARE = 0.5  # of epsilon: for the label; the rest, and all of delta, for the features
DIGITS = 2.0**53


@final
class LocalInputPerturbation(Method):
    """x + Normal(0, s^2 I) with s = 2 / mu, and a label that is flipped with chance 1 / (1 + e^(epsilon / 2)).

    A row of norm at most 1 can be replaced by any other, which moves it by at most 2. The label's half of epsilon adds.
    """

    name = "input"
    title = "Input perturbation, local"
    note = "Each row gets its own Gaussian noise and a label that may be flipped; learning from them costs nothing."
    unit = "of each feature of each row"
    source = (
        "The Gaussian mechanism (Balle and Wang 2018) and randomised response (Warner 1965) for one row, "
        "in the place of Kang et al., input perturbation, Algorithm 1"
    )
    kind = Kind.LOCAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        bounded = Condition("rows bounded", True, "at most 1 long by constants of the data set")
        return (bounded, tails(task, self.mu(task, epsilon)), *unasked("convex", "smooth"))

    def mu(self, task: Task, epsilon: float) -> float:
        """By how many standard deviations replacing a row moves its features."""
        return task.mu((1 - LABEL_SHARE) * epsilon)

    def noise(self, task: Task, epsilon: float) -> float:
        return 2 * ROUNDING / self.mu(task, epsilon)

    def flips(self, epsilon: float) -> float:
        """Chance that a label is flipped, rounded up to what the generator can do.

        >>> LocalInputPerturbation().flips(2.0)
        0.2689414213699952
        """
        kept = exp(-min(LABEL_SHARE * epsilon, 700.0))
        return min((ceil(kept / (1 + kept) * DIGITS) + 1) / DIGITS, 0.5)  # one more than rounding may take

    def perturbed(self, task: Task, problem: Problem, epsilon: float, draws: Draws) -> tuple[FloatArray, FloatArray]:
        """The rows and labels that are handed over: rows with the digits of float32.

        The last digits of a float64 tell values apart that the noise is to hide: 0 leaves those of the noise as they
        are, while a sum that cancels has zeros there.
        """
        drawn = problem.rows + self.noise(task, epsilon) * draws.normals(*problem.rows.shape)
        rows = drawn.astype(np.float32).astype(np.float64)
        flipped = draws.uniforms(task.examples) < self.flips(epsilon)
        return rows, np.where(flipped, -problem.labels, problem.labels)

    def fit(self, task: Task, problem: Problem, epsilons: Sequence[float], draws: Sequence[Draws]) -> FloatArray:
        return np.stack(
            [
                learnt(task, *self.perturbed(task, problem, epsilon, each))
                for epsilon, each in zip(epsilons, draws, strict=True)
            ]
        )
