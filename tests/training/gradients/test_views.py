"""Views of an example: their gradients are averaged, and the mean is clipped, on every engine and
for every layer.
"""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcore.training.gradients import engines
from dpcore.training.gradients.clipped_sum import Engine, group_sizes
from dpcore.training.gradients.clipping import CLIPPINGS, Flat
from dpcore.training.gradients.engines import KNOWN, BookKeeping, PerExample, engine_of, unknown
from dpcore.training.models import build
from tests.training.gradients.test_clipped_sum import KINDS, short_of_memory
from tests.training.oracles import (
    CORES,
    SHAPES,
    WAYS,
    Ids,
    assert_close,
    assert_equals_the_loop,
    batch,
    clipped_one_at_a_time,
    engine_on,
    layer_sizes,
    means_one_at_a_time,
    one_at_a_time,
    scale_of,
)

AVERAGED = {
    name: (make, shape) for name, (make, shape) in SHAPES.items() if not isinstance(shape, Ids)
}
VIEWS = 3
C = 0.1
pytestmark = pytest.mark.usefixtures("small_shares")


def views_of(shape: tuple[int, ...], count: int, views: int = VIEWS) -> tuple[Tensor, Tensor]:
    """Examples (count, views, ...) and their labels (count,)."""
    x, y = batch(shape, count * views)
    return x.unflatten(0, (count, views)), y[:count]


def assert_averages(engine: Engine, module: nn.Module, shape: tuple[int, ...], ways=WAYS) -> None:
    x, y = views_of(shape, 7)
    losses = torch.stack(
        [F.cross_entropy(module(x[i]), y[i].expand(VIEWS)) for i in range(len(x))]
    ).detach()
    assert_equals_the_loop(engine, x, y, means_one_at_a_time(module, x, y), losses, ways)


@KINDS
@pytest.mark.parametrize(("make", "shape"), AVERAGED.values(), ids=AVERAGED)
def test_the_mean_of_an_example_s_views_is_clipped_as_in_a_loop_over_examples(make, shape, kind):
    torch.manual_seed(1)
    module = make()
    assert unknown(module, VIEWS) == ""
    assert_averages(engine_on(kind, module, 8, VIEWS), module, shape)


@pytest.mark.parametrize(
    "name", [name for name in SHAPES if name not in AVERAGED and name != "imdb"]
)
def test_what_book_keeping_cannot_average_is_said_and_done_exactly_by_the_other_engine(name):
    torch.manual_seed(1)
    module, shape = SHAPES[name][0](), SHAPES[name][1]
    engine = engine_of(copy.deepcopy(module), CORES, views=VIEWS)
    assert isinstance(engine, PerExample)
    assert engine.name == "vmap: no average over views for Embedding"
    assert_averages(engine, module, shape, [("flat", False)])
    with pytest.raises(KeyError):
        BookKeeping(module, CORES, VIEWS)


def test_to_clip_each_view_or_to_divide_after_clipping_would_give_another_sum():
    """Both are as private: only the sum tells them from the mean that is clipped."""
    module = build("cnn", "tanh", 4)
    x, y = views_of((1, 28, 28), 7)
    # Views that have gradients of their own.
    x *= torch.tensor([0.1, 1.0, 9.0])[:, None, None, None]
    # (B, K, d).
    each = torch.stack(
        [one_at_a_time(module, views, y[i].expand(VIEWS)) for i, views in enumerate(x)]
    )
    bound = each.mean(1).norm(dim=1).median().item()
    found = engine_on(BookKeeping, module, views=VIEWS).clipped_sum(x, y, Flat(bound)).total

    def clipped(rows: Tensor) -> Tensor:
        return rows * (bound / rows.norm(dim=-1, keepdim=True)).clamp(max=1)

    assert_close(found, clipped(each.mean(1)).sum(0))
    for wrong in (clipped(each).mean(1), clipped(each.sum(1)) / VIEWS):
        assert (wrong.sum(0) - found).norm() > 0.1 * found.norm()


@KINDS
def test_equal_views_give_what_one_view_gives(kind):
    module = build("cnn", "tanh", 4)
    x, y = batch((1, 28, 28), 9)
    one = engine_on(kind, module).clipped_sum(x, y, Flat(C))
    for views in (2, 16):
        found = engine_on(kind, module, views=views).clipped_sum(
            x[:, None].expand(-1, views, -1, -1, -1), y, Flat(C)
        )
        assert_close(found.total, one.total, case=views)
        assert_close(found.norms, one.norms, case=views)
        assert_close(found.losses, one.losses, case=views)


def test_one_view_goes_by_no_way_of_views_and_has_no_axis_of_its_own(monkeypatch):
    """The layers are those of `KNOWN` themselves, so that each bit is as without views."""
    monkeypatch.setattr(engines, "AVERAGED", {})
    module = build("cnn", "tanh", 4)
    engine = engine_of(copy.deepcopy(module), CORES, views=1)
    assert isinstance(engine, BookKeeping)
    assert [type(layer) for layer in engine._layers] == [
        type(KNOWN[type(child)](child)) for child in module
    ]
    with pytest.raises(KeyError):
        BookKeeping(copy.deepcopy(module), CORES, views=2)


@KINDS
def test_an_answer_is_the_mean_over_the_views_of_an_example(kind):
    x, _ = batch((1, 28, 28), 10 * VIEWS)
    module = build("cnn", "tanh", 4)
    each = module(x).detach().unflatten(0, (10, VIEWS))
    answers = engine_on(kind, module, chunk=6, views=VIEWS).logits(x.unflatten(0, (10, VIEWS)))
    assert_close(answers, each.sum(1) / VIEWS)
    assert not torch.allclose(answers, each[:, 0], atol=1e-3)


@KINDS
@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_sums_of_neighbouring_batches_differ_by_at_most_the_bound(model, kind):
    module = build(model, "tanh", 4, width=60)
    engine = engine_on(kind, module, chunk=8, views=VIEWS)
    x, y = views_of((1, 28, 28), 6)
    x[5] *= 100
    means = means_one_at_a_time(copy.deepcopy(module).double(), x.double(), y)  # (B, d) in float64
    for clipping, scaled in WAYS:
        scale, given = scale_of(engine, scaled)
        exact = scale if given is None else given.double().rsqrt()
        bound = CLIPPINGS[clipping](C)
        most = C * bound.sensitivity(len(group_sizes(engine.module)))
        own = [
            engine.clipped_sum(x[i : i + 1], y[i : i + 1], bound, given).total.double() / exact
            for i in range(6)
        ]
        # As real numbers, with rounding.
        assert max(part.norm().item() for part in own) <= most, (clipping, scaled)
        with_it, without = (
            engine.clipped_sum(x[:n], y[:n], bound, given).total.double() / exact for n in (6, 5)
        )
        distance = (with_it - without).norm().item()
        # The sums themselves are rounded.
        assert 0.9 * C <= distance <= most * (1 + 1e-5), (clipping, scaled)
        clipped, _ = clipped_one_at_a_time(means / exact, clipping, C, layer_sizes(module))
        assert_close(with_it, clipped.sum(0), case=(clipping, scaled))


@KINDS
def test_rows_that_fill_a_batch_up_add_nothing_and_an_empty_batch_gives_an_all_zero_sum(kind):
    engine = engine_on(kind, build("cnn", "tanh", 4), views=VIEWS)
    x, y = views_of((1, 28, 28), 5)
    padding = torch.arange(8) >= 5
    filled = engine.clipped_sum(
        x[[0, 1, 2, 3, 4, 0, 0, 0]], y[[0, 1, 2, 3, 4, 0, 0, 0]], Flat(C), padding=padding
    )
    total = filled.total.clone()
    assert_close(total, engine.clipped_sum(x, y, Flat(C)).total)
    assert not engine.clipped_sum(x[:0], y[:0], Flat(C)).total.any()


def test_a_transform_takes_the_place_of_the_mean_over_the_views():
    module = build("cnn", "tanh", 7)
    x, y = views_of((1, 28, 28), 5)
    rows = means_one_at_a_time(module, x, y).square()
    engine = engine_of(copy.deepcopy(module), CORES, transforms=True, views=VIEWS)
    assert_close(
        engine.clipped_sum(x, y, Flat(1.0), transform=torch.square).norms,
        rows.norm(dim=1),
        2 * 2048,
    )


@pytest.mark.parametrize("views", [1, VIEWS])
@KINDS
def test_halves_become_float32_a_part_at_a_time(kind, views, monkeypatch):
    x, y = batch((7,), 20 * views)
    x, y = (x.unflatten(0, (20, views)) if views > 1 else x).half(), y[:20]
    module = nn.Sequential(nn.Linear(7, 5))
    engine, parts = engine_on(kind, module, chunk=6, views=views), []
    add = engine._add
    monkeypatch.setattr(engine, "_add", lambda x, *others: parts.append(x) or add(x, *others))
    found = engine.clipped_sum(x, y, Flat(C))
    assert {part.dtype for part in parts} == {torch.float32}
    assert max(part.numel() for part in parts) <= 6 * 7
    exact = engine_on(kind, module, chunk=6, views=views).clipped_sum(x.float(), y, Flat(C))
    assert_close(found.total, exact.total)
    assert_close(found.norms, exact.norms)
    assert_close(engine.logits(x), engine.logits(x.float()))


def test_an_engine_that_forms_gradients_holds_as_many_rows_as_before_and_no_more_gradients():
    # 64 rows, or as many gradients of 5 MiB as 64 MiB have room for.
    for features, most in ((7, 64), (2**18, 12)):
        one, four = (
            PerExample(nn.Sequential(nn.Linear(features, 5)), "", views) for views in (1, 4)
        )
        assert (one.chunk, four.chunk // 4) == (most, min(16, most))


@KINDS
def test_views_that_memory_does_not_hold_go_in_smaller_parts_to_the_same_sum(kind, monkeypatch):
    x, y = views_of((1, 28, 28), 30)
    whole = engine_on(kind, build("cnn", "tanh", 0), 64, VIEWS).clipped_sum(x, y, Flat(C))
    engine = short_of_memory(engine_on(kind, build("cnn", "tanh", 0), 64, VIEWS), monkeypatch, 2)
    assert_close(engine.clipped_sum(x, y, Flat(C)).total, whole.total)
    assert engine.chunk // VIEWS == 2


def test_another_number_of_views_is_refused_and_so_is_one_that_is_no_whole_number():
    engine = engine_on(BookKeeping, nn.Sequential(nn.Linear(7, 5)), views=VIEWS)
    for shape in [(5,), (5, 7), (5, 2, 7), (5, 4, 7)]:
        with pytest.raises(ValueError, match=r"to be \(B, 3, \.\.\.\)"):
            engine.clipped_sum(torch.zeros(shape), torch.zeros(5, dtype=torch.long), Flat(C))
    for views in [0, -1, 1.5, True]:
        with pytest.raises(ValueError, match="Expected views="):
            engine_of(nn.Sequential(nn.Linear(3, 5)), CORES, views=views)
