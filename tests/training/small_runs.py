"""Small runs on a clock that tests hold in their hands."""

import dataclasses
import itertools
from collections.abc import Callable

import torch

from dpcore.training.config import RunConfig
from dpcore.training.engine import Run
from dpcore.training.models import build
from dpcore.training.optimizers.base import Optimizer, State

SMALL = RunConfig(model="mlp", batch=64, clip_norm=0.5, lr=0.2, momentum=0.5, sigma=1.0, epochs=0.05, device="cpu")
CNN = dataclasses.replace(SMALL, model="cnn")


def ticking(seconds: float = 0.05) -> Callable[[], float]:
    """A clock that goes on by so many seconds each time it is read."""
    ticks = itertools.count()
    return lambda: next(ticks) * seconds


def run_of(config: RunConfig) -> Run:
    """A run that has not begun."""
    return Run(config, ticking())


def module_of(run: Run) -> torch.nn.Module:
    """A copy of the run's network that autograd may use."""
    copy = build(run.config.model, run.config.activation, 0)
    torch.nn.utils.vector_to_parameters(run.engine.parameters.clone(), copy.parameters())
    return copy


def walked(optimizer: Optimizer, gradient: torch.Tensor, state: State, lr: float) -> tuple[torch.Tensor, State]:
    """The step of an optimizer, with all coordinates as one piece, and the state after it."""
    gradient, state = gradient.clone(), state._replace(count=state.count + 1)
    optimizer.absorb(gradient, state)
    if optimizer.averaged:
        state.mean.copy_(optimizer.averaged(state).mean())
    step = torch.zeros_like(gradient)
    optimizer.step(step, gradient, state, lr, scale_after(optimizer, state))
    return step, state


def scale_after(optimizer: Optimizer, state: State) -> torch.Tensor | None:
    """D for the step after the state; None for ones."""
    return optimizer.scale(state) if optimizer.scale and state.count >= optimizer.wait else None
