"""DP-AdamBC: its formula, that what it subtracts is the variance of what is drawn, and that this leaves no bias."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from dpcore.training.optimizers import OPTIMIZERS, Hyperparameters
from dpcore.training.optimizers.adam_bc import FLOOR, TINY
from dpcore.training.optimizers.base import State, begin
from tests.training.small_runs import CNN, run_of, walked

RULES = OPTIMIZERS["adam_bc"].rules(Hyperparameters())
STEPS = 30
FALLING = {"schedule": "exponential", "rate": 0.1, "level_steps": 2}


def averages(terms: np.ndarray, decay: float) -> np.ndarray:
    """The exponential averages of the first 1, 2, ... terms (T, ...), each with weights that add up to 1: (T, ...)."""
    found = []
    for t in range(1, len(terms) + 1):
        weights = decay ** np.arange(t)[::-1]
        found.append(np.tensordot(weights / weights.sum(), terms[:t], 1))
    return np.stack(found)


def by_definition(gradients: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """m_hat / sqrt(max(v_hat - average variance, gamma)) of each step (T, d), and where gamma is the smaller."""
    corrected = averages(gradients**2, 0.999) - averages(variances, 0.999)[:, None]
    floors = np.broadcast_to(FLOOR * variances[:, None] + TINY, corrected.shape)
    return averages(gradients, 0.9) / np.sqrt(np.maximum(corrected, floors)), corrected > floors


def steps_of(gradients: np.ndarray, variances: np.ndarray, dtype: torch.dtype = torch.float64) -> np.ndarray:
    """The optimizer's own steps, divided by -lr: (T, d)."""
    state, steps = begin(RULES, torch.tensor(gradients[0], dtype=dtype)), []
    for gradient, variance in zip(gradients, variances, strict=True):
        step, state = walked(
            RULES, torch.tensor(gradient, dtype=dtype), state._replace(variance=float(variance)), lr=0.5
        )
        steps.append(step.double().numpy() / -0.5)
    return np.stack(steps)


def noisy_gradients(variances: np.ndarray) -> np.ndarray:
    """Gradients of several sizes with noise of these variances: (T, 50)."""
    noise = np.random.default_rng(5).standard_normal((len(variances), 50))
    return np.geomspace(1e-6, 1e-2, 50) + noise * np.sqrt(variances)[:, None]


@pytest.mark.parametrize(
    "variances",
    [np.full(STEPS, 1e-6), np.geomspace(1e-5, 1e-8, STEPS), np.tile([1e-5, 1e-9], STEPS // 2), np.zeros(STEPS)],
    ids=["constant", "falling", "alternating", "none"],
)
def test_a_step_is_that_of_the_formula_with_the_variance_that_was_averaged(variances: np.ndarray):
    gradients = noisy_gradients(variances)
    expected, above = by_definition(gradients, variances)
    assert above.any()
    assert above.all() == (not variances.any())  # both sides of the maximum
    np.testing.assert_allclose(steps_of(gradients, variances), expected, rtol=1e-9)
    others = [np.full(STEPS, variances[-1]), np.full(STEPS, variances.mean()), 1.1 * variances, np.full(STEPS, 1e-7)]
    for other in others:
        if not np.allclose(other, variances, rtol=1e-9, atol=0):
            assert np.abs(by_definition(gradients, other)[0] / expected - 1).max() > 0.01


def test_float32_holds_what_is_left_of_a_square_when_the_variance_is_subtracted():
    variances = np.full(300, 1e-6)
    gradients = noisy_gradients(variances)
    expected, _ = by_definition(gradients, variances)
    np.testing.assert_allclose(steps_of(gradients, variances, torch.float32), expected, rtol=1e-3, atol=1e-5)


def subtracted(steps: int, **options) -> tuple[list[float], list[torch.Tensor]]:
    """The variances that a run's steps are told of, and the gradients that they belong to."""
    run, variances, gradients = run_of(dataclasses.replace(CNN, optimizer="adam_bc", lr=1e-4, **options)), [], []
    absorb, move = run.descent.optimizer.absorb, run.descent.optimizer.step

    def recording(gradient: torch.Tensor, state: State) -> None:
        variances.append(state.variance)
        gradients.append(gradient.clone())
        absorb(gradient, state)

    def moving(parameters, gradient: torch.Tensor, state: State, lr: float, scale: None) -> None:
        assert state.variance == variances[-1]  # gamma is a share of it
        move(parameters, gradient, state, lr, scale)

    run.descent.optimizer = run.descent.optimizer._replace(absorb=recording, step=moving)
    for step in range(1, steps + 1):
        run.descend(step, run.train[0][:0], run.train[1][:0])  # an empty batch: noise and nothing else
    return variances, gradients


@pytest.mark.parametrize("options", [{}, FALLING, {"clipping": "per_layer"}, {"batch": 20}], ids=str)
def test_what_is_subtracted_is_the_variance_of_what_is_drawn_in_that_step(options, stds):
    variances, gradients = subtracted(4, sigma=1.7, clip_norm=3.0, **options)
    batch = options.get("batch", CNN.batch)
    np.testing.assert_allclose(variances, np.square(stds) / batch**2, rtol=1e-12)
    assert (len(set(stds)) > 1) == (options is FALLING)
    for variance, gradient in zip(variances, gradients, strict=True):
        error = math.sqrt(2 / len(gradient))  # of an estimate of a variance, as a part of it
        estimate = gradient.double().square().mean().item()
        assert abs(estimate / variance - 1) < 5 * error
        for wrong in (batch, 1 / batch, 4 / 9, 9 / 4, 1.1):
            assert abs(estimate / (variance * wrong) - 1) > 5 * error
