"""Training without noise: gradient descent, minimisers with a known tolerance, and training on
perturbed rows.
"""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from dpcore.data.tabular.table import Problem
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.task import Task

MAX_NEWTON_STEPS = 200  # about ten are needed
NOT_REACHED = "The solver found no minimiser; raise the regulariser."
MIN_FACTOR = 1e-12  # of a Newton step


def descended(
    task: Task, rows: FloatArray, labels: FloatArray, linear: FloatArray | None = None
) -> FloatArray:
    """Return the parameters (S, p) after T steps of gradient descent with each linear term (S, p);
    (1, p) without.
    """
    thetas = task.model.start(task.features)[None]
    for _ in range(task.steps):
        slopes = task.model.gradients(thetas, rows, labels)
        if linear is not None:
            slopes = slopes + linear
        thetas = thetas - task.rate * (slopes + task.regulariser * thetas)
    return thetas


def minimiser(
    rows: FloatArray,
    labels: FloatArray,
    curvature: float,
    tolerance: float,
    linear: FloatArray | float = 0.0,
) -> FloatArray:
    """Minimise mean ln(1 + exp(-y theta . x)) + (curvature / 2) |theta|^2 + linear . theta; return
    theta (p,).

    **Guarantees:** the gradient's norm there is at most the tolerance, so the exact minimiser is at
    most tolerance / curvature away; otherwise RuntimeError. Newton's steps are halved until the
    gradient is shorter than before: short steps always shorten it, as the objective is strictly
    convex.
    """
    signed = labels[:, None] * rows
    theta = np.zeros(rows.shape[1])

    def slope(at: FloatArray) -> FloatArray:
        return curvature * at + linear - expit(-(signed @ at)) @ signed / len(rows)

    gradient = slope(theta)
    for _ in range(MAX_NEWTON_STEPS):
        length = np.linalg.norm(gradient)
        if length <= tolerance / 2:  # the other half covers rounding
            return theta
        chance = expit(signed @ theta)
        hessian = (signed.T * (chance * (1 - chance) / len(rows))) @ signed
        hessian[np.diag_indices_from(hessian)] += curvature
        try:
            step = np.linalg.solve(hessian, gradient)
        except np.linalg.LinAlgError as error:
            raise RuntimeError(NOT_REACHED) from error
        factor = 1.0
        after = slope(theta - step)
        while np.linalg.norm(after) >= length and factor > MIN_FACTOR:
            factor /= 2
            after = slope(theta - factor * step)
        theta = theta - factor * step
        gradient = after
    raise RuntimeError(NOT_REACHED)


BASELINE_TOLERANCE = 1e-10  # of the gradient's norm at the minimiser
MIN_CURVATURE = 1e-8  # with less, gradient descent replaces the solver
LONG_DESCENT = 20  # times the steps of a request, without a solver


def is_exact(task: Task) -> bool:
    """Return True if `best` is the minimiser, up to its tolerance."""
    return task.model.convex and task.regulariser >= MIN_CURVATURE


def best(task: Task, problem: Problem) -> FloatArray:
    """Return the minimiser (1, p) of the objective; without strong convexity, the end of long
    gradient descent.
    """
    if is_exact(task):
        return minimiser(problem.rows, problem.labels, task.regulariser, BASELINE_TOLERANCE)[None]
    rate = min(task.rate, task.most_rate)
    longer = replace(task, steps=LONG_DESCENT * task.steps, given_rate=rate)
    return descended(longer, problem.rows, problem.labels)


PERTURBED_TOLERANCE = 1e-7  # of the gradient's norm, for rows of norm 1


def learnt(task: Task, rows: FloatArray, labels: FloatArray) -> FloatArray:
    """Return the minimiser (p,) of the objective on these rows; without strong convexity, the end
    of descent.
    """
    length = float(np.sqrt((rows**2).sum(axis=1).mean()))
    if is_exact(task):
        return minimiser(rows, labels, task.regulariser, PERTURBED_TOLERANCE * max(1.0, length))
    return stepped(task, rows, labels, max(1.0, length**2))


def stepped(task: Task, rows: FloatArray, labels: FloatArray, square: float) -> FloatArray:
    """Return the parameters (p,) after T steps of gradient descent with rates over `square`."""
    return descended(replace(task, given_rate=task.rate / square), rows, labels)[0]
