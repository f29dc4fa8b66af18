"""Releases before the first step: the effect of one example, noise, charge, and use."""

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy import stats

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Release
from dpcore.training import one_time_releases as module
from dpcore.training.config import RunConfig
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.inputs import inputs_of
from dpcore.training.loop import train
from dpcore.training.models import build
from dpcore.training.one_time_releases import (
    clipped_rows,
    neuron_count,
    private_mean,
    relevance_of,
    without_mean,
)
from dpcore.training.plan import plan
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from tests.training.small_runs import SMALL, run_of, ticking

CPU = torch.device("cpu")
CENTRED = replace(SMALL, mean_sigma=5.0)


def examples(count: int, *shape: int, seed: int = 3) -> torch.Tensor:
    return torch.rand(count, *shape, generator=torch.Generator().manual_seed(seed)) - 0.3


def noise_of(size: int, seed: int = 5) -> GaussianNoise:
    return GaussianNoise(size, SeedSequence(seed), CPU, Cores(1))


def sum_of(x: torch.Tensor, views: int = 1) -> torch.Tensor:
    """The sum that noise is added to."""
    return torch.stack(
        [module._rows(x[i : i + 1], views).mean(1).double()[0] for i in range(len(x))]
    ).sum(0)


def test_one_example_moves_the_sum_by_at_most_one() -> None:
    for views in [1, 2, 3, 15, 16]:
        for size in [1e-30, 1e-6, 1.0, 1e6, 1e15]:
            x = size * examples(40, *((views,) if views > 1 else ()), 1, 9, 11)
            for row in x:
                assert 0 <= torch.linalg.vector_norm(sum_of(row[None], views)).item() <= 1.0, (
                    views,
                    size,
                )
            assert sum_of(torch.zeros_like(x[:1]), views).abs().max() == 0, (views, size)
            # Which makes the mean as long as it can be.
            alike = x[:, :1].expand_as(x) if views > 1 else x
            lengths = [torch.linalg.vector_norm(sum_of(row[None], views)).item() for row in alike]
            assert max(lengths) <= 1.0, (views, size)
            if size >= 1e-6:
                assert min(lengths) > 0.999, "no budget is given away"


def test_what_safety_takes_off_is_more_than_all_roundings_of_sixteen_views_can_add() -> None:
    unit = 2.0**-24
    assert float(np.float32(module.MEAN_SAFETY)) * (1 + unit) ** 19 <= 1


def test_without_noise_it_is_the_mean_of_the_directions() -> None:
    x = examples(5000, 2, 6)  # more than are taken at once
    flat = x.flatten(1).double().numpy()
    expected = (flat / np.linalg.norm(flat, axis=1, keepdims=True)).mean(0)
    np.testing.assert_allclose(
        private_mean(x, 1, 3.0, None).numpy(), expected, rtol=1e-5, atol=1e-8
    )
    seen = x.view(2500, 2, 2, 6)  # of two views each
    np.testing.assert_allclose(
        private_mean(seen, 2, 3.0, None).numpy(), expected, rtol=1e-5, atol=1e-8
    )


def drawn(sigma: float) -> np.ndarray:
    """The noise that a release adds to the sum of 50 examples of 20,000 numbers."""
    x = examples(50, 20_000)
    return (
        50 * (private_mean(x, 1, sigma, noise_of(20_000)) - private_mean(x, 1, sigma, None)).numpy()
    )


def test_noise_of_the_sum_has_the_sigma_that_is_charged() -> None:
    assert stats.kstest(drawn(7.0) / 7.0, "norm").pvalue > 1e-3
    assert stats.kstest(drawn(7.0) / 6.5, "norm").pvalue < 1e-3, "the test tells 7 from 6.5"


def test_what_is_released_is_rounded_once_to_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    # A division by 16 is exact.
    released = (private_mean(examples(16, 300), 1, 2.0, noise_of(300)) * 16).numpy()
    assert np.array_equal(released, released.astype(np.float32).astype(np.float64))


def test_what_is_left_of_an_example_is_of_its_own_alone_and_of_one_length() -> None:
    for kind in [torch.float16, torch.float32]:
        for views in [1, 2]:
            x = examples(30, *((views,) if views > 1 else ()), 3, 5, 5).to(kind)
            mean = private_mean(x, views, 2.0, noise_of(75))
            left = without_mean(x, views, mean)
            assert (left.shape, left.dtype) == (x.shape, kind), (kind, views)
            rows = left.double().view(30 * views, 75)
            torch.testing.assert_close(
                rows.norm(dim=1),
                torch.full((30 * views,), math.sqrt(75.0)).double(),
                rtol=1e-3,
                atol=0,
            )
            flat = x.double().view(30 * views, 75)
            expected = flat / flat.norm(dim=1, keepdim=True) - mean
            cosines = torch.nn.functional.cosine_similarity(rows, expected)
            assert cosines.min() > 0.9999, (kind, views)
            for i in (0, 29):
                assert torch.equal(without_mean(x[i : i + 1], views, mean)[0], left[i]), (
                    kind,
                    views,
                )
            assert len(without_mean(x[:0], views, mean)) == 0, (kind, views)


def test_it_is_charged_once_before_the_steps() -> None:
    mechanism, plainly = plan(CENTRED).mechanism, plan(SMALL).mechanism
    assert mechanism
    assert plainly
    assert mechanism.releases == (Release(1.0, 5.0), *plainly.releases)
    with_it, without = (
        ACCOUNTANTS[CERTIFIED].curve(each, each.steps, 1e-5).last for each in (mechanism, plainly)
    )
    assert with_it.lower
    assert with_it.lower > without.value


@pytest.mark.parametrize(("private", "views"), [(True, 1), (False, 1), (True, 2)])
def test_a_run_trains_and_tests_on_what_is_left(private: bool, views: int) -> None:
    config = replace(CENTRED, private=private, views=views)
    run, inputs = run_of(config), inputs_of(config, CPU)
    assert torch.equal(run.train[0], run_of(config).train[0])
    exact = private_mean(inputs.train[0], views, 5.0, None)
    mean = noisy_mean(inputs.train[0], run.train[0], views)
    error = (mean - exact) * config.examples
    if private:
        assert 4.0 < error.std().item() < 6.0, "noise of sigma 5 on the sum"
        assert not torch.equal(run.train[0], run_of(replace(config, seed=9)).train[0])
    else:
        assert error.abs().max().item() < 1.0
    assert torch.equal(run.test[0], run_of(config).test[0])
    lengths = run.test[0].flatten(-3).norm(dim=-1)  # of each view
    assert lengths.std() < 1e-3
    assert lengths.mean().item() == pytest.approx(math.sqrt(784), rel=1e-4)


def noisy_mean(before: torch.Tensor, after: torch.Tensor, views: int) -> torch.Tensor:
    """The mean that was taken off, found from two examples: their directions less multiples of what
    is left of them.

    r - m = s a for an example, with s unknown: two examples give s and m by least squares.
    """
    pairs = [part.double().flatten(0, int(views > 1)).flatten(1)[:2] for part in (before, after)]
    rows, left = pairs[0] / pairs[0].norm(dim=1, keepdim=True) * (1 - 1e-6), pairs[1]
    scales = torch.linalg.lstsq(
        torch.stack([left[0], -left[1]], 1), (rows[0] - rows[1])[:, None]
    ).solution[:, 0]
    return rows[0] - scales[0] * left[0]


def test_what_it_does_not_go_with_is_named() -> None:
    for changes, words in [
        ({"mean_sigma": -1.0}, r"mean_sigma=-1.0 to be at least"),
        ({"mean_sigma": 1e-9}, r"mean_sigma=1e-09 to be at least"),
        ({"mean_sigma": math.nan}, "mean_sigma=nan"),
        (
            {"mean_sigma": 5.0, "pca": 20, "model": "mlp"},
            "Set mean_sigma to 0: a private mean does not",
        ),
        ({"mean_sigma": 5.0, "optimizer": "adppl"}, "Set mean_sigma to 0: a private mean does not"),
        (
            {"mean_sigma": 5.0, "sampler": "shuffle"},
            "Set mean_sigma to 0, or choose the sampler poisson",
        ),
        (
            {"mean_sigma": 5.0, "dataset": "adult", "source": "full", "model": "adult"},
            "Leave mean_sigma at 0: 5 needs",
        ),
    ]:
        with pytest.raises(ValueError, match=words):
            plan(RunConfig(**changes))  # type: ignore[arg-type]


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
    x, y = (
        torch.randint(4, (30, ids), generator=torch.Generator().manual_seed(1)),
        torch.arange(30) % 5,
    )
    rows, dimensions = clipped_rows(module, x, y), module[0].weight.shape[1]  # type: ignore[union-attr]
    assert torch.linalg.vector_norm(rows.double(), dim=1).max().item() <= 1.0
    assert rows.shape == (30, neuron_count(module))
    value = module[0](x[:1]).detach().requires_grad_()
    module[1:](value)[0, y[0]].backward()
    found = (value * value.grad).abs().sum((0, 1))  # type: ignore[operator]
    torch.testing.assert_close(
        rows[0, :dimensions] / rows[0, 0], (found / found[0]).detach(), rtol=1e-3, atol=1e-6
    )
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
