"""Small problems and settings for the tests of the perturbation methods."""

import numpy as np

from dpcore.data.tabular.table import Problem
from dpcore.training.perturbation.noise import Stream, stream_of
from dpcore.training.perturbation.task import Task


def random_problem(examples: int = 60, features: int = 4, seed: int = 0) -> Problem:
    """Rows in the unit ball whose classes overlap."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(2 * examples, features))
    rows /= 2 * np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.where(rows[:, 0] + 0.3 * random.normal(size=len(rows)) > 0, 1.0, -1.0)
    return Problem(rows[:examples], labels[:examples], rows[examples:], labels[examples:])


def task_for(problem: Problem, **settings) -> Task:
    """Return the public facts of a fit on the problem."""
    known = {
        "model_name": "logistic",
        "examples": problem.examples,
        "features": problem.features,
        "delta": 1e-5,
        "steps": 50,
        "given_rate": None,
        "regulariser": 0.01,
        "clip_norm": 1.0,
    }
    return Task(**known | settings)


def streams(count: int, start: int = 1) -> list[Stream]:
    """As many streams of a fixed start."""
    return [stream_of(start, {"number": number}) for number in range(count)]
