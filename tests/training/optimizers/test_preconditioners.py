"""Optimizers with a public diagonal D, and DP-AdamBC: formulas, D, allowed inputs, subtracted
variances.
"""

import dataclasses
import math

import numpy as np
import pytest
import torch
from scipy import stats

from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.adam_bc import FLOOR, TINY
from dpcore.training.optimizers.adppl import allot
from dpcore.training.optimizers.base import State, begin
from dpcore.training.plan import plan
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from tests.training.oracles import batch, one_at_a_time
from tests.training.small_runs import (
    CNN,
    mechanism_of,
    module_of,
    noise_of,
    of_both_suites,
    run_of,
    scale_after,
    walked,
)

PI = ("pi_adam", "pi_rmsprop", "pi_adagrad")
SCALED = (*PI, "adadp")
GRADIENTS = [torch.randn(50, generator=torch.Generator().manual_seed(seed)) for seed in range(30)]


def of(name: str, momentum: float = 0.9, reading: str = "scaled"):
    return OPTIMIZERS[name].rules(momentum, reading)


def history(name: str, gradients: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """f and s of Table 1 after the gradients, from their definitions as sums."""
    t, last = len(gradients), gradients[-1]
    ages = np.arange(t)[::-1][:, None]
    squares = np.stack(gradients) ** 2
    if name == "pi_adagrad":
        return last, squares.sum(0)
    decay = {"pi_adam": 0.999, "pi_rmsprop": 0.99, "adadp": 0.99}[name]
    s = ((1 - decay) * decay**ages * squares).sum(0) / (1 - decay**t)
    if name != "pi_adam":
        return last, s
    return (0.1 * 0.9**ages * np.stack(gradients)).sum(0) / (1 - 0.9**t), s


@pytest.mark.parametrize("name", SCALED)
def test_steps_and_scales_are_those_of_the_formulas(name):
    optimizer = of(name)
    state = begin(optimizer, GRADIENTS[0])
    assert scale_after(optimizer, state) is None
    for t in range(1, 31):
        step, state = walked(optimizer, GRADIENTS[t - 1], state, 0.1)
        f, s = history(name, [g.double().numpy() for g in GRADIENTS[:t]])
        spread = np.sqrt(s) + math.sqrt(s.mean())
        damped = np.sqrt(s) if name == "adadp" else spread
        torch.testing.assert_close(
            step.double(), torch.tensor(-0.1 * f / damped), rtol=1e-4, atol=1e-7
        )
        scale = scale_after(optimizer, state)
        if name == "adadp" and t < 20:
            assert scale is None
        else:
            expected = torch.tensor(spread / (2 * math.sqrt(s.mean())))
            torch.testing.assert_close(scale.double(), expected, rtol=1e-4, atol=0)


def test_the_scale_is_above_zero_and_finite_whatever_the_history():
    for gradient in [torch.zeros(50), torch.eye(50)[0] * 1e-12, torch.eye(50)[0] * 1e12]:
        for name in SCALED:
            optimizer = of(name)
            state = begin(optimizer, gradient)
            for _ in range(25):
                step, state = walked(optimizer, gradient, state, 0.1)
            scale = scale_after(optimizer, state)
            assert scale is not None, (gradient, name)
            assert torch.isfinite(step).all(), (gradient, name)
            assert torch.isfinite(scale).all(), (gradient, name)
            assert scale.min() >= 0.49, (gradient, name)
            assert scale.square().mean() <= 1 + 1e-5, (gradient, name)


def test_the_scale_of_adppl_is_in_proportion_to_the_root_of_one_over_relevance():
    optimizer = of("adppl")
    relevance = torch.linspace(0.1, 5, 50)
    state = begin(optimizer, GRADIENTS[0])
    allot(state, relevance)
    scale = optimizer.scale(state)
    product = scale.square() * relevance
    torch.testing.assert_close(product, product[:1].expand(50), rtol=1e-5, atol=0)
    # The noise is moved, not lowered.
    assert scale.square().sum().item() == pytest.approx(50, rel=1e-5)
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="relevance"):
            allot(state, torch.full((50,), wrong))


def allot_at_random(run) -> None:
    """Some relevance for each parameter."""
    size, generator = len(run.engine.parameters), torch.Generator().manual_seed(0)
    allot(run.descent.state, torch.rand(size, generator=generator) + 0.01)
    run.descent.restore(run.descent.state)


@pytest.mark.parametrize("name", of_both_suites([*SCALED, "adppl"]))
def test_the_noise_on_the_scaled_sum_has_the_std_that_is_charged_and_no_other(name):
    config = dataclasses.replace(CNN, optimizer=name, sigma=1.7, clip_norm=3.0, lr=0.01, epochs=1)
    noise, scale = noise_of(config, 23, allot_at_random if name == "adppl" else lambda run: None)
    assert scale is not None
    assert scale.std() > 0.01
    assert stats.kstest(noise, stats.norm(0, 1.7 * 3.0).cdf).pvalue > 1e-6
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(noise, stats.norm(0, 1.7 * 3.0 * wrong).cdf).pvalue < 1e-9


@pytest.mark.parametrize("name", of_both_suites([*SCALED, "adppl"]))
def test_clipping_and_noise_of_a_step_use_the_same_scale_also_after_a_restore(name, monkeypatch):
    run = run_of(dataclasses.replace(CNN, optimizer=name, lr=0.01, epochs=1))
    if name == "adppl":
        allot_at_random(run)
    for step in range(1, 22):
        run.step(step)
    state, inverses, scales = run.descent.snapshot(), [], []
    clipped_sum, add = run.engine.clipped_sum, GaussianNoise.add

    def clipping(x, y, clipping, inverse=None, *others):
        inverses.append(inverse.clone())
        return clipped_sum(x, y, clipping, inverse, *others)

    def noise(own, piece, target, std, scale=None):
        scales.append(scale.clone())
        add(own, piece, target, std, scale)

    monkeypatch.setattr(run.engine, "clipped_sum", clipping)
    monkeypatch.setattr(GaussianNoise, "add", noise)
    run.step(22)
    run.descent.restore(state)
    run.step(23)
    run.step(24)
    for inverse, scale in zip(inverses, scales, strict=True):
        assert scale.std() > 0.01
        torch.testing.assert_close(inverse, scale**-2, rtol=1e-5, atol=0)
    assert torch.equal(inverses[0], inverses[1])
    assert torch.equal(inverses[1], inverses[2]) == (name == "adppl")


@pytest.mark.parametrize("name", of_both_suites([*SCALED, "adppl"]))
def test_neighbouring_batches_move_the_scaled_sum_by_at_most_what_is_charged(name):
    for clipping in ("flat", "auto_s", "per_layer"):
        assert_charged(
            dataclasses.replace(CNN, optimizer=name, clipping=clipping, lr=0.01, epochs=1)
        )


def assert_charged(config: RunConfig) -> None:
    run, name = run_of(config), config.optimizer
    if name == "adppl":
        allot_at_random(run)
    for step in range(1, 23):
        run.step(step)
    descent, (x, y) = run.descent, run.train
    scale = scale_after(descent.optimizer, descent.state)
    assert scale is not None
    mechanism = mechanism_of(run.config)
    bound = run.config.clip_norm * run.config.sigma / mechanism.releases[-1].sigma  # as charged
    for i in range(3):
        sums = [
            run.engine.clipped_sum(x[i:n], y[i:n], descent.clipping, scale**-2).total / scale
            for n in (70, 71)
        ]
        assert (sums[1].double() - sums[0].double()).norm() <= bound * (1 + 1e-5)


@pytest.mark.parametrize("name", PI)
def test_the_literal_step_is_that_of_a_loop_over_examples(name):
    config = dataclasses.replace(
        CNN, optimizer=name, reading="literal", sigma=0.0, clip_norm=2.0, lr=0.1
    )
    run = run_of(config)
    x, y = batch((1, 28, 28), 7)
    seen = []
    for step in range(1, 4):
        rows = one_at_a_time(module_of(run), x, y).double().numpy()
        directions = []
        for row in rows:
            f, s = history(name, [*seen, row])
            direction = f / (np.sqrt(s) + 1e-8)
            directions.append(direction * min(1, 2.0 / np.linalg.norm(direction)))
        mean = np.sum(directions, 0) / config.batch
        before = run.engine.parameters.double().numpy().copy()
        run.descend(step, x, y)
        moved = run.engine.parameters.double().numpy() - before
        # Signs of nearly zero gradients.
        assert np.linalg.norm(moved + 0.1 * mean) < 0.02 * np.linalg.norm(0.1 * mean)
        seen.append(mean)  # R2a: the history absorbs the released direction


@pytest.mark.parametrize("name", PI)
def test_the_raw_history_is_that_of_gradients_without_noise_and_the_others_never_see_them(name):
    config = dataclasses.replace(CNN, optimizer=name, clip_norm=0.5, lr=0.1, sigma=50.0)
    x, y = batch((1, 28, 28), 70)
    found = {}
    for reading in ("raw", "literal"):
        run = run_of(dataclasses.replace(config, reading=reading))
        plain = one_at_a_time(module_of(run), x, y).sum(0) / config.batch
        run.descend(1, x, y)
        history_now = run.descent.state.vectors[-1]
        weight = {"pi_adam": 0.001, "pi_rmsprop": 0.01, "pi_adagrad": 1.0}[name]
        found[reading] = (history_now / weight).sqrt()
        torch.testing.assert_close(found["raw"], plain.abs(), rtol=1e-3, atol=1e-6)
        assert (run.descent.optimizer.peek is None) == (reading == "literal")
    assert found["literal"].norm() > 10 * found["raw"].norm()  # noise of sigma 50
    assert plan(run_of(dataclasses.replace(config, reading="raw")).config).mechanism is None


def test_only_the_raw_reading_sees_more_than_what_was_released():
    for name in OPTIMIZERS:
        assert of(name).peek is None, name
        if name in PI:
            assert of(name, reading="literal").peek is None, name
            assert of(name, reading="raw").peek is not None, name


RULES = of("adam_bc")
STEPS = 30
FALLING = {"schedule": "exponential", "rate": 0.1, "level_steps": 2}


def averages(terms: np.ndarray, decay: float) -> np.ndarray:
    """The exponential averages of the first 1, 2, ... terms (T, ...), each with weights that add up
    to 1: (T, ...).
    """
    found = []
    for t in range(1, len(terms) + 1):
        weights = decay ** np.arange(t)[::-1]
        found.append(np.tensordot(weights / weights.sum(), terms[:t], 1))
    return np.stack(found)


def by_definition(gradients: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """m_hat / sqrt(max(v_hat - average variance, gamma)) of each step (T, d), and where gamma is
    the smaller.
    """
    corrected = averages(gradients**2, 0.999) - averages(variances, 0.999)[:, None]
    floors = np.broadcast_to(FLOOR * variances[:, None] + TINY, corrected.shape)
    return averages(gradients, 0.9) / np.sqrt(np.maximum(corrected, floors)), corrected > floors


def steps_of(
    gradients: np.ndarray, variances: np.ndarray, dtype: torch.dtype = torch.float64
) -> np.ndarray:
    """The optimizer's own steps, divided by -lr: (T, d)."""
    state, steps = begin(RULES, torch.tensor(gradients[0], dtype=dtype)), []
    for gradient, variance in zip(gradients, variances, strict=True):
        step, state = walked(
            RULES,
            torch.tensor(gradient, dtype=dtype),
            state._replace(variance=float(variance)),
            lr=0.5,
        )
        steps.append(step.double().numpy() / -0.5)
    return np.stack(steps)


def noisy_gradients(variances: np.ndarray) -> np.ndarray:
    """Gradients of several sizes with noise of these variances: (T, 50)."""
    noise = np.random.default_rng(5).standard_normal((len(variances), 50))
    return np.geomspace(1e-6, 1e-2, 50) + noise * np.sqrt(variances)[:, None]


@pytest.mark.parametrize(
    "variances",
    [
        np.full(STEPS, 1e-6),
        np.geomspace(1e-5, 1e-8, STEPS),
        np.tile([1e-5, 1e-9], STEPS // 2),
        np.zeros(STEPS),
    ],
    ids=["constant", "falling", "alternating", "none"],
)
def test_a_step_is_that_of_the_formula_with_the_variance_that_was_averaged(variances: np.ndarray):
    gradients = noisy_gradients(variances)
    expected, above = by_definition(gradients, variances)
    assert above.any()
    assert above.all() == (not variances.any())  # both sides of the maximum
    np.testing.assert_allclose(steps_of(gradients, variances), expected, rtol=1e-9)
    others = [
        np.full(STEPS, variances[-1]),
        np.full(STEPS, variances.mean()),
        1.1 * variances,
        np.full(STEPS, 1e-7),
    ]
    for other in others:
        if not np.allclose(other, variances, rtol=1e-9, atol=0):
            assert np.abs(by_definition(gradients, other)[0] / expected - 1).max() > 0.01


def test_float32_holds_what_is_left_of_a_square_when_the_variance_is_subtracted():
    variances = np.full(300, 1e-6)
    gradients = noisy_gradients(variances)
    expected, _ = by_definition(gradients, variances)
    np.testing.assert_allclose(
        steps_of(gradients, variances, torch.float32), expected, rtol=1e-3, atol=1e-5
    )


def subtracted(steps: int, **options) -> tuple[list[float], list[torch.Tensor]]:
    """The variances in a run's steps, with their gradients."""
    run, variances, gradients = (
        run_of(dataclasses.replace(CNN, optimizer="adam_bc", lr=1e-4, **options)),
        [],
        [],
    )
    absorb, move = run.descent.optimizer.absorb, run.descent.optimizer.step

    def recording(gradient: torch.Tensor, state: State) -> None:
        variances.append(state.variance)
        gradients.append(gradient.clone())
        absorb(gradient, state)

    def moving(parameters, gradient: torch.Tensor, state: State, lr: float) -> None:
        assert state.variance == variances[-1]  # gamma is a share of it
        move(parameters, gradient, state, lr)

    run.descent.optimizer = run.descent.optimizer._replace(absorb=recording, step=moving)
    for step in range(1, steps + 1):
        # An empty batch: noise and nothing else.
        run.descend(step, run.train[0][:0], run.train[1][:0])
    return variances, gradients


@pytest.mark.parametrize(
    "options", [{}, FALLING, {"clipping": "per_layer"}, {"batch": 20}], ids=str
)
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
