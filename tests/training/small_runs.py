"""Small runs on a clock that tests hold in their hands."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from dpcore.training.models import build
from dpcore.training.optimizers.base import State, UpdateRules
from dpcore.training.plan import plan
from dpcore.training.training_run import TrainingRun

SMALL = RunConfig(
    seed=0,
    model="mlp",
    batch=64,
    clip_norm=0.5,
    lr=0.2,
    momentum=0.5,
    sigma=1.0,
    epochs=0.05,
    device="cpu",
)
CNN = dataclasses.replace(SMALL, model="cnn")


def of_both_suites(names: Iterable[str], short: Sequence[str] = ("sgd", "pi_adam")) -> list[Any]:
    """Parameters of a test: some names in the short suite, and all others in the long one."""
    return [name if name in short else pytest.param(name, marks=pytest.mark.long) for name in names]


def ticking(seconds: float = 0.05) -> Callable[[], float]:
    """A clock that advances by `seconds` each time it is read."""
    ticks = itertools.count()
    return lambda: next(ticks) * seconds


def mechanism_of(config: RunConfig) -> Mechanism:
    """The releases of a run with an epsilon."""
    mechanism = plan(config).mechanism
    assert mechanism is not None
    return mechanism


def run_of(config: RunConfig) -> TrainingRun:
    """A run that has not begun."""
    return TrainingRun(config, ticking())


def ended(run: TrainingRun, steps: int) -> torch.Tensor:
    """The parameters after `steps` steps."""
    for step in range(1, steps + 1):
        run.step(step)
    return run.engine.parameters.clone()


def noise_of(
    config: RunConfig, steps: int, begun: Callable[[TrainingRun], None] = lambda run: None
) -> tuple[np.ndarray, torch.Tensor | None]:
    """The noise that the last of some steps adds to the sum, divided by D (d,), and D.

    It is what the optimizer is given in the step with noise, less what it is given in the same step
    without.
    """
    given, scale = [], None
    for sigma in (config.sigma, 0.0):
        run = run_of(config)
        begun(run)
        for step in range(1, steps):
            run.step(step)
        run.sigmas = run.sigmas.copy()  # a plan is shared
        run.sigmas[steps - 1] = sigma
        scale = scale_after(run.descent.optimizer, run.descent.state)
        run.descent.optimizer = run.descent.optimizer._replace(
            absorb=lambda gradient, state: given.append(gradient)
        )
        run.step(steps)
    assert len(given) == 2, "a network of one piece"
    noise = (given[0].double() - given[1].double()) * config.batch
    return (noise if scale is None else noise / scale).numpy(), scale


def module_of(run: TrainingRun) -> torch.nn.Module:
    """A copy of the run's network that autograd may use."""
    copy = build(run.config.model, run.config.activation, 0)
    torch.nn.utils.vector_to_parameters(run.engine.parameters.clone(), copy.parameters())
    return copy


def walked(
    optimizer: UpdateRules, gradient: torch.Tensor, state: State, lr: float
) -> tuple[torch.Tensor, State]:
    """The step of an optimizer, with all coordinates as one piece, and the state after it."""
    gradient, state = gradient.clone(), state._replace(count=state.count + 1)
    optimizer.absorb(gradient, state)
    if optimizer.averaged:
        state.mean.copy_(optimizer.averaged(state).mean())
    step = torch.zeros_like(gradient)
    optimizer.step(step, gradient, state._replace(scale=scale_after(optimizer, state)), lr)
    return step, state


def scale_after(optimizer: UpdateRules, state: State) -> torch.Tensor | None:
    """D for the step after the state; None for ones."""
    return optimizer.scale(state) if optimizer.scale and state.count >= optimizer.wait else None
