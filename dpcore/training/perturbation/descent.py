"""Learning without noise: gradient descent of a fixed number of steps, and a minimiser with a known tolerance."""

from collections.abc import Callable

import numpy as np

from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.task import Task

MOST_ITERATIONS = 200_000
Gradient = Callable[[FloatArray], FloatArray]  # of the objective under every vector: (S, p) to (S, p)


def descended(task: Task, start: FloatArray, gradient: Gradient) -> FloatArray:
    """The parameters (S, p) after T steps of gradient descent; `gradient` is without the regulariser's."""
    thetas = start
    for _ in range(task.steps):
        thetas = thetas - task.rate * (gradient(thetas) + task.regulariser * thetas)
    return thetas


def minimised(
    gradient: Gradient, start: FloatArray, smoothness: float, curvature: FloatArray, tolerance: FloatArray
) -> FloatArray:
    """Parameters (S, p) where the gradient of a strongly convex objective is at most the tolerance (S,) long.

    Nesterov's accelerated gradient descent, arranged so that it begins anew where it overshoots. RuntimeError where the
    tolerance is not reached.
    """
    thetas = ahead = start
    root = np.sqrt(curvature / (smoothness + curvature))  # (S,): of the inverse condition number
    momentum = ((1 - root) / (1 + root))[:, None]
    step = 1 / (smoothness + curvature)[:, None]
    for _ in range(MOST_ITERATIONS):
        slope = gradient(ahead)
        after = ahead - step * slope
        if (np.linalg.norm(slope, axis=1) <= tolerance).all():
            return ahead
        forward = ((after - thetas) * slope).sum(axis=1, keepdims=True) <= 0
        ahead = after + np.where(forward, momentum, 0.0) * (after - thetas)
        thetas = after
    raise RuntimeError(f"The minimiser is not reached in {MOST_ITERATIONS} iterations; raise the regulariser.")
