"""Norms and clipped sums against autograd, one example at a time."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from opacus import GradSampleModule
from torch import nn
from torch.nn import functional as F

from dpcore.training.gradients import clipped_sum
from dpcore.training.gradients.book_keeping import BookKeeping
from dpcore.training.gradients.clipping import CLIPPINGS, Flat
from dpcore.training.gradients.per_example import PerExample
from dpcore.training.models import build
from tests.training.oracles import ENGINES, SHAPES, batch, clipped_one_at_a_time, engine_on, layer_sizes, one_at_a_time


@pytest.fixture(autouse=True)
def small_shares(monkeypatch):
    """Batches of this size are shared out too."""
    monkeypatch.setattr(clipped_sum, "FEWEST", 2)


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
@pytest.mark.parametrize("clipping", CLIPPINGS)
@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize(("make", "shape"), SHAPES.values(), ids=SHAPES)
def test_norms_and_clipped_sums_equal_a_loop_over_examples(make, shape, kind, clipping, scaled):
    torch.manual_seed(1)
    module = make()
    x, y = batch(shape, 11)
    expected = one_at_a_time(module, x, y)
    scale = torch.rand(expected.shape[1]) * 3 + 0.1 if scaled else None
    rows = expected if scale is None else expected / scale
    norms = rows.norm(dim=1)
    clip_norm = 0.97 * norms.median().item()  # no norm lies on the bound
    found = engine_on(kind, module).clipped_sum(
        x, y, CLIPPINGS[clipping](clip_norm), scale if scale is None else scale**-2
    )
    torch.testing.assert_close(found.norms, norms, rtol=2e-5, atol=1e-6)
    clipped, factors = clipped_one_at_a_time(rows, clipping, clip_norm, layer_sizes(module))
    total = found.total if scale is None else found.total / scale
    torch.testing.assert_close(total, clipped.sum(0), rtol=1e-4, atol=1e-4 * clip_norm)  # sums of eleven may cancel
    assert found.clipped.tolist() == (factors < 1).any(1).tolist()
    torch.testing.assert_close(found.losses, F.cross_entropy(module(x), y, reduction="none").detach())


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
def test_an_infinite_bound_gives_the_plain_gradient(kind):
    module = build("cnn", "tanh", 0)
    x, y = batch((1, 28, 28), 9)
    F.cross_entropy(module(x), y, reduction="sum").backward()
    plain = torch.cat([weight.grad.flatten() for weight in module.parameters()])  # type: ignore[union-attr]
    torch.testing.assert_close(
        engine_on(kind, module).clipped_sum(x, y, Flat(math.inf)).total, plain, rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
@pytest.mark.parametrize("clipping", CLIPPINGS)
@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("clip_norm", [1e-9, 1e-3, 0.1, 5.0, 1e9])
def test_one_example_never_contributes_more_than_the_bound(kind, clip_norm, clipping, scaled):
    engine = engine_on(kind, build("cnn", "relu", 2))
    scale = torch.logspace(-3, 2, len(engine.parameters)) if scaled else torch.ones(len(engine.parameters))
    x, y = batch((1, 28, 28), 6)
    x[0] = 0  # a blank image
    x[1] *= 1e3  # a far too bright one
    bound = CLIPPINGS[clipping](clip_norm)
    assert engine.groups == 4
    for i in range(len(x)):
        total = engine.clipped_sum(x[i : i + 1], y[i : i + 1], bound, scale**-2 if scaled else None).total
        assert (total.double() / scale.double()).norm() <= clip_norm * bound.sensitivity(4)


def test_a_zero_gradient_stays_zero_and_its_factor_is_one():
    assert Flat(0.1).factors(torch.zeros(1, 2)).tolist() == [[1, 1]]
    assert Flat(math.inf).factors(torch.zeros(1, 2)).tolist() == [[1, 1]]
    engine = engine_on(BookKeeping, nn.Sequential(nn.Linear(3, 5, bias=False)))
    found = engine.clipped_sum(torch.zeros(2, 3), torch.zeros(2, dtype=torch.long), Flat(0.1))
    assert found.norms.tolist() == [0, 0]
    assert not found.total.any()


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
def test_an_empty_batch_gives_an_all_zero_sum(kind):
    engine = engine_on(kind, build("cnn", "tanh", 0))
    x, y = batch((1, 28, 28), 5)
    engine.clipped_sum(x, y, Flat(1.0))
    found = engine.clipped_sum(x[:0], y[:0], Flat(1.0))
    assert not found.total.any()
    assert len(found.losses) == len(found.norms) == 0


@pytest.mark.parametrize("scaled", [False, True], ids=["plain", "scaled"])
@pytest.mark.parametrize("clipping", CLIPPINGS)
@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_adding_one_example_moves_the_clipped_sum_by_at_most_the_bound(model, activation, kind, clipping, scaled):
    engine = engine_on(kind, build(model, activation, 4), chunk=8)
    scale = torch.rand(len(engine.parameters)) + 0.2 if scaled else torch.ones(len(engine.parameters))
    x, y = batch((1, 28, 28), 17)
    x[16] *= 100
    for clip_norm in (0.01, 1.0):
        bound = CLIPPINGS[clipping](clip_norm)
        given = scale**-2 if scaled else None
        with_it = engine.clipped_sum(x, y, bound, given).total.double() / scale
        without = engine.clipped_sum(x[:16], y[:16], bound, given).total.double() / scale
        distance = (with_it - without).norm().item()
        assert distance <= clip_norm * bound.sensitivity(engine.groups) * (1 + 1e-5)
        assert distance >= clip_norm * 0.9  # the bright image is clipped, so the test does look at the bound


def test_the_layers_of_one_example_together_reach_the_sensitivity_that_per_layer_clipping_is_charged_for():
    engine = engine_on(BookKeeping, build("cnn", "tanh", 4))
    x, y = batch((1, 28, 28), 1)
    total = engine.clipped_sum(x, y, CLIPPINGS["per_layer"](1e-3)).total.double()
    assert total.norm().item() == pytest.approx(2e-3, rel=1e-4)


def test_logits_equal_the_modules_own():
    module = build("cnn", "relu", 1)
    x, _ = batch((1, 28, 28), 10)
    torch.testing.assert_close(engine_on(BookKeeping, module).logits(x), module(x).detach())
    torch.testing.assert_close(engine_on(PerExample, module).logits(x), module(x).detach())


@pytest.mark.parametrize("clipping", CLIPPINGS)
def test_a_transform_takes_the_place_of_every_gradient_before_clipping(clipping):
    module = build("cnn", "tanh", 7)
    x, y = batch((1, 28, 28), 9)
    rows = torch.sign(one_at_a_time(module, x, y)) + 0.5
    bound = rows.norm(dim=1).median().item() / 3
    found = engine_on(PerExample, module).clipped_sum(
        x, y, CLIPPINGS[clipping](bound), transform=lambda gradients: gradients.sign() + 0.5
    )
    clipped, _ = clipped_one_at_a_time(rows, clipping, bound, layer_sizes(module))
    torch.testing.assert_close(found.norms, rows.norm(dim=1), rtol=1e-4, atol=0)
    assert (found.total - clipped.sum(0)).norm() <= 1e-3 * clipped.sum(0).norm()  # signs of gradients that are nearly 0


def test_the_fast_engine_refuses_to_ignore_a_transform():
    x, y = batch((1, 28, 28), 2)
    with pytest.raises(RuntimeError, match="forms no gradients"):
        engine_on(BookKeeping, build("cnn", "tanh", 0)).clipped_sum(x, y, Flat(1.0), transform=torch.sign)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize(("make", "shape"), SHAPES.values(), ids=SHAPES)
def test_norms_and_clipped_sums_equal_opacus(make, shape):
    torch.manual_seed(5)
    module = make()
    x, y = batch(shape, 12)
    peer = GradSampleModule(copy.deepcopy(module), loss_reduction="sum")
    F.cross_entropy(peer(x), y, reduction="sum").backward()
    rows = torch.cat([weight.grad_sample.flatten(1) for weight in peer.parameters()], 1)  # type: ignore[union-attr]
    norms = rows.norm(dim=1)
    clip_norm = float(np.median(norms))
    found = engine_on(BookKeeping, module).clipped_sum(x, y, Flat(clip_norm))
    torch.testing.assert_close(found.norms, norms, rtol=2e-5, atol=1e-6)
    clipped = (rows * (clip_norm / norms).clamp(max=1)[:, None]).sum(0)
    torch.testing.assert_close(found.total, clipped, rtol=1e-4, atol=1e-4 * clip_norm)


def test_the_chunk_size_does_not_matter():
    x, y = batch((1, 28, 28), 21)
    module = build("cnn", "tanh", 6)
    whole = engine_on(BookKeeping, module, chunk=64).clipped_sum(x, y, Flat(0.1))
    parts = engine_on(BookKeeping, module, chunk=5).clipped_sum(x, y, Flat(0.1))
    torch.testing.assert_close(whole.total, parts.total, rtol=1e-4, atol=1e-6)


def short_of_memory(engine, monkeypatch, most):
    """The engine, on a device that holds at most so many examples at once."""
    for name in ("_add", "_logits"):
        work = getattr(engine, name)

        def limited(x, *others, work=work):
            if len(x) > most:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return work(x, *others)

        monkeypatch.setattr(engine, name, limited)
    return engine


@pytest.mark.parametrize("most", [7, 1])
@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
def test_a_batch_that_memory_does_not_hold_goes_in_smaller_parts_to_the_same_sum(kind, most, monkeypatch):
    x, y = batch((1, 28, 28), 60)
    whole = engine_on(kind, build("cnn", "tanh", 0)).clipped_sum(x, y, Flat(0.1))
    engine = short_of_memory(engine_on(kind, build("cnn", "tanh", 0)), monkeypatch, most)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)  # somebody else's recording
    found = engine.clipped_sum(x, y, Flat(0.1))
    assert 1 <= engine.chunk <= most
    torch.testing.assert_close(found.total, whole.total, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(found.norms, whole.norms)
    torch.testing.assert_close(engine.logits(x), engine.module(x))


def test_memory_that_does_not_hold_one_example_is_an_error(monkeypatch):
    engine = short_of_memory(engine_on(BookKeeping, build("cnn", "tanh", 0)), monkeypatch, 0)
    with pytest.raises(torch.OutOfMemoryError):
        engine.clipped_sum(*batch((1, 28, 28), 6), Flat(0.1))


def test_a_recording_that_memory_does_not_hold_is_an_error_since_it_cannot_begin_again(monkeypatch):
    engine = short_of_memory(engine_on(BookKeeping, build("cnn", "tanh", 0), chunk=8), monkeypatch, 5)
    engine.parameters = SimpleNamespace(is_cuda=True)  # type: ignore[assignment]
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with pytest.raises(torch.OutOfMemoryError):
        engine.clipped_sum(*batch((1, 28, 28), 60), Flat(0.1))
    assert engine.chunk == 8
