"""The smallest loss without noise, L*, which optimality gaps are measured from."""

from dataclasses import replace

from dpcore.data.tabular.table import Problem
from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.descent import descended, minimiser
from dpcore.training.perturbation.task import Task

TOLERANCE = 1e-10  # of the gradient's length at the minimiser
LEAST_CURVATURE = 1e-8  # where the objective has less, steps are counted instead
LONG = 20  # times the steps of a request, where no minimiser is to be found


def is_exact(task: Task) -> bool:
    """Whether `best` is the minimiser, up to a gradient of TOLERANCE."""
    return task.model.convex and task.regulariser >= LEAST_CURVATURE


def best(task: Task, problem: Problem) -> FloatArray:
    """The minimiser (1, p) of the objective; where it is not strongly convex, what long gradient descent ends at."""
    if is_exact(task):
        return minimiser(problem.rows, problem.labels, task.regulariser, TOLERANCE)[None]
    return descended(
        replace(task, steps=LONG * task.steps, given_rate=min(task.rate, task.most_rate)),
        task.model.start(task.features)[None],
        lambda thetas: task.model.gradients(thetas, problem.rows, problem.labels),
    )
