"""Maps of one length: each example by itself, and against the formula."""

import numpy as np
import pytest
import torch

from dpcore.data.loading import load
from dpcore.training.features.kinds import scatter
from dpcore.training.features.normalised import normalised
from dpcore.training.features.pixels import scaled


def test_each_three_maps_have_their_mean_taken_off_and_are_divided_by_their_spread():
    x = torch.rand(3, 6, 4, 5, generator=torch.Generator().manual_seed(2)) * 0.01
    found = normalised(x).numpy()
    groups = x.double().numpy().reshape(3, 2, 60)
    centred = groups - groups.mean(2, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(2, keepdims=True) + 1e-5)
    assert np.abs(found.reshape(3, 2, 60) - expected).max() < 1e-5


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_squared_lengths_are_of_one_size_and_never_beyond_the_bound(name):
    x = scaled(torch.tensor(load(name, "sample").train.images[:64]))
    squares = scatter(x).double().square().sum((1, 2, 3))
    most = 81 * 7 * 7
    assert squares.max() <= most * (1 + 1e-5)
    assert squares.min() > most / 4  # before, they differ more than twentyfold


def test_an_example_has_no_say_in_another_one_s_maps():
    x = torch.rand(8, 81, 7, 7, generator=torch.Generator().manual_seed(3))
    found = normalised(x)
    changed = x.clone()
    changed[3] *= 100
    assert torch.equal(normalised(changed)[torch.arange(8) != 3], found[torch.arange(8) != 3])
