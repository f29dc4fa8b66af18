"""Replacing one row moves the noisy quantity never beyond the bound, and near it for a hostile
pair.
"""

import mpmath
import numpy as np
import pytest

from dpcore.data.tabular.table import Problem
from dpcore.training.perturbation.methods.descent import OutputPerturbation
from dpcore.training.perturbation.methods.objective import ObjectivePerturbation
from dpcore.training.perturbation.minimisers import descended
from dpcore.training.perturbation.task import Task
from tests.training.perturbation.problems import random_problem, task_for


def replaced(problem: Problem, row: np.ndarray, label: float) -> Problem:
    """The neighbour whose first row is this one."""
    rows, labels = problem.rows.copy(), problem.labels.copy()
    rows[0], labels[0] = row, label
    return Problem(rows, labels, problem.test_rows, problem.test_labels)


def hostile_pair() -> tuple[Problem, Problem]:
    """All rows push theta along the first axis; the one that differs is misclassified either way,
    from two sides.
    """
    rows = np.tile([1.0, 0.0], (10_000, 1))
    labels = np.ones(10_000)
    labels[1] = -1.0
    rows[1] = 0.0
    near = 0.6
    one, other = np.array([near, 0.8]), np.array([near, -0.8])
    problem = Problem(rows, labels, rows, labels)
    return replaced(problem, one * (1 - 1e-12), -1.0), replaced(problem, other * (1 - 1e-12), -1.0)


def without_noise(task: Task, problem: Problem) -> np.ndarray:
    return descended(task, problem.rows, problem.labels)[0]


def test_descent_on_neighbours_ends_within_the_sensitivity() -> None:
    for regulariser in [0.0, 0.01, 0.3]:
        for rate in [None, 0.5, 9.0]:
            random = np.random.default_rng(3)
            problem = random_problem()
            task = task_for(problem, given_rate=rate, regulariser=regulariser)
            for _ in range(20):
                row = random.normal(size=4)
                neighbour = replaced(
                    problem, row / np.linalg.norm(row) * (1 - 1e-12), random.choice([-1.0, 1.0])
                )
                distance = np.linalg.norm(
                    without_noise(task, problem) - without_noise(task, neighbour)
                )
                assert 0 < distance <= OutputPerturbation().sensitivity(task), (regulariser, rate)


@pytest.mark.long
def test_a_hostile_pair_comes_near_the_sensitivity_of_output_perturbation() -> None:
    one, other = hostile_pair()
    task = task_for(one, regulariser=1e-3, steps=20_000)
    distance = np.linalg.norm(without_noise(task, one) - without_noise(task, other))
    assert (
        0.7 * OutputPerturbation().sensitivity(task)
        < distance
        <= OutputPerturbation().sensitivity(task)
    )


def test_gradients_of_neighbours_differ_by_at_most_the_sensitivity() -> None:
    for name in ["logistic", "mlp"]:
        random = np.random.default_rng(5)
        problem = random_problem()
        task = task_for(problem, model_name=name, clip_norm=0.3)
        for scale in (0.1, 1.0, 100.0):
            theta = scale * random.normal(size=(1, task.parameters))
            row = random.normal(size=4)
            neighbour = replaced(problem, row / np.linalg.norm(row) * (1 - 1e-12), -1.0)
            one, other = (
                task.model.gradients(theta, each.rows, each.labels, task.clipping)
                for each in (problem, neighbour)
            )
            assert np.linalg.norm(one - other) <= task.sensitivity, name


def test_a_hostile_pair_comes_near_the_sensitivity_of_a_gradient() -> None:
    one, other = hostile_pair()
    task = task_for(one)
    theta = np.array([[100.0, 0.0]])
    slopes = [task.model.gradients(theta, each.rows, each.labels) for each in (one, other)]
    assert 0.79 * task.sensitivity < np.linalg.norm(slopes[0] - slopes[1]) <= task.sensitivity


def test_clipped_gradients_of_the_network_reach_the_clip_norm_and_not_beyond() -> None:
    problem = random_problem()
    task = task_for(problem, model_name="mlp", clip_norm=0.01)
    theta = np.repeat(task.model.start(4)[None], problem.examples, axis=0)
    lengths = np.linalg.norm(
        task.model.row_gradients(theta, problem.rows, problem.labels, 0.01), axis=1
    )
    assert lengths.max() <= 0.01 * (1 + 1e-12)
    assert lengths.max() > 0.01 * (1 - 1e-12)


def test_the_minimiser_with_a_random_linear_term_keeps_epsilon_and_delta_in_one_dimension() -> None:
    # The density of the minimiser is known: that of b where it is the minimiser's, times how fast b
    # changes there.
    def density(row: float, noise: float, at: np.ndarray) -> np.ndarray:
        signed, curvature = np.array([row, 0.5, -0.3]), 3 * method.curvature(task, epsilon)
        chance = 1 / (1 + np.exp(signed[:, None] * at))
        b = (signed[:, None] * chance).sum(axis=0) - curvature * at
        speed = (signed[:, None] ** 2 * chance * (1 - chance)).sum(axis=0) + curvature
        return np.exp(-0.5 * (b / noise) ** 2) / (noise * np.sqrt(2 * np.pi)) * speed

    method, epsilon = ObjectivePerturbation(), 1.0
    problem = random_problem(examples=3, features=1, seed=4)
    task = task_for(problem, regulariser=10.0, delta=1e-3)
    at = np.linspace(-5, 5, 200_001)

    def delta(noise: float) -> float:
        one, other = density(1.0, noise, at), density(-1.0, noise, at)
        assert np.trapezoid(one, at) == pytest.approx(1, abs=1e-9)
        return float(np.trapezoid(np.maximum(one - np.exp(epsilon) * other, 0), at))

    noise = method.noise(task, epsilon)
    assert 0 < delta(noise) <= task.delta
    assert delta(noise / 3) > task.delta  # one axis has half of the sensitivity that two have


def test_the_sensitivity_of_output_perturbation_is_the_sum_of_its_powers_to_many_digits() -> None:
    for given_rate in [1.8e-3, 7.99, 8.01]:
        task = task_for(random_problem(), given_rate=given_rate, regulariser=6.4e-11, steps=9_110)
        with mpmath.workdps(60):
            rate, smooth, convex = (
                mpmath.mpf(each) for each in (task.rate, task.smoothness, task.regulariser)
            )
            factor = max(abs(1 - rate * convex), abs(1 - rate * smooth))
            exact = task.sensitivity * rate * (factor**task.steps - 1) / (factor - 1)
            assert abs(OutputPerturbation().sensitivity(task) / exact - 1) < 1e-10, given_rate
