"""Input perturbation of every row by itself: with proven noise, and by its paper's formula.

Training on rows with proven noise costs nothing. The formula has an unknown constant, and its proof
does not hold.
"""

from math import ceil, exp, log, sqrt
from typing import final

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.privacy import words_in
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods import base
from dpcore.training.perturbation.methods.base import TEXTS, Condition, Fits, Method, Protection
from dpcore.training.perturbation.minimisers import learnt, stepped
from dpcore.training.perturbation.task import ROUNDING, Draws, Task, released

LABEL_SHARE = 0.5  # of epsilon, for the label; the features get the rest, and all of delta
DIGITS = 2.0**53


@final
class LocalInputPerturbation(Method):
    """x + Normal(0, s^2 I), s = 2 / mu; label flipped with chance 1 / (1 + e^(epsilon / 2)):
    README.md, Theorem 6.
    """

    name = "input"
    kind = Protection.LOCAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        bounded = Condition("rows bounded", True, "at most 1 long by constants of the data set")
        return (
            bounded,
            base.tails(task, self.mu(task, epsilon)),
            *base.unasked("convex", "smooth"),
        )

    def mu(self, task: Task, epsilon: float) -> float:
        """Return the standard deviations by which replacing a row moves its features."""
        return task.mu((1 - LABEL_SHARE) * epsilon)

    def noise(self, task: Task, epsilon: float) -> float:
        return 2 * ROUNDING / self.mu(task, epsilon)

    def flips(self, epsilon: float) -> float:
        """Return the chance that a label is flipped, rounded up to a multiple of the generator's
        unit.

        >>> LocalInputPerturbation().flips(2.0)
        0.2689414213699952
        """
        kept = exp(-min(LABEL_SHARE * epsilon, 700.0))
        # A unit more, for rounding.
        return min((ceil(kept / (1 + kept) * DIGITS) + 1) / DIGITS, 0.5)

    def perturbed(
        self, task: Task, problem: Problem, epsilon: float, draws: Draws
    ) -> tuple[FloatArray, FloatArray]:
        """Return the noisy rows, rounded to float32, and labels.

        The last digits of a float64 sum may reveal the value: adding 0 keeps those of the noise,
        and a sum that cancels has zeros there.
        """
        noise = self.noise(task, epsilon) * draws.normals(*problem.rows.shape)
        rows = released(problem.rows + noise)
        flipped = draws.uniforms(task.examples) < self.flips(epsilon)
        return rows, np.where(flipped, -problem.labels, problem.labels)

    def fit(self, fits: Fits) -> FloatArray:
        thetas = []
        for epsilon, each in zip(fits.epsilons, fits.draws, strict=True):
            rows, labels = self.perturbed(fits.task, fits.problem, epsilon, each)
            thetas.append(learnt(fits.task, rows, labels))
        return np.stack(thetas)


@final
class PaperInputPerturbation(Method):
    """x + Normal(0, s^2 I) with s^2 = c G^2 T ln(1/delta) / (n (n - 1) sqrt(Dl) epsilon^2), and c =
    1 here.

    Without a regulariser the root of Dl is omitted, as in the paper's Theorem 3. README.md, section
    4, says why it proves nothing.
    """

    name = "paper_input"
    kind = Protection.NONE

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        gaps = words_in(TEXTS)["gaps of paper_input"]
        return tuple(Condition(name, False, said) for name, said in gaps.items())

    def noise(self, task: Task, epsilon: float) -> float:
        count = task.examples * (task.examples - 1)
        root = sqrt(task.regulariser or 1.0)
        return task.lipschitz * sqrt(task.steps * log(1 / task.delta) / (count * root)) / epsilon

    def fit(self, fits: Fits) -> FloatArray:
        task = fits.task
        problem = fits.problem
        thetas = []
        for noise, each in zip(self.noises(fits).flat, fits.draws, strict=True):
            rows = problem.rows + noise * each.normals(*problem.rows.shape)
            thetas.append(stepped(task, rows, problem.labels, 1 + task.features * noise**2))
        return np.stack(thetas)
