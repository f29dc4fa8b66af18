"""The noise that each method really draws, against the formula, and the formula against sixty
digits.
"""

import dataclasses
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.perturbation.methods import METHODS, input_noise
from dpcore.training.perturbation.methods.base import Fits
from dpcore.training.perturbation.methods.bassily import BassilyDescent
from dpcore.training.perturbation.methods.input_noise import LocalInputPerturbation
from dpcore.training.perturbation.methods.objective import ObjectivePerturbation
from dpcore.training.perturbation.task import Task
from tests.reference import gaussian_delta
from tests.training.perturbation.problems import random_problem, streams, task_for

PROBLEM = random_problem()
FITS = 300
EPSILON = 0.5


def gradient_at(task: Task, thetas: np.ndarray) -> np.ndarray:
    return task.model.gradients(thetas, PROBLEM.rows, PROBLEM.labels)


def drawn_by_output(patch: pytest.MonkeyPatch) -> tuple[Task, np.ndarray]:
    task = task_for(PROBLEM)
    thetas = METHODS["output"].fit(Fits(task, PROBLEM, [EPSILON] * FITS, streams(FITS)))
    theta = np.zeros((1, task.parameters))
    for _ in range(task.steps):
        theta = theta - task.rate * (gradient_at(task, theta) + task.regulariser * theta)
    return task, thetas - theta


def drawn_by_objective(patch: pytest.MonkeyPatch) -> tuple[Task, np.ndarray]:
    task = task_for(PROBLEM)
    method = ObjectivePerturbation()
    thetas = method.fit(Fits(task, PROBLEM, [EPSILON] * FITS, streams(FITS)))
    # Where the gradient of the perturbed objective is 0, its linear term is what is missing to 0.
    return task, -task.examples * (
        gradient_at(task, thetas) + method.curvature(task, EPSILON) * thetas
    )


def drawn_by_gradient(patch: pytest.MonkeyPatch) -> tuple[Task, np.ndarray]:
    task = task_for(PROBLEM, steps=1)
    thetas = METHODS["gradient"].fit(Fits(task, PROBLEM, [EPSILON] * FITS, streams(FITS)))
    return task, thetas / -task.rate - gradient_at(task, np.zeros((1, task.parameters)))


def drawn_by_bassily(patch: pytest.MonkeyPatch) -> tuple[Task, np.ndarray]:
    task = task_for(PROBLEM)
    patch.setattr(BassilyDescent, "steps", lambda method, task: 1)
    patch.setattr(BassilyDescent, "radius", lambda method, task: np.inf)
    thetas = METHODS["bassily"].fit(Fits(task, PROBLEM, [EPSILON] * FITS, streams(FITS)))
    picked = [int(each.uniforms(1)[0] * task.examples) for each in streams(FITS)]
    slopes = -0.5 * PROBLEM.labels[picked, None] * PROBLEM.rows[picked]  # at 0, of single rows
    return task, -thetas * task.examples * task.regulariser - task.examples * slopes


def drawn_by_input(patch: pytest.MonkeyPatch) -> tuple[Task, np.ndarray]:
    task, method = task_for(PROBLEM), LocalInputPerturbation()
    return (
        task,
        np.stack([method.perturbed(task, PROBLEM, EPSILON, each)[0] for each in streams(5)])
        - PROBLEM.rows,
    )


def drawn_by_paper_input(patch: pytest.MonkeyPatch) -> tuple[Task, np.ndarray]:
    task, seen = task_for(PROBLEM), []
    patch.setattr(
        input_noise, "stepped", lambda task, rows, labels, square: seen.append(rows) or rows[0]
    )
    METHODS["paper_input"].fit(Fits(task, PROBLEM, [EPSILON] * 5, streams(5)))
    return task, np.stack(seen) - PROBLEM.rows


DRAWN: dict[str, Callable[[pytest.MonkeyPatch], tuple[Task, np.ndarray]]] = {
    "output": drawn_by_output,
    "objective": drawn_by_objective,
    "gradient": drawn_by_gradient,
    "bassily": drawn_by_bassily,
    "input": drawn_by_input,
    "paper_input": drawn_by_paper_input,
}


def test_every_method_with_noise_is_tested() -> None:
    assert set(DRAWN) == set(METHODS) - {"none"}


@pytest.mark.parametrize("name", DRAWN)
def test_noise_has_the_standard_deviation_of_the_formula_and_not_two_thirds_or_three_halves_of_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, noise = DRAWN[name](monkeypatch)
    assert noise.size >= 1000
    scaled = noise.reshape(-1) / METHODS[name].noise(task, EPSILON)
    assert stats.kstest(scaled, "norm").pvalue > 1e-3
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(scaled * wrong, "norm").pvalue < 1e-6


def test_what_the_solver_leaves_open_is_hidden_by_noise_of_its_own() -> None:
    task, method = task_for(PROBLEM), ObjectivePerturbation()
    linear = method.noise(task, EPSILON) * np.stack(
        [each.normals(task.parameters) for each in streams(FITS)]
    )
    fits = Fits(task, PROBLEM, [EPSILON] * FITS, streams(FITS))
    minima = method.minima(fits, linear / task.examples)
    hidden = method.fit(fits) - minima
    scaled = hidden.reshape(-1) / method.hiding(task, EPSILON)
    assert stats.kstest(scaled, "norm").pvalue > 1e-3
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(scaled * wrong, "norm").pvalue < 1e-6


def test_labels_are_flipped_as_often_as_their_half_of_epsilon_asks_for() -> None:
    problem = random_problem(examples=20_000)
    method, task = LocalInputPerturbation(), task_for(problem)
    _, labels = method.perturbed(task, problem, 2.0, streams(1)[0])
    flipped = int((labels != problem.labels).sum())
    chance = 1 / (1 + np.e)
    assert stats.binomtest(flipped, task.examples, chance).pvalue > 1e-3
    for wrong in (2 / 3, 3 / 2):
        assert stats.binomtest(flipped, task.examples, chance * wrong).pvalue < 1e-6


def test_randomised_response_keeps_its_half_of_epsilon_at_every_epsilon() -> None:
    for epsilon in [0.01, 1.0, 30.0, 60.0, 80.0, 2000.0]:
        flips = LocalInputPerturbation().flips(epsilon)
        assert flips > 0, epsilon
        assert mpmath.log((1 - mpmath.mpf(flips)) / flips) <= epsilon / 2, epsilon
        # A chance that the generator has exactly.
        assert flips * 2**53 == round(flips * 2**53), epsilon


def test_what_one_row_can_change_over_the_noise_spends_delta_and_no_more() -> None:
    for epsilon in [0.01, 0.25, 1.0, 8.0]:
        task = task_for(PROBLEM)
        n, dl, rate = task.examples, task.regulariser, task.rate
        reach = 2 / (n * dl) * (1 - (1 - rate * dl) ** task.steps)  # of output perturbation
        spent = {
            "output": gaussian_delta(epsilon, reach / METHODS["output"].noise(task, epsilon)),
            "gradient": gaussian_delta(
                epsilon, 2 / n * task.steps**0.5 / METHODS["gradient"].noise(task, epsilon)
            ),
            "input": gaussian_delta(epsilon / 2, 2 / METHODS["input"].noise(task, epsilon)),
        }
        for name, delta in spent.items():
            assert task.delta * (1 - 1e-5) < delta <= task.delta, name


def test_the_certified_band_of_the_steps_of_gradient_perturbation_holds_its_epsilon() -> None:
    for epsilon in [0.01, 0.25, 1.0, 8.0]:
        task = task_for(PROBLEM)
        sigma = METHODS["gradient"].noise(task, epsilon) * task.examples / (2 * task.lipschitz)
        band, less = (
            ACCOUNTANTS["pld"]
            .curve(Mechanism.constant(1.0, noise, task.steps), task.steps, task.delta)
            .last
            for noise in (sigma, 0.99 * sigma)
        )
        assert band.lower <= epsilon <= band.value, epsilon
        assert band.value == pytest.approx(epsilon, rel=1e-3), epsilon
        assert less.lower > epsilon, epsilon


def test_objective_perturbation_spends_delta_in_the_sum_of_its_three_corners() -> None:
    for epsilon in [0.01, 0.25, 1.0, 8.0]:
        task, method = task_for(PROBLEM), ObjectivePerturbation()
        left = 0.999 * epsilon - float(
            np.log1p(0.25 / (task.examples * method.curvature(task, epsilon)))
        )
        mu = 2 / method.noise(task, epsilon)
        delta = float(gaussian_delta(left, mu) + 2 * gaussian_delta(left, mu / 2))
        assert left >= 0.49 * epsilon, epsilon
        assert 0.999 * task.delta * (1 - 1e-5) < delta <= 0.999 * task.delta, epsilon
        rest = 2 * 1e-9 / method.curvature(task, epsilon)  # how far two solvers' rests can be apart
        assert (
            gaussian_delta(0.001 * epsilon, rest / method.hiding(task, epsilon))
            <= 0.001 * task.delta
        ), epsilon


def test_noise_of_single_rows_is_the_theorems_in_units_of_n_times_a_gradient() -> None:
    task = task_for(PROBLEM)
    variance = 32 * task.examples**2 * np.log(task.examples / 1e-5) * np.log(1e5) / EPSILON**2
    assert METHODS["bassily"].noise(task, EPSILON) == pytest.approx(variance**0.5, rel=1e-6)


def test_the_papers_formula_is_its_equation_nine() -> None:
    task = task_for(PROBLEM)
    variance = task.steps * np.log(1e5) / (60 * 59 * 0.01**0.5 * EPSILON**2)
    assert METHODS["paper_input"].noise(task, EPSILON) == pytest.approx(variance**0.5, rel=1e-12)


def test_a_feature_of_0_is_handed_over_with_no_more_digits_than_one_that_cancels() -> None:
    rows = np.zeros((1000, 3))
    rows[:, 2] = 1 / 3.5
    labels = np.where(np.arange(1000) % 2, 1.0, -1.0)
    problem = dataclasses.replace(PROBLEM, rows=rows, labels=labels)
    task = task_for(problem)
    handed, _ = LocalInputPerturbation().perturbed(task, problem, 8.0, streams(1)[0])
    assert np.array_equal(handed, handed.astype(np.float32))
