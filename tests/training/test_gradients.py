"""Norms and clipped sums against the one oracle that cannot be wrong: autograd, one example at a time."""

import copy
import math

import numpy as np
import pytest
import torch
from opacus import GradSampleModule
from torch import Tensor, nn
from torch.nn import functional as F

from dpcore.training import gradients
from dpcore.training.clipping import clip_factors
from dpcore.training.cores import Cores
from dpcore.training.gradients import BookKeeping, Engine, PerExample, engine_of, unknown
from dpcore.training.models import build

SHAPES = {  # name -> (module, shape of one input)
    "dense": (lambda: nn.Sequential(nn.Linear(7, 5)), (7,)),
    "dense without bias": (lambda: nn.Sequential(nn.Linear(7, 6, bias=False), nn.ReLU(), nn.Linear(6, 5)), (7,)),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(2, 5, 6), nn.Flatten()), (2, 6, 6)),
    "convolution without bias": (
        lambda: nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.Tanh(), nn.Flatten(), nn.Linear(16, 5)),
        (3, 4, 4),
    ),
    "stride and padding": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 3, (3, 2), stride=(2, 1), padding=(2, 1)),
            nn.Tanh(),
            nn.Conv2d(3, 4, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(48, 5),
        ),
        (2, 9, 7),
    ),
    "stride that leaves a rest": (
        lambda: nn.Sequential(nn.Conv2d(1, 2, 3, stride=2), nn.Conv2d(2, 5, 2, stride=3), nn.Flatten()),
        (1, 8, 8),
    ),
    "overlapping pools": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 3, 3),
            nn.MaxPool2d(2, 1),
            nn.Tanh(),
            nn.MaxPool2d(3, 2, padding=1),
            nn.Flatten(),
            nn.Linear(27, 5),
        ),
        (1, 8, 8),
    ),
    "pool then convolution": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(2, 4, 2), nn.Flatten(), nn.Linear(16, 5)
        ),
        (1, 8, 8),
    ),
    "mlp": (lambda: build("mlp", "relu", 3), (1, 28, 28)),
    "cnn": (lambda: build("cnn", "tanh", 3), (1, 28, 28)),
    "cnn relu": (lambda: build("cnn", "relu", 3), (1, 28, 28)),
}
CORES = Cores(3)  # more than some machines have: sharing out must not depend on it


@pytest.fixture(autouse=True)
def small_shares(monkeypatch):
    """Batches of this size are shared out too."""
    monkeypatch.setattr(gradients, "FEWEST", 2)


ENGINES = {"book-keeping": BookKeeping, "vmap": PerExample}


def batch(shape: tuple[int, ...], count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(count, *shape, generator=generator), torch.randint(0, 5, (count,), generator=generator)


def one_at_a_time(module: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    """Per-example gradients (B, d) by autograd."""
    rows = []
    for i in range(len(x)):
        module.zero_grad()
        F.cross_entropy(module(x[i : i + 1]), y[i : i + 1]).backward()
        rows.append(torch.cat([weight.grad.flatten() for weight in module.parameters()]))
    return torch.stack(rows)


def engine_on(kind: type[BookKeeping] | type[PerExample], module: nn.Module, chunk: int = 4) -> Engine:
    module = copy.deepcopy(module)
    engine = BookKeeping(module, CORES) if kind is BookKeeping else PerExample(module)
    engine.chunk = chunk  # several chunks, the last one short
    return engine


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize(("make", "shape"), SHAPES.values(), ids=SHAPES)
def test_norms_and_clipped_sums_equal_a_loop_over_examples(make, shape, kind):
    torch.manual_seed(1)
    module = make()
    x, y = batch(shape, 11)
    expected = one_at_a_time(module, x, y)
    norms = expected.norm(dim=1)
    clip_norm = norms.median().item()
    found = engine_on(kind, module).clipped_sum(x, y, clip_norm)
    torch.testing.assert_close(found.norms, norms, rtol=2e-5, atol=1e-6)
    clipped = expected * (clip_norm / norms).clamp(max=1)[:, None]
    torch.testing.assert_close(found.total, clipped.sum(0), rtol=1e-4, atol=2e-5 * clip_norm)
    torch.testing.assert_close(found.losses, F.cross_entropy(module(x), y, reduction="none").detach())


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
def test_an_infinite_bound_gives_the_plain_gradient(kind):
    module = build("cnn", "tanh", 0)
    x, y = batch((1, 28, 28), 9)
    F.cross_entropy(module(x), y, reduction="sum").backward()
    plain = torch.cat([weight.grad.flatten() for weight in module.parameters()])
    torch.testing.assert_close(engine_on(kind, module).clipped_sum(x, y, math.inf).total, plain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("clip_norm", [1e-9, 1e-3, 0.1, 5.0, 1e9])
def test_one_example_never_contributes_more_than_the_bound(kind, clip_norm):
    engine = engine_on(kind, build("cnn", "relu", 2))
    x, y = batch((1, 28, 28), 6)
    x[0] = 0  # a blank image
    x[1] *= 1e3  # a far too bright one
    for i in range(len(x)):
        total = engine.clipped_sum(x[i : i + 1], y[i : i + 1], clip_norm).total
        assert total.double().norm() <= clip_norm * (1 + 1e-6)


def test_a_zero_gradient_stays_zero_and_its_factor_is_one():
    assert clip_factors(torch.zeros(2), 0.1).tolist() == [1, 1]
    assert clip_factors(torch.zeros(2), math.inf).tolist() == [1, 1]
    engine = engine_on(BookKeeping, nn.Sequential(nn.Linear(3, 5, bias=False)))
    found = engine.clipped_sum(torch.zeros(2, 3), torch.zeros(2, dtype=torch.long), 0.1)
    assert found.norms.tolist() == [0, 0]
    assert not found.total.any()


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
def test_an_empty_batch_gives_an_all_zero_sum(kind):
    engine = engine_on(kind, build("cnn", "tanh", 0))
    x, y = batch((1, 28, 28), 5)
    engine.clipped_sum(x, y, 1.0)
    found = engine.clipped_sum(x[:0], y[:0], 1.0)
    assert not found.total.any()
    assert len(found.losses) == len(found.norms) == 0


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_adding_one_example_moves_the_clipped_sum_by_at_most_the_bound(model, activation, kind):
    engine = engine_on(kind, build(model, activation, 4), chunk=8)
    x, y = batch((1, 28, 28), 17)
    x[16] *= 100
    for clip_norm in (0.01, 1.0):
        with_it = engine.clipped_sum(x, y, clip_norm).total.double().clone()
        without = engine.clipped_sum(x[:16], y[:16], clip_norm).total.double()
        distance = (with_it - without).norm().item()
        assert distance <= clip_norm * (1 + 1e-5)
        assert distance >= clip_norm * 0.9  # the bright image is clipped, so the test does look at the bound


def test_logits_equal_the_modules_own():
    module = build("cnn", "relu", 1)
    x, _ = batch((1, 28, 28), 10)
    torch.testing.assert_close(engine_on(BookKeeping, module).logits(x), module(x).detach())
    torch.testing.assert_close(engine_on(PerExample, module).logits(x), module(x).detach())


class Residual(nn.Module):
    """A module that the book-keeping engine does not know."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(7, 7), nn.Linear(7, 5)

    def forward(self, x):
        return self.outer(x + torch.tanh(self.inner(x)))


def test_a_module_of_another_shape_takes_the_vmap_path_and_is_exact():
    module = Residual()
    x, y = batch((7,), 6)
    norms = one_at_a_time(module, x, y).norm(dim=1)
    engine = engine_of(copy.deepcopy(module), CORES)
    assert isinstance(engine, PerExample)
    torch.testing.assert_close(engine.clipped_sum(x, y, 1.0).norms, norms, rtol=1e-5, atol=1e-6)


def test_shared_parameters_take_the_vmap_path_and_are_exact():
    shared = nn.Linear(5, 5)
    module = nn.Sequential(shared, nn.Tanh(), shared)
    x, y = batch((5,), 6)
    norms = one_at_a_time(module, x, y).norm(dim=1)
    engine = engine_of(copy.deepcopy(module), CORES)
    assert engine.name == "vmap"
    torch.testing.assert_close(engine.clipped_sum(x, y, 1.0).norms, norms, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("module", "phrase"),
    [
        (Residual(), "Residual is not a Sequential"),
        (nn.Sequential(nn.Linear(2, 2), nn.GELU()), "GELU"),
        (nn.Sequential(nn.Conv2d(2, 2, 3, groups=2)), "grouped"),
        (nn.Sequential(nn.Conv2d(2, 2, 3, dilation=2)), "dilated"),
        (nn.Sequential(nn.Conv2d(2, 2, 3, padding="same")), "padded"),
        (nn.Sequential(nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect")), "padded"),
        (nn.Sequential(nn.MaxPool2d(2, ceil_mode=True)), "MaxPool2d"),
        (nn.Sequential(nn.Flatten(2)), "Flatten"),
    ],
)
def test_what_book_keeping_cannot_do_is_said(module, phrase):
    assert phrase in unknown(module)


@pytest.mark.parametrize("norm", [nn.BatchNorm2d(2), nn.BatchNorm1d(2), nn.SyncBatchNorm(2)])
def test_batch_norm_is_refused(norm):
    with pytest.raises(ValueError, match="mixes the examples of a batch"):
        engine_of(nn.Sequential(nn.Conv2d(1, 2, 3), norm), CORES)


def test_a_linear_layer_on_sequences_is_refused_rather_than_wrong():
    engine = BookKeeping(nn.Sequential(nn.Linear(3, 5)), CORES)
    with pytest.raises(ValueError, match=r"\(B, in\)"):
        engine.clipped_sum(torch.zeros(2, 4, 3), torch.zeros(2, dtype=torch.long), 1.0)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_norms_and_clipped_sums_equal_opacus():
    module = build("cnn", "tanh", 5)
    x, y = batch((1, 28, 28), 12)
    peer = GradSampleModule(copy.deepcopy(module), loss_reduction="sum")
    F.cross_entropy(peer(x), y, reduction="sum").backward()
    rows = torch.cat([weight.grad_sample.flatten(1) for weight in peer.parameters()], 1)
    norms = rows.norm(dim=1)
    clip_norm = float(np.median(norms))
    found = engine_on(BookKeeping, module).clipped_sum(x, y, clip_norm)
    torch.testing.assert_close(found.norms, norms, rtol=2e-5, atol=1e-6)
    clipped = (rows * (clip_norm / norms).clamp(max=1)[:, None]).sum(0)
    torch.testing.assert_close(found.total, clipped, rtol=1e-4, atol=2e-5 * clip_norm)


def test_the_chunk_size_does_not_matter():
    x, y = batch((1, 28, 28), 21)
    module = build("cnn", "tanh", 6)
    whole = engine_on(BookKeeping, module, chunk=64).clipped_sum(x, y, 0.1)
    parts = engine_on(BookKeeping, module, chunk=5).clipped_sum(x, y, 0.1)
    torch.testing.assert_close(whole.total, parts.total, rtol=1e-4, atol=1e-6)
