"""Norms and clipped sums against autograd, one example at a time, on any number of cores."""

import copy
import itertools
import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from dpcore.training.gradients import clipped_sum
from dpcore.training.gradients.clipped_sum import ClippedSum, group_sizes
from dpcore.training.gradients.clipping import CLIPPINGS, Flat
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.engines import CHUNK_CONV, BookKeeping, PerExample
from dpcore.training.models import build
from tests.training.oracles import (
    ENGINES,
    SHAPES,
    WAYS,
    assert_close,
    assert_equals_the_loop,
    batch,
    clipped_one_at_a_time,
    engine_on,
    layer_sizes,
    one_at_a_time,
    scale_of,
)

pytestmark = pytest.mark.usefixtures("small_shares")
KINDS = pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)


@KINDS
@pytest.mark.parametrize(("make", "shape"), SHAPES.values(), ids=SHAPES)
def test_norms_and_clipped_sums_equal_a_loop_over_examples(make, shape, kind):
    torch.manual_seed(1)
    module = make()
    x, y = batch(shape, 11)
    losses = F.cross_entropy(module(x), y, reduction="none").detach()
    assert_equals_the_loop(engine_on(kind, module), x, y, one_at_a_time(module, x, y), losses)


@KINDS
def test_one_example_never_contributes_more_than_the_bound(kind):
    engine = engine_on(kind, build("cnn", "relu", 2))
    x, y = batch((1, 28, 28), 6)
    x[0] = 0  # a blank image
    x[1] *= 1e3  # a far too bright one
    assert len(group_sizes(engine.module)) == 4
    for clip_norm, (clipping, scaled) in itertools.product([1e-9, 0.1, 1e9], WAYS):
        scale = (
            torch.logspace(-3, 2, len(engine.parameters))
            if scaled
            else torch.ones(len(engine.parameters))
        )
        bound = CLIPPINGS[clipping](clip_norm)
        for i in range(len(x)):
            total = engine.clipped_sum(
                x[i : i + 1], y[i : i + 1], bound, scale**-2 if scaled else None
            ).total
            length = (total.double() / scale.double()).norm()
            assert length <= clip_norm * bound.sensitivity(4), i


def test_a_zero_gradient_stays_zero_and_its_factor_is_one():
    assert Flat(0.1).factors(torch.zeros(1, 2)).tolist() == [[1, 1]]
    assert Flat(math.inf).factors(torch.zeros(1, 2)).tolist() == [[1, 1]]
    engine = engine_on(BookKeeping, nn.Sequential(nn.Linear(3, 5, bias=False)))
    found = engine.clipped_sum(torch.zeros(2, 3), torch.zeros(2, dtype=torch.long), Flat(0.1))
    assert found.norms.tolist() == [0, 0]
    assert not found.total.any()


@KINDS
def test_an_infinite_bound_gives_the_plain_gradient_and_an_empty_batch_an_all_zero_sum(kind):
    module = build("cnn", "tanh", 0)
    x, y = batch((1, 28, 28), 9)
    F.cross_entropy(module(x), y, reduction="sum").backward()
    plain = torch.cat([weight.grad.flatten() for weight in module.parameters()])  # type: ignore[union-attr]
    engine = engine_on(kind, module)
    assert_close(engine.clipped_sum(x, y, Flat(math.inf)).total, plain)
    found = engine.clipped_sum(x[:0], y[:0], Flat(1.0))
    assert not found.total.any()
    assert len(found.losses) == len(found.norms) == 0


@KINDS
@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_adding_one_example_moves_the_clipped_sum_by_at_most_the_bound(model, kind):
    x, y = batch((1, 28, 28), 17)
    x[16] *= 100
    for activation, (clipping, scaled) in itertools.product(("tanh", "relu"), WAYS):
        engine = engine_on(kind, build(model, activation, 4, width=60), chunk=8)
        scale, given = scale_of(engine, scaled)
        for clip_norm in (0.01, 1.0):
            bound = CLIPPINGS[clipping](clip_norm)
            with_it = engine.clipped_sum(x, y, bound, given).total.double() / scale
            without = engine.clipped_sum(x[:16], y[:16], bound, given).total.double() / scale
            distance, case = (
                (with_it - without).norm().item(),
                (activation, clipping, scaled, clip_norm),
            )
            assert distance <= clip_norm * bound.sensitivity(len(group_sizes(engine.module))) * (
                1 + 1e-5
            ), case
            # The bright image is clipped, so the test does look at the bound.
            assert distance >= clip_norm * 0.9, case


def test_the_layers_of_one_example_together_reach_the_charge_for_per_layer_clipping():
    engine = engine_on(BookKeeping, build("cnn", "tanh", 4))
    x, y = batch((1, 28, 28), 1)
    total = engine.clipped_sum(x, y, CLIPPINGS["per_layer"](1e-3)).total.double()
    assert total.norm().item() == pytest.approx(2e-3, rel=1e-4)


@KINDS
def test_logits_equal_the_modules_own(kind):
    module = build("cnn", "relu", 1)
    x, _ = batch((1, 28, 28), 10)
    assert_close(engine_on(kind, module).logits(x), module(x).detach())


def test_a_transform_takes_the_place_of_every_gradient_before_clipping():
    module = build("cnn", "tanh", 7)
    x, y = batch((1, 28, 28), 9)
    rows = torch.sign(one_at_a_time(module, x, y)) + 0.5
    bound = rows.norm(dim=1).median().item() / 3
    for clipping in CLIPPINGS:
        found = engine_on(PerExample, module).clipped_sum(
            x, y, CLIPPINGS[clipping](bound), transform=lambda gradients: gradients.sign() + 0.5
        )
        clipped, _ = clipped_one_at_a_time(rows, clipping, bound, layer_sizes(module))
        assert_close(found.norms, rows.norm(dim=1), case=clipping)
        away = (found.total - clipped.sum(0)).norm()
        # The sign of a number near 0 may turn.
        assert away <= 1e-2 * clipped.sum(0).norm(), clipping
    with pytest.raises(RuntimeError, match="forms no gradients"):
        engine_on(BookKeeping, module).clipped_sum(x, y, Flat(1.0), transform=torch.sign)


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_neither_the_chunk_size_nor_the_number_of_cores_matters(cores):
    module = build("mlp", "relu", 3, width=60)
    x, y = batch((1, 28, 28), 11)
    rows = one_at_a_time(module, x, y)
    bound = float(rows.norm(dim=1).median())
    expected = sum(row * min(1.0, bound / float(row.norm())) for row in rows)
    for chunk in (64, 5, 1):
        engine = BookKeeping(copy.deepcopy(module), Cores(cores))
        engine.chunk = chunk
        found = engine.clipped_sum(x, y, Flat(bound))
        assert len(found.shares) == cores
        assert_close(found.total, expected, case=chunk)  # type: ignore[arg-type]


def test_the_total_is_the_sum_of_all_shares():
    rows, nothing = torch.arange(15.0).reshape(3, 5), torch.zeros(0)
    assert ClippedSum(rows, nothing, nothing, nothing).total.tolist() == [
        15.0,
        18.0,
        21.0,
        24.0,
        27.0,
    ]


def test_a_batch_is_cut_into_equal_parts_as_few_as_the_chunk_allows_and_as_many_for_each_core(
    monkeypatch,
):
    monkeypatch.setattr(clipped_sum, "MIN_ROWS_OF_CORE", 10)
    for views in (1, 2, 4, 16):
        engine = BookKeeping(build("mlp", "relu", 3, width=5), Cores(3), views)
        for size, chunk in itertools.product(
            [1, 10, 11, 20, 21, 30, 31, 47, 100, 1000], [1, 7, 10, 40, 400]
        ):
            engine.chunk = chunk
            busy, parts = engine._parts(size)
            lengths, case = [part.stop - part.start for part in parts], (views, size, chunk)
            assert busy == min(3, -(-size * views // 10), size), case
            assert [at for part in parts for at in range(size)[part]] == list(range(size)), case
            assert max(lengths) * views <= max(chunk, views), case
            assert max(lengths) - min(lengths) <= 1, case
            assert len(parts) % busy == 0 or max(lengths) == 1, case
            assert min(lengths) >= 1, case
            assert (len(parts) - busy) * max(1, chunk // views) < size, case


def test_a_batch_too_small_to_share_out_keeps_one_core_busy_and_an_empty_one_none(monkeypatch):
    monkeypatch.undo()
    engine = BookKeeping(build("mlp", "relu", 3, width=5), Cores(3))
    assert engine._parts(0) == (0, [])
    for size, shares in ((0, 1), (1, 1), (64, 1), (65, 2), (129, 3), (300, 3)):
        assert len(engine.clipped_sum(*batch((1, 28, 28), size), Flat(1.0)).shares) == shares
    _, parts = BookKeeping(build("cnn", "relu", 3), Cores(3))._parts(1000)
    assert max(part.stop - part.start for part in parts) <= CHUNK_CONV


def short_of_memory(engine, monkeypatch, most):
    """The engine on a device with room for that many examples at once."""
    for name in ("_add", "_logits"):
        work = getattr(engine, name)

        def limited(x, *others, work=work):
            if len(x) > most:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return work(x, *others)

        monkeypatch.setattr(engine, name, limited)
    return engine


@pytest.mark.parametrize("most", [7, 1])
@KINDS
def test_a_batch_that_memory_does_not_hold_goes_in_smaller_parts_to_the_same_sum(
    kind, most, monkeypatch
):
    x, y = batch((1, 28, 28), 60)
    whole = engine_on(kind, build("cnn", "tanh", 0)).clipped_sum(x, y, Flat(0.1))
    engine = short_of_memory(engine_on(kind, build("cnn", "tanh", 0)), monkeypatch, most)
    # Somebody else's recording.
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    found = engine.clipped_sum(x, y, Flat(0.1))
    assert 1 <= engine.chunk <= most
    assert_close(found.total, whole.total)
    assert_close(found.norms, whole.norms)
    assert_close(engine.logits(x), engine.module(x))


def test_memory_for_less_than_one_example_and_a_recording_short_of_memory_are_errors(
    monkeypatch,
):
    engine = short_of_memory(engine_on(BookKeeping, build("cnn", "tanh", 0)), monkeypatch, 0)
    with pytest.raises(torch.OutOfMemoryError):
        engine.clipped_sum(*batch((1, 28, 28), 6), Flat(0.1))
    engine = short_of_memory(
        engine_on(BookKeeping, build("cnn", "tanh", 0), chunk=8), monkeypatch, 5
    )
    engine.parameters = SimpleNamespace(is_cuda=True)  # type: ignore[assignment]
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    with pytest.raises(torch.OutOfMemoryError):
        engine.clipped_sum(*batch((1, 28, 28), 60), Flat(0.1))
    assert engine.chunk == 8


def test_what_fills_a_batch_up_adds_exactly_nothing():
    torch.manual_seed(1)
    x, y = batch((1, 28, 28), 100)
    padding = torch.arange(100) >= 37
    for clipping, scaled in WAYS:
        engine, clip = engine_on(BookKeeping, build("cnn", "relu", 2)), CLIPPINGS[clipping](0.5)
        _, inverse = scale_of(engine, scaled)
        engine.chunk = 40  # so that a part is all padding
        with_all = engine.clipped_sum(x, y, clip, inverse).total.clone()
        sums = []
        for stuffing in (x[37:], 1e4 * torch.randn(63, 1, 28, 28)):
            stuffed = torch.cat([x[:37], stuffing])
            sums.append(
                engine.clipped_sum(stuffed, y, clip, inverse, padding=padding).total.clone()
            )
        assert torch.equal(*sums), (clipping, scaled)
        alone = engine.clipped_sum(x[:37], y[:37], clip, inverse).total
        torch.testing.assert_close(sums[0], alone, rtol=1e-4, atol=1e-6)
        assert (with_all - sums[0]).norm() > 0.1 * sums[0].norm(), (clipping, scaled)
