"""Every registered optimizer against torch.optim, and its purity."""

import inspect
from pathlib import Path

import pytest
import torch
from peers import PEERS

from dpcore.training import optimizers
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS

SCALED = ("pi_adam", "pi_rmsprop", "pi_adagrad", "adadp")  # their formulas stand in test_preconditioners
GRADIENTS = [torch.randn(50, generator=torch.Generator().manual_seed(seed)) * 3.0**seed for seed in range(-4, 4)]


def test_every_file_is_registered_and_every_optimizer_has_a_peer_or_formula():
    files = {path.stem for path in Path(inspect.getfile(optimizers)).parent.glob("*.py")} - {
        "__init__",
        "base",
        "readings",
    }
    assert files == set(OPTIMIZERS) == {*PEERS, *SCALED}


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("name", PEERS)
def test_it_walks_as_torch_does(name, momentum):
    config = RunConfig(optimizer=name, lr=0.03, momentum=momentum)
    ours = torch.linspace(-1, 1, 50)
    theirs = torch.nn.Parameter(ours.clone())
    peer = PEERS[name]([theirs], config)
    optimizer = OPTIMIZERS[name](config)
    state = optimizer.init(ours)
    for gradient in GRADIENTS * 3:
        step, state = optimizer.update(gradient, state)
        ours = ours + step
        theirs.grad = gradient.clone()
        peer.step()
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_update_changes_neither_gradient_nor_state(name, momentum):
    optimizer = OPTIMIZERS[name](RunConfig(optimizer=name, momentum=momentum))
    gradient = GRADIENTS[0].clone()
    _, state = optimizer.update(gradient, optimizer.init(gradient))
    once, _ = optimizer.update(gradient, state)
    twice, _ = optimizer.update(gradient, state)
    assert torch.equal(once, twice)
    assert torch.equal(gradient, GRADIENTS[0])
