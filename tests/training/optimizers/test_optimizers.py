"""Every registered optimizer against torch.optim, and that it treats each coordinate alone."""

import inspect
from pathlib import Path

import torch

from dpcore.training import optimizers
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS, Hyperparameters
from dpcore.training.optimizers.base import State, begin
from tests.training.peers import PEERS
from tests.training.small_runs import scale_after, walked

WITHOUT_PEER = ("pi_adam", "pi_rmsprop", "pi_adagrad", "adadp", "adam_bc")  # their formulas stand in tests beside this
GRADIENTS = [torch.randn(50, generator=torch.Generator().manual_seed(seed)) * 3.0**seed for seed in range(-4, 4)]


def test_every_file_is_registered_and_every_optimizer_has_a_peer_or_formula():
    files = {path.stem for path in Path(inspect.getfile(optimizers)).parent.glob("*.py")} - {
        "__init__",
        "base",
        "readings",
    }
    assert files == set(OPTIMIZERS) == {*PEERS, *WITHOUT_PEER}


def test_it_walks_as_torch_does():
    for name in PEERS:
        for momentum in [0.0, 0.9]:
            config = RunConfig(optimizer=name, lr=0.03, momentum=momentum)
            ours = torch.linspace(-1, 1, 50)
            theirs = torch.nn.Parameter(ours.clone())
            peer = PEERS[name]([theirs], config)
            optimizer = OPTIMIZERS[name].rules(Hyperparameters(momentum))
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
            optimizer = OPTIMIZERS[name].rules(Hyperparameters(momentum))
            whole, cut = (begin(optimizer, GRADIENTS[0]) for _ in range(2))
            for gradient in GRADIENTS * 3:
                step, whole = walked(optimizer, gradient, whole, 0.03)
                cut = cut._replace(count=cut.count + 1)
                pieces = [
                    State(cut.count, cut.mean, tuple(v[part] for v in cut.vectors)) for part in (slice(7), slice(7, 50))
                ]
                gradients = [gradient[:7].clone(), gradient[7:].clone()]
                for own, piece in zip(gradients, pieces, strict=True):
                    optimizer.absorb(own, piece)
                if optimizer.averaged:
                    cut.mean.copy_(sum(optimizer.averaged(piece).sum() for piece in pieces) / 50)
                steps = [torch.zeros(7), torch.zeros(43)]
                for moved, own, piece in zip(steps, gradients, pieces, strict=True):
                    optimizer.step(moved, own, piece, 0.03, scale_after(optimizer, piece))
                torch.testing.assert_close(torch.cat(steps), step)
            for ours, theirs in zip(cut.vectors, whole.vectors, strict=True):
                torch.testing.assert_close(ours, theirs)
