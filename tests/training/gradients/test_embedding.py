"""Ids that stand several times in an example have one row of its gradient: the norm is that of
their sum.
"""

import pytest
import torch
from torch import nn

from dpcore.training.gradients import layers
from dpcore.training.gradients.clipped_sum import group_sizes
from dpcore.training.gradients.clipping import CLIPPINGS, Flat
from dpcore.training.gradients.engines import BookKeeping, engine_of, unknown
from dpcore.training.gradients.layers import MAX_IDS, Factors, MeanOfRows, by_id
from dpcore.training.gradients.rounding import operations, relative_error
from dpcore.training.models import MODELS, build
from tests.training.gradients.test_clipped_sum import KINDS
from tests.training.gradients.test_rounding import hostile_rows
from tests.training.oracles import (
    CORES,
    WAYS,
    Ids,
    assert_close,
    batch,
    engine_on,
    one_at_a_time,
    scale_of,
)

IDS = torch.tensor([[3, 3, 3, 3, 3, 3], [0, 1, 2, 3, 4, 5], [0, 0, 0, 5, 5, 2], [8, 0, 8, 0, 8, 0]])
LABELS = torch.tensor([0, 1, 2, 0])


def network(rate: float = 1.0) -> nn.Sequential:
    torch.manual_seed(4)
    module = nn.Sequential(nn.Embedding(9, 4), MeanOfRows(), nn.Linear(4, 3))
    torch.nn.init.uniform_(module[2].weight, -rate, rate)  # type: ignore[arg-type]
    return module


def test_equal_ids_are_added_up_and_stand_once():
    g = torch.arange(12.0).view(2, 3, 2)
    ids, rows = by_id(torch.tensor([[7, 2, 7], [1, 1, 1]]), g)
    assert ids.tolist() == [[2, 7, -1], [1, -1, -1]]
    assert rows.tolist() == [[[2, 3], [4, 6], [0, 0]], [[24, 27], [0, 0], [0, 0]]]


@KINDS
def test_the_norm_of_an_example_that_repeats_one_id_is_that_of_autograd(kind):
    expected = one_at_a_time(network(30.0), IDS, LABELS)
    found = engine_on(kind, network(30.0)).clipped_sum(IDS, LABELS, Flat(1e9))
    assert_close(found.norms, expected.norm(dim=1))
    assert_close(found.total, expected.sum(0))


@KINDS
def test_an_example_of_repeated_ids_never_contributes_more_than_the_bound(kind):
    engine = engine_on(kind, network(30.0))
    for clipping, scaled in WAYS:
        scale = (
            torch.logspace(-1, 1, len(engine.parameters))
            if scaled
            else torch.ones(len(engine.parameters))
        )
        bound, given = CLIPPINGS[clipping](0.01), scale**-2 if scaled else None
        totals = [
            engine.clipped_sum(IDS[i : i + 1], LABELS[i : i + 1], bound, given).total.clone()
            for i in range(4)
        ]
        lengths = [float((total.double() / scale.double()).norm()) for total in totals]
        most = 0.01 * bound.sensitivity(len(group_sizes(engine.module)))
        assert 0.99 * most < max(lengths) <= most, (clipping, scaled)


@KINDS
@pytest.mark.parametrize("model", ["imdb", "movielens"])
def test_adding_one_example_moves_the_clipped_sum_by_at_most_the_bound(model, kind):
    (shape,) = MODELS[model].only
    engine = engine_on(kind, build(model, "relu", 4, shape, 5), chunk=8)
    x, y = batch(Ids(shape), 9)
    x[8] = 3
    for clipping, scaled in WAYS:
        scale, given = scale_of(engine, scaled)
        bound = CLIPPINGS[clipping](1e-3)
        with_it = engine.clipped_sum(x, y, bound, given).total.double() / scale
        without = engine.clipped_sum(x[:8], y[:8], bound, given).total.double() / scale
        distance = (with_it - without).norm().item()
        assert distance <= 1e-3 * bound.sensitivity(len(group_sizes(engine.module))) * (1 + 1e-4), (
            clipping,
            scaled,
        )
        # So it is clipped, and the test does look at the bound.
        assert distance >= 1e-3 * 0.7, (clipping, scaled)


def test_norms_of_parts_that_are_not_added_up_would_break_the_bound(monkeypatch):
    monkeypatch.setattr(layers, "by_id", lambda ids, g: (ids, g.contiguous()))
    engine = engine_on(BookKeeping, network(30.0))
    least_likely = engine.logits(IDS[:1]).argmin(1)
    total = engine.clipped_sum(IDS[:1], least_likely, Flat(0.01)).total
    assert total.norm() > 0.01 * 1.5


def test_norms_of_hostile_rows_err_by_less_than_the_bound():
    for length in [3, 61, 512]:
        layer = layers.Embedding(nn.Embedding(length, 16))
        g = hostile_rows(16 * length).view(5, length, 16)
        ids = torch.arange(length).expand(5, -1)
        inverse = torch.rand(length, 16) + 0.5
        for given, weights in ((None, torch.ones(length, 16)), ([inverse], inverse)):
            exact = (g.double().square() * weights.double()).sum((1, 2))
            assert (
                (layer.book(ids, g, given)[0].double() / exact - 1).abs()
                <= relative_error(layer.operations())
            ).all(), length


def test_an_embedding_allows_for_as_many_roundings_as_any_length_takes():
    layer = layers.Embedding(nn.Embedding(10, 16))
    assert layer.operations() >= max(operations(16 * length) for length in range(1, MAX_IDS + 1))


def test_examples_that_are_no_ids_or_too_many_are_refused():
    engine = engine_on(BookKeeping, network())
    for x in (torch.zeros(2, 6), torch.zeros(2, 2, 3).long(), torch.zeros(2, MAX_IDS + 1).long()):
        with pytest.raises(ValueError, match="to be ids"):
            engine.clipped_sum(x, LABELS[:2], Flat(1.0))


def test_an_embedding_that_looks_at_more_than_one_example_is_refused():
    for options in [{"max_norm": 1.0}, {"scale_grad_by_freq": True}]:
        with pytest.raises(ValueError, match="noise covers neither"):
            engine_of(nn.Sequential(nn.Embedding(9, 4, **options), MeanOfRows()), CORES)


def test_what_book_keeping_cannot_do_of_embeddings_is_said_and_done_exactly_by_the_other_engine():
    for parts in ([nn.Embedding(9, 4, padding_idx=0)], [nn.Flatten(), nn.Embedding(9, 4)]):
        module = nn.Sequential(*parts, MeanOfRows())
        assert "Embedding with padding_idx or behind" in unknown(module)
        expected = one_at_a_time(module, IDS, LABELS).norm(dim=1)
        assert_close(engine_of(module, CORES).clipped_sum(IDS, LABELS, Flat(1.0)).norms, expected)


def test_factors_are_multiplied_and_laid_side_by_side():
    x = torch.tensor([[[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]])
    assert Factors(1)(x).tolist() == [[10.0, 3.0, 4.0, 6.0, 7.0]]
