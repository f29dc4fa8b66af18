"""Random mixtures, cosines and patches, by their definitions, in float64 at single places; and
their numbers.
"""

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import stats

from dpcore.data.loading import load
from dpcore.training.features.compute import scaled
from dpcore.training.features.kinds import KINDS
from dpcore.training.features.random_maps import filters, mixed, phases, uniforms, weights
from dpcore.training.features.scattering import scatter
from tests.training.features.fourier import reference

SEEN = scaled(torch.tensor(load("fashion_mnist", "sample").train.images[:4]))
COLOUR = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(1)) * 2 - 1
ODD = torch.rand(2, 3, 9, 22, generator=torch.Generator().manual_seed(2)) * 2 - 1


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
    assert len({uniforms(*place) for place in ((3, 0, 0), (3, 0, 1), (3, 1, 0), (4, 0, 0))}) == 4


def test_phases_are_uniform_and_filters_white_of_mean_0_and_length_1_on_every_machine() -> None:
    turns = phases().double().numpy() / (2 * np.pi)
    assert stats.kstest(turns, "uniform").pvalue > 1e-3
    assert stats.kstest(turns * 0.8, "uniform").pvalue < 1e-3, (
        "the test tells a turn from a shorter one"
    )
    for channels in (1, 3):
        drawn = filters(channels).double().numpy().reshape(96, -1)
        assert drawn.shape[1] == 36 * channels
        np.testing.assert_allclose(drawn.sum(1), 0, atol=1e-4)
        np.testing.assert_allclose((drawn**2).sum(1), 1, atol=1e-4)
        assert abs(np.corrcoef(drawn)[np.triu_indices(96, 1)]).max() < 5.5 / np.sqrt(36 * channels)
    pinned = (phases()[:2], filters(1)[0, 0, 0, :2])
    assert [(part.double() * 2**20).tolist() for part in pinned] == PINNED


PINNED = [[4012748, 547765], [167891, -19248]]  # in parts of 2^20


Array = NDArray[np.float64]
MAX_COSINE_ERROR = 0.02


def test_a_mixture_is_the_weighted_sum_of_the_maps_at_a_place_cut_at_0() -> None:
    maps = scatter(SEEN)
    expected = np.einsum("ij,bjrc->birc", weights(81).double().numpy(), maps.double().numpy()).clip(
        min=0
    )
    found = mixed(maps)
    assert found.shape == (4, 192, 7, 7)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)
    assert 0.3 < (found == 0).double().mean() < 0.7


def by_definition(image: Array) -> tuple[Array, Array]:
    """The cosines (192, h, w) and the patches (192, h, w) of an image (C, H, W) in [0, 1]."""
    maps = np.concatenate([reference(np.sqrt(channel), 2) for channel in image])
    threes = maps.reshape(len(maps) // 3, -1)
    threes = (threes - threes.mean(1, keepdims=True)) / np.sqrt(threes.var(1, keepdims=True) + 1e-5)
    maps = threes.reshape(maps.shape)
    maps = maps / np.sqrt((maps**2).mean(0) + 0.1)
    angles = (
        1.7 * np.tensordot(weights(len(maps)).double().numpy(), maps, 1)
        + phases().numpy()[:, None, None]
    )
    windows = sliding_window_view(np.pad(image, ((0, 0), (3, 2), (3, 2))), (6, 6), axis=(1, 2))
    contrast = np.sqrt(windows.var((0, 3, 4)) * 36 * len(image) + 0.1)
    answers = np.einsum("fcij,chwij->fhw", filters(len(image)).double().numpy(), windows) / contrast
    return blocks(np.cos(angles), 2), blocks(
        np.concatenate([answers.clip(min=0), -answers.clip(max=0)]), 4
    )


def blocks(x: Array, side: int) -> Array:
    """The means over blocks of so many rows and columns, fewer at the end."""
    for axis in (1, 2):
        starts = np.arange(0, x.shape[axis], side)
        x = np.add.reduceat(x, starts, axis) / np.expand_dims(
            np.diff([*starts, x.shape[axis]]), (0, 3 - axis)
        )
    return x


@pytest.mark.parametrize("images", [SEEN, COLOUR, ODD], ids=["grey", "colour", "odd"])
def test_the_kind_is_the_cosines_of_the_maps_of_root_pixels_beside_the_patches_of_pixels(
    images: torch.Tensor,
) -> None:
    kind = KINDS["scatter_cosines"]
    shape = kind.shape_of(tuple(images.shape[1:]))
    assert shape == (384, *(-(-side // 4) for side in images.shape[2:]))
    unit = np.sqrt(np.prod(shape) / 16 / (1 + 0.7**2))
    pixels = (images.double() if images.shape[1] == 1 else (images.double() + 1) / 2).numpy()
    for found, image in zip(kind.transform(images).double().numpy(), pixels, strict=True):
        first, second = by_definition(image)
        assert found.shape == shape
        worst = np.abs(found[:192] * np.linalg.norm(first) / unit - first).max()
        assert worst < MAX_COSINE_ERROR, "what cutting the wavelets costs"
        np.testing.assert_allclose(
            found[192:] * np.linalg.norm(second) / (0.7 * unit), second, atol=1e-5
        )
        assert first.std() > 20 * MAX_COSINE_ERROR


def test_a_blank_image_has_cosines_alone() -> None:
    found = KINDS["scatter_cosines"].transform(torch.zeros(1, 1, 28, 28))
    assert found.isfinite().all()
    assert found[:, :192].abs().max() > 0 == found[:, 192:].abs().max()


def test_the_kinds_give_them_for_grey_and_colour() -> None:
    kind = KINDS["scatter_random"]
    assert torch.equal(kind.transform(SEEN), mixed(scatter(SEEN)))
    assert kind.transform(COLOUR).shape[1:] == kind.shape_of((3, 32, 32)) == (192, 8, 8)
    assert KINDS["scatter_random"].transform(SEEN[:1]).shape[1:] == kind.shape_of((1, 28, 28))
