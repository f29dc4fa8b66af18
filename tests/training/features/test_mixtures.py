"""Maps of one length, each example by itself, and random mixtures: at each place a sum of the maps there, cut at 0."""

import numpy as np
import pytest
import torch
from scipy import stats

from dpcore.data.loading import load
from dpcore.training.features.kinds import KINDS, kind_of, scatter
from dpcore.training.features.mixtures import mixed, normal, weights
from dpcore.training.features.normalised import normalised
from dpcore.training.features.pixels import scaled

SEEN = scaled(torch.tensor(load("mnist", "sample").train.images[:4]))


@pytest.mark.parametrize("maps", [81, 243])
def test_the_weights_are_normal_of_variance_one_over_the_maps(maps: int) -> None:
    drawn = weights(maps).double().numpy() * np.sqrt(maps)
    assert drawn.shape == (192, maps)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-3
    assert stats.kstest(drawn.ravel() * 1.1, "norm").pvalue < 1e-3, "the test tells 1 from 1.1"
    rows = np.corrcoef(drawn)[np.triu_indices(192, 1)]
    assert abs(rows).max() < 5.5 / np.sqrt(maps), "no mixture is another one again"


def test_a_weight_follows_from_its_place_alone() -> None:
    torch.testing.assert_close(weights(243)[:, :81] * 3**0.5, weights(81), rtol=0, atol=2e-6)
    assert normal(0, 0) != normal(0, 1) != normal(1, 0)


def test_a_mixture_is_the_weighted_sum_of_the_maps_at_a_place_cut_at_0() -> None:
    maps = scatter(SEEN)
    expected = np.einsum("ij,bjrc->birc", weights(81).double().numpy(), maps.double().numpy()).clip(min=0)
    found = mixed(maps)
    assert found.shape == (4, 192, 7, 7)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)
    assert 0.3 < (found == 0).double().mean() < 0.7


def test_the_kind_gives_them_for_grey_and_colour() -> None:
    kind = kind_of("scatter_random")
    assert torch.equal(kind.transform(SEEN), mixed(scatter(SEEN)))
    colour = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(1)) * 2 - 1
    assert kind.transform(colour).shape[1:] == kind.shape_of((3, 32, 32)) == (192, 8, 8)
    assert KINDS["scatter_random"].transform(SEEN[:1]).shape[1:] == kind.shape_of((1, 28, 28))


def test_each_three_maps_have_their_mean_taken_off_and_are_divided_by_their_spread():
    x = torch.rand(3, 6, 4, 5, generator=torch.Generator().manual_seed(2)) * 0.01
    found = normalised(x).numpy()
    groups = x.double().numpy().reshape(3, 2, 60)
    centred = groups - groups.mean(2, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(2, keepdims=True) + 1e-5)
    assert np.abs(found.reshape(3, 2, 60) - expected).max() < 1e-5
