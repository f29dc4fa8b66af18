"""The relevance release of adppl: what one record can change, its noise, its charge, and where it ends up."""

import dataclasses

import pytest
import torch

from dpcore.training.loop import train
from dpcore.training.models import build
from dpcore.training.plan import plan
from dpcore.training.releases.relevance import clipped_rows, neuron_count, relevance_of
from tests.training.small_runs import SMALL, ticking

ADPPL = {"optimizer": "adppl", "relevance_sigma": 4.0}


def images(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.rand(count, 1, 28, 28, generator=generator), torch.arange(count) % 10


@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_a_records_relevances_are_value_times_slope_of_its_own_logit(model):
    module, (x, y) = build(model, "tanh", 0), images(3)
    rows = clipped_rows(module, x, y)
    assert rows.shape == (3, neuron_count(module))
    for i in range(3):
        value, parts = x[i : i + 1], []
        for child in module:
            value = child(value)
            if list(child.parameters()):
                value.retain_grad()
                parts.append(value)
        value[0, y[i]].backward()
        found = torch.cat([(part * part.grad).abs().flatten(2).sum(-1)[0] if part.dim() == 4 else
                           (part * part.grad).abs()[0] for part in parts])  # fmt: skip
        torch.testing.assert_close(rows[i], found.detach() / found.norm(), rtol=1e-4, atol=1e-6)
        module.zero_grad()


@pytest.mark.parametrize(("model", "ids"), [("imdb", 256), ("movielens", 2)])
def test_a_dimension_of_an_embedding_is_a_neuron_whose_relevance_all_ids_share(model, ids):
    module = build(model, "relu", 0, (ids,), 5)
    x, y = torch.randint(4, (30, ids), generator=torch.Generator().manual_seed(1)), torch.arange(30) % 5
    rows, dimensions = clipped_rows(module, x, y), module[0].weight.shape[1]  # type: ignore[union-attr]
    assert torch.linalg.vector_norm(rows.double(), dim=1).max().item() <= 1.0
    assert rows.shape == (30, neuron_count(module))
    value = module[0](x[:1]).detach().requires_grad_()
    module[1:](value)[0, y[0]].backward()
    found = (value * value.grad).abs().sum((0, 1))  # type: ignore[operator]
    torch.testing.assert_close(rows[0, :dimensions] / rows[0, 0], (found / found[0]).detach(), rtol=1e-3, atol=1e-6)
    relevance = relevance_of(module, (x, y), 1.0, None)
    assert len(relevance) == sum(weight.numel() for weight in module.parameters())
    table = relevance[: module[0].weight.numel()].view(-1, dimensions)  # type: ignore[operator]
    assert torch.equal(table[0], table[-1])
    assert table[0].std() > 0


def test_one_record_moves_the_sum_by_at_most_one_also_a_blank_one():
    module, (x, y) = build("cnn", "relu", 0), images(20)
    x[0], x[1] = 0.0, x[1] * 1e6
    lengths = torch.linalg.vector_norm(clipped_rows(module, x, y).double(), dim=1)
    assert lengths.max().item() <= 1.0
    assert lengths[1:].min().item() > 0.99


def test_every_neurons_relevance_is_spread_over_its_weights_and_bias():
    module = build("mlp", "tanh", 0)
    relevance = relevance_of(module, images(50), 1.0, None)
    assert len(relevance) == 795_010
    first, bias = relevance[: 784 * 1000].view(1000, 784), relevance[784_000:785_000]
    assert torch.equal(first[:, 0], bias)
    assert torch.equal(first[:, 0], first[:, 783])
    assert relevance.min().item() >= 0.1 - 1e-6
    assert first.std().item() > 0.05


@pytest.mark.parametrize("options", [{"private": False}, {"sigma": 0.0}])
def test_without_privacy_no_noise_is_drawn_for_it_and_nothing_charged(options, stds):
    config = dataclasses.replace(SMALL, **ADPPL, **options)
    list(train(config, ticking()))
    assert stds == []
    assert plan(config).mechanism is None
