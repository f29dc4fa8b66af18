"""Every registered optimizer against torch.optim, each coordinate alone, and in proportion to C
where it says so.
"""

import inspect
from importlib import import_module
from pathlib import Path

import torch

from dpcore.training import optimizers
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.base import Optimizer, State, begin
from tests.training.oracles import PEERS
from tests.training.small_runs import scale_after, walked

# Their formulas stand in tests beside this.
WITHOUT_PEER = ("pi_adam", "pi_rmsprop", "pi_adagrad", "adadp", "adam_bc")
GRADIENTS = [
    torch.randn(50, generator=torch.Generator().manual_seed(seed)) * 3.0**seed
    for seed in range(-4, 4)
]


def test_every_file_is_registered_and_every_optimizer_has_a_peer_or_formula():
    files = {path.stem for path in Path(inspect.getfile(optimizers)).parent.glob("*.py")} - {
        "__init__",
        "base",
    }
    found = [
        each
        for file in files
        for each in vars(import_module(f"{optimizers.__name__}.{file}")).values()
    ]
    made = {each.name for each in found if isinstance(each, Optimizer)}
    assert made == set(OPTIMIZERS)
    assert set(OPTIMIZERS) == {*PEERS, *WITHOUT_PEER}


def test_it_walks_as_torch_does():
    for name in PEERS:
        for momentum in [0.0, 0.9]:
            config = RunConfig(optimizer=name, lr=0.03, momentum=momentum)
            ours = torch.linspace(-1, 1, 50)
            theirs = torch.nn.Parameter(ours.clone())
            peer = PEERS[name]([theirs], config)
            optimizer = OPTIMIZERS[name].rules(momentum, "scaled")
            state = begin(optimizer, ours)
            for gradient in GRADIENTS * 3:
                step, state = walked(optimizer, gradient, state, config.lr)
                ours = ours + step
                theirs.grad = gradient.clone()
                peer.step()
                torch.testing.assert_close(ours, theirs.detach(), rtol=1e-5, atol=1e-6)


def test_pieces_walk_as_the_whole_does():
    for name in OPTIMIZERS:
        for momentum in [0.0, 0.9]:
            optimizer = OPTIMIZERS[name].rules(momentum, "scaled")
            whole, cut = (begin(optimizer, GRADIENTS[0]) for _ in range(2))
            for gradient in GRADIENTS * 3:
                step, whole = walked(optimizer, gradient, whole, 0.03)
                cut = cut._replace(count=cut.count + 1)
                pieces = [
                    State(cut.count, cut.mean, tuple(v[part] for v in cut.vectors))
                    for part in (slice(7), slice(7, 50))
                ]
                gradients = [gradient[:7].clone(), gradient[7:].clone()]
                for own, piece in zip(gradients, pieces, strict=True):
                    optimizer.absorb(own, piece)
                if optimizer.averaged:
                    cut.mean.copy_(sum(optimizer.averaged(piece).sum() for piece in pieces) / 50)
                steps = [torch.zeros(7), torch.zeros(43)]
                for moved, own, piece in zip(steps, gradients, pieces, strict=True):
                    piece = piece._replace(scale=scale_after(optimizer, piece))
                    optimizer.step(moved, own, piece, 0.03)
                torch.testing.assert_close(torch.cat(steps), step)
            for ours, theirs in zip(cut.vectors, whole.vectors, strict=True):
                torch.testing.assert_close(ours, theirs)


def moved(name: str, reading: str, times: float) -> torch.Tensor:
    """The parameters after gradients of `times` the length."""
    rules = OPTIMIZERS[name].rules(0.9, reading)
    parameters = torch.zeros(4, dtype=torch.float64)
    state = begin(rules, parameters)
    for step in range(1, 31):
        gradient = times * torch.linspace(0.5, 2.0, 4, dtype=torch.float64) * (1 + step % 3)
        state = state._replace(count=step)
        rules.absorb(gradient, state)
        state = state._replace(mean=rules.averaged(state).mean() if rules.averaged else state.mean)
        scale = rules.scale(state) if rules.scale else None
        rules.step(parameters, gradient, state._replace(scale=scale), 0.1)
    return parameters


def test_a_step_is_proportional_to_what_is_released_where_it_is_said_to_be():
    for name, reading in [
        (name, reading) for name, kind in OPTIMIZERS.items() for reading in kind.readings
    ]:
        proportional = torch.allclose(moved(name, reading, 50.0), 50 * moved(name, reading, 1.0))
        assert proportional == OPTIMIZERS[name].scales_with_c(reading), (name, reading)
