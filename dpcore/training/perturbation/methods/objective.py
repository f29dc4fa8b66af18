"""Objective perturbation: a random linear term in the objective."""

from functools import lru_cache
from math import exp, expm1, log, log1p
from typing import final

import numpy as np

from dpcore.privacy.certified.rounding import RESERVED
from dpcore.privacy.gaussian import DELTA_ERROR, delta_of
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.methods import base
from dpcore.training.perturbation.methods.base import Condition, Fits, Method, Protection
from dpcore.training.perturbation.minimisers import descended, minimiser
from dpcore.training.perturbation.task import ROUNDING, Task, mu_within

CURVATURE_SHARE = 0.5  # of epsilon, at most, for the change of the determinant
RESIDUAL_SHARE = 0.001  # of epsilon and delta, for the solver's error
TOLERANCE = 1e-9  # of the gradient's norm, at which the solver stops
HALVINGS = 60
MAX_EXPONENT = 650.0  # of e^x: the curvature, its inverse with n as a factor, stays above 1e-300
NOT_OF_RANK_1 = "The Hessian of a row's loss is not of rank 1."
NOT_MADE_SO = "No term here makes it convex."
CHARGED = f"a gradient up to {TOLERANCE:g} is charged"
NO_MINIMISER = "Descent finds no known minimiser."


@final
class ObjectivePerturbation(Method):
    """argmin L(theta) + ((m - Dl) / 2) |theta|^2 + b . theta / n with b from Normal(0, s^2 I).

    README.md, Theorem 2: the minimiser keeps (epsilon, delta) if delta(e; 2 G / s) + 2 delta(e; G /
    s) is at most delta at e = epsilon - ln(1 + Lsm / (n m)). Noise of its own hides the solver's
    error.
    """

    name = "objective"
    kind = Protection.CENTRAL

    def conditions(self, task: Task, epsilon: float) -> tuple[Condition, ...]:
        return (
            base.convex(task),
            base.smooth(task),
            base.asked("Hessians of rank 1", task.model.linear, "yes", NOT_OF_RANK_1),
            base.asked("strongly convex", task.model.convex, "made so by the method", NOT_MADE_SO),
            base.asked("exact minimiser", task.model.convex, CHARGED, NO_MINIMISER),
            base.tails(task, self.mu(task, epsilon)),
        )

    def curvature(self, task: Task, epsilon: float) -> float:
        """Return the strong convexity m of the objective: the regulariser's, or more if epsilon is
        small.
        """
        smoothness = task.smoothness - task.regulariser
        # a capped exponent gives more curvature than needed, and everything else here follows from
        # the curvature
        change = expm1(min(CURVATURE_SHARE * epsilon, MAX_EXPONENT))
        return max(task.regulariser, smoothness * ROUNDING / (task.examples * change))

    def mu(self, task: Task, epsilon: float) -> float:
        """Return 2 G / s: the standard deviations by which replacing a row can move b."""
        return _mu(task, epsilon, self.curvature(task, epsilon))

    def noise(self, task: Task, epsilon: float) -> float:
        return 2 * task.lipschitz * ROUNDING / self.mu(task, epsilon)

    def hiding(self, task: Task, epsilon: float) -> float:
        """Return the standard deviation that hides solver errors, which differ by 2 TOLERANCE / m
        at most.
        """
        mu = mu_within(RESIDUAL_SHARE * epsilon, RESIDUAL_SHARE * task.delta)
        return 2 * TOLERANCE * ROUNDING / self.curvature(task, epsilon) / mu

    def fit(self, fits: Fits) -> FloatArray:
        linear = self.noises(fits) * fits.normals()
        thetas = self.minima(fits, linear / fits.task.examples)
        hiding = np.array([[self.hiding(fits.task, epsilon)] for epsilon in fits.epsilons])
        return thetas + hiding * fits.normals()

    def minima(self, fits: Fits, linear: FloatArray) -> FloatArray:
        """Return the minimisers (S, p) with these linear terms; without convexity, the end of
        descent.
        """
        task = fits.task
        rows = fits.problem.rows
        labels = fits.problem.labels
        if not task.model.convex:
            return descended(task, rows, labels, linear)
        thetas = []
        for epsilon, term in zip(fits.epsilons, linear, strict=True):
            curvature = self.curvature(task, epsilon)
            thetas.append(minimiser(rows, labels, curvature, TOLERANCE, term))
        return np.stack(thetas)


@lru_cache(maxsize=1024)
def _mu(task: Task, epsilon: float, curvature: float) -> float:
    changed = log1p((task.smoothness - task.regulariser) * ROUNDING / (task.examples * curvature))
    left = (1 - RESIDUAL_SHARE) * epsilon - changed
    delta = (1 - RESIDUAL_SHARE) * task.delta
    low = log(mu_within(left, delta / 3))
    high = log(mu_within(left, delta))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        spent = delta_of(left, exp(middle)) + 2 * delta_of(left, exp(middle) / 2)
        if spent <= delta * (1 - DELTA_ERROR) * (1 - RESERVED):
            low = middle
        else:
            high = middle
    return exp(low)
