"""Noise and conditions where a request goes to the ends of its ranges: a number, or a sentence."""

import itertools
import math

import pytest

from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.methods.objective import ObjectivePerturbation
from dpcore.training.perturbation.request import (
    LEAST_EPSILON,
    MOST_EPSILON,
    MOST_RATE,
    MOST_REGULARISER,
    MOST_STEPS,
)
from dpcore.training.perturbation.task import Task

EPSILONS = (LEAST_EPSILON, 1.0, 1e4, MOST_EPSILON)
CORNERS = [
    Task(model, examples, 5, delta, steps, rate, regulariser, clip_norm)
    for (model, clip_norm), examples, delta, (steps, rate), regulariser in itertools.product(
        [("logistic", 1.0), ("mlp", 1e-6), ("mlp", 1e6)],
        [2, 70_000],
        [1e-60, 0.999999],
        [(1, 1e-300), (MOST_STEPS, None), (MOST_STEPS, MOST_RATE)],
        [0.0, MOST_REGULARISER],
    )
]


@pytest.mark.parametrize("name", METHODS)
def test_noise_is_finite_or_a_sentence_at_the_ends_of_all_ranges(name: str) -> None:
    method = METHODS[name]
    for task, epsilon in itertools.product(CORNERS, EPSILONS):
        assert all(each.said for each in method.conditions(task, epsilon))
        if name == "output" and task.rate == MOST_RATE:
            with pytest.raises(RuntimeError, match="lower the step size or the steps"):
                method.noise(task, epsilon)
        else:
            assert math.isfinite(noise := method.noise(task, epsilon))
            assert noise > 0 or name == "none"


def test_without_a_regulariser_the_curvature_stays_a_number_and_leaves_most_of_a_large_epsilon() -> None:
    for epsilon in [1300.0, 1400.0, 3000.0, 1e4, MOST_EPSILON]:
        method, task = ObjectivePerturbation(), Task("logistic", 70_000, 5, 1e-5, 50, None, 0.0, 1.0)
        curvature = method.curvature(task, epsilon)
        assert curvature > 1e-300, epsilon
        assert math.log1p(0.25 / (task.examples * curvature)) <= epsilon / 2, epsilon
        assert math.isfinite(method.hiding(task, epsilon)), epsilon
