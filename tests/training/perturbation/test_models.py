"""The gradients of the models against differences of their losses, and one row's against those of all."""

import numpy as np
import pytest

from dpcore.training.perturbation.models import MODELS
from tests.training.perturbation.problems import random_problem

PROBLEM = random_problem(examples=40, features=3)
STEP = 1e-6


def thetas_of(name: str, count: int) -> np.ndarray:
    """Parameters (count, p) away from where learning starts."""
    return 2 * np.random.default_rng(7).normal(size=(count, MODELS[name].parameters(PROBLEM.features)))


def differences(name: str, theta: np.ndarray) -> np.ndarray:
    """The slope (p,) of the mean loss by central differences."""
    steps = STEP * np.eye(len(theta))
    after, before = (MODELS[name].losses(theta + sign * steps, PROBLEM.rows, PROBLEM.labels, 0.0) for sign in (1, -1))
    return (after - before) / (2 * STEP)


def test_gradients_are_those_of_the_losses() -> None:
    for name in MODELS:
        thetas = thetas_of(name, 3)
        found = MODELS[name].gradients(thetas, PROBLEM.rows, PROBLEM.labels)
        assert found == pytest.approx(np.stack([differences(name, theta) for theta in thetas]), abs=1e-8), name


def test_the_mean_of_single_rows_clipped_gradients_is_that_of_all_rows() -> None:
    for clip_norm in [None, 0.02, 0.3, 1e3]:
        for name in MODELS:
            model, count = MODELS[name], PROBLEM.examples
            (theta,) = thetas_of(name, 1)
            alone = model.row_gradients(np.repeat(theta[None], count, axis=0), PROBLEM.rows, PROBLEM.labels, clip_norm)
            (mean,) = model.gradients(theta[None], PROBLEM.rows, PROBLEM.labels, clip_norm)
            assert alone.mean(axis=0) == pytest.approx(mean, rel=1e-12, abs=1e-15), (clip_norm, name)
            free = model.row_gradients(np.repeat(theta[None], count, axis=0), PROBLEM.rows, PROBLEM.labels)
            lengths = np.linalg.norm(free, axis=1, keepdims=True)
            short = free if clip_norm is None else free / np.maximum(1, lengths / clip_norm)
            assert alone == pytest.approx(short, rel=1e-12, abs=1e-15), (clip_norm, name)


@pytest.mark.parametrize("name", MODELS)
def test_only_a_linear_score_leaves_every_row_a_hessian_of_rank_one_and_no_more_than_the_smoothness(name: str) -> None:
    model = MODELS[name]
    (theta,) = thetas_of(name, 1)
    steps = STEP * np.eye(len(theta))
    row = PROBLEM.rows[:1]
    after, before = (model.gradients(theta + sign * steps, row, np.ones(1)) for sign in (1, -1))
    sizes = np.sort(np.abs(np.linalg.eigvalsh((after - before) / (2 * STEP))))[::-1]
    assert (sizes[1] < 1e-8) == model.linear
    assert model.smoothness is None or sizes[0] <= model.smoothness
