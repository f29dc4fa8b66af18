"""Which optimizers take steps in proportion to what is released, and so to C."""

import torch

from dpcore.training.optimizers import OPTIMIZERS, Hyperparameters
from dpcore.training.optimizers.base import begin

READINGS = [(name, reading) for name, kind in OPTIMIZERS.items() for reading in kind.readings]


def moved(name: str, reading: str, times: float) -> torch.Tensor:
    """Where gradients of `times` the length lead."""
    rules = OPTIMIZERS[name].rules(Hyperparameters(reading=reading))
    parameters = torch.zeros(4, dtype=torch.float64)
    state = begin(rules, parameters)
    for step in range(1, 31):
        gradient = times * torch.linspace(0.5, 2.0, 4, dtype=torch.float64) * (1 + step % 3)
        state = state._replace(count=step)
        rules.absorb(gradient, state)
        state = state._replace(mean=rules.averaged(state).mean() if rules.averaged else state.mean)
        rules.step(parameters, gradient, state, 0.1, rules.scale(state) if rules.scale else None)
    return parameters


def test_a_step_is_proportional_to_what_is_released_where_it_is_said_to_be():
    for name, reading in READINGS:
        proportional = torch.allclose(moved(name, reading, 50.0), 50 * moved(name, reading, 1.0))
        assert proportional == OPTIMIZERS[name].scales_with_c(reading), (name, reading)
