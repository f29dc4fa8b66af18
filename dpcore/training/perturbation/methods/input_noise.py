"""Input perturbation, where every row is perturbed on its own: by a noise that is proven, and by its paper's formula.

What is learnt from proven rows is free. The formula has a constant that nobody knows, and its proof does not hold.
"""

from collections.abc import Sequence
from math import ceil, exp, log, sqrt
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods.base import Condition, Method, Protection, tails, unasked
from dpcore.training.perturbation.minimisers import learnt, stepped
from dpcore.training.perturbation.task import ROUNDING, Draws, Task

LABEL_SHARE = 0.5  # of epsilon: for the label; the rest, and all of delta, for the features
DIGITS = 2.0**53


@final
class LocalInputPerturbation(Method):
    """x + Normal(0, s^2 I) with s = 2 / mu, and a label that is flipped with chance 1 / (1 + e^(epsilon / 2)).

    README.md, Theorem 6, proves it.
    """

    name = "input"
    title = "Input perturbation, local"
    note = "Each row gets its own Gaussian noise and a label that may be flipped; learning from them costs nothing."
    unit = "of each feature of each row"
    source = (
        "The Gaussian mechanism (Balle and Wang 2018) and randomised response (Warner 1965) for one row, "
        "in the place of Kang et al., input perturbation, Algorithm 1"
    )
    kind = Protection.LOCAL

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
        pairs = zip(epsilons, draws, strict=True)
        return np.stack([learnt(task, *self.perturbed(task, problem, epsilon, each)) for epsilon, each in pairs])


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

    Without a regulariser the root of Dl is left out, as in the paper's Theorem 3. README.md, section 4, says why
    nothing is proven of it.
    """

    name = "paper_input"
    title = "Input perturbation, the paper's formula"
    label = "Paper's input"
    note = "Noise on each row by the paper's formula with its open constant set to 1: no guarantee."
    unit = "of each feature of each row"
    source = (
        "Kang et al., Input Perturbation: A New Paradigm between Central and Local Differential Privacy, Equation 9"
    )
    kind = Protection.NONE

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
