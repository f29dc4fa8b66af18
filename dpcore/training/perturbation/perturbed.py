"""Learning from rows that were perturbed: whatever is done with them costs no privacy."""

from dataclasses import replace

import numpy as np

from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.baseline import is_exact
from dpcore.training.perturbation.descent import descended, minimiser
from dpcore.training.perturbation.task import Task

TOLERANCE = 1e-7  # of the gradient's length, for rows of norm 1


def learnt(task: Task, rows: FloatArray, labels: FloatArray) -> FloatArray:
    """The minimiser (p,) of the objective on these rows; where none is to be found, what descent ends at."""
    length = float(np.sqrt((rows**2).sum(axis=1).mean()))
    if is_exact(task):
        return minimiser(rows, labels, task.regulariser, TOLERANCE * max(1.0, length))
    return stepped(task, rows, labels, max(1.0, length**2))


def stepped(task: Task, rows: FloatArray, labels: FloatArray, square: float) -> FloatArray:
    """The parameters (p,) after T steps of gradient descent, shorter by the rows' mean squared norm."""
    shorter = replace(task, given_rate=task.rate / square)
    start = task.model.start(task.features)[None]
    return descended(shorter, start, lambda thetas: task.model.gradients(thetas, rows, labels))[0]
