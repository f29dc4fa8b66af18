"""Learning without noise: gradient descent of a fixed number of steps, and minimisers with a known tolerance."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.task import Task

MOST_STEPS = 200  # of Newton's iteration: it needs about ten
NOT_REACHED = "The minimiser is not reached; raise the regulariser."
LEAST_FACTOR = 1e-12  # of a step of Newton's iteration
Gradient = Callable[[FloatArray], FloatArray]  # of the mean loss under every vector: (S, p) to (S, p)


def descended(task: Task, start: FloatArray, gradient: Gradient) -> FloatArray:
    """The parameters (S, p) after T steps of gradient descent; `gradient` is without the regulariser's."""
    thetas = start
    for _ in range(task.steps):
        thetas = thetas - task.rate * (gradient(thetas) + task.regulariser * thetas)
    return thetas


def minimiser(
    rows: FloatArray, labels: FloatArray, curvature: float, tolerance: float, linear: FloatArray | float = 0.0
) -> FloatArray:
    """Where mean ln(1 + exp(-y theta . x)) + (curvature / 2) |theta|^2 + linear . theta is least, (p,).

    **Guarantees:** its gradient there is at most the tolerance long, so that the exact minimiser is at most tolerance /
    curvature away. RuntimeError where that is not reached. Newton's iteration, whose steps are halved until the
    gradient is shorter than before: short steps always shorten it, as the objective is strictly convex.
    """
    signed = labels[:, None] * rows
    theta = np.zeros(rows.shape[1])

    def slope(at: FloatArray) -> FloatArray:
        return curvature * at + linear - expit(-(signed @ at)) @ signed / len(rows)

    gradient = slope(theta)
    for _ in range(MOST_STEPS):
        length = np.linalg.norm(gradient)
        if length <= tolerance / 2:  # the other half is for rounding
            return theta
        chance = expit(signed @ theta)
        hessian = (signed.T * (chance * (1 - chance) / len(rows))) @ signed
        hessian[np.diag_indices_from(hessian)] += curvature
        try:
            step = np.linalg.solve(hessian, gradient)
        except np.linalg.LinAlgError as error:
            raise RuntimeError(NOT_REACHED) from error
        factor = 1.0
        while np.linalg.norm(after := slope(theta - factor * step)) >= length and factor > LEAST_FACTOR:
            factor /= 2
        theta, gradient = theta - factor * step, after
    raise RuntimeError(NOT_REACHED)
