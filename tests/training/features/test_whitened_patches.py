"""Whitened patches, by their definition, in float64 and one image at a time."""

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import sqrtm

from dpcore.training.features.kinds import KINDS
from dpcore.training.features.whitened_patches import (
    covariance,
    mixtures,
    normal_rows,
    whitened_filters,
)
from tests.training.features.test_kinds import colours
from tests.training.features.test_random_maps import ODD, SEEN, blocks

KIND = KINDS["patches"]
Array = NDArray[np.float64]


def by_waves(side: int, channels: int) -> Array:
    """The covariance as a sum of waves of power 1 / f^2, for each colour."""
    frequencies = np.arange(-32, 32) / 64
    f, g = (each.ravel() for each in np.meshgrid(frequencies, frequencies))
    power = 1 / np.where((f == 0) & (g == 0), 1 / 128**2, f**2 + g**2)
    rows, columns = (each.ravel() for each in np.mgrid[:side, :side])
    waves = np.exp(2j * np.pi * (np.outer(rows, f) + np.outer(columns, g)))
    space = (waves * power @ waves.conj().T).real / power.sum()
    if channels == 1:
        return space
    vectors = [
        np.array(each) / np.linalg.norm(each) for each in ([1, 1, 1], [1, 0, -1], [1, -2, 1])
    ]
    colour = np.einsum("i,ij,ik->jk", (1, 0.3, 0.15), vectors, vectors)
    return np.kron(colour, space)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("side", [4, 6, 8])
def test_a_filter_is_a_normal_one_times_the_root_of_the_inverse_covariance(
    side: int, channels: int
) -> None:
    expected = by_waves(side, channels)
    np.testing.assert_allclose(covariance(side, channels), expected, atol=1e-12)
    floored = expected + 0.03 * np.trace(expected) / len(expected) * np.eye(len(expected))
    drawn = np.linalg.solve(
        np.real(sqrtm(floored)), normal_rows(f"first {side}", 128, len(expected)).T
    ).T
    drawn -= drawn.mean(1, keepdims=True)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    found = whitened_filters(side, channels).double().numpy().reshape(128, -1)
    np.testing.assert_allclose(found, drawn, atol=2e-6)


def test_the_numbers_are_normal_and_the_same_on_every_machine() -> None:
    drawn = normal_rows("a", 20, 500)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-3
    assert stats.kstest(drawn.ravel() * 1.1, "norm").pvalue < 1e-3, "the test tells 1 from 1.1"
    alike = np.asarray(np.corrcoef(np.concatenate([drawn, normal_rows("b", 20, 500)])))
    assert abs(alike - np.eye(40)).max() < 0.25
    np.testing.assert_array_equal(normal_rows("a", 2, 500), drawn[:2])
    pinned = (mixtures(768)[0, 0, 0, :2], whitened_filters(6, 3)[0, 0, 0, :2])
    assert [(part.double() * 2**20).tolist() for part in pinned] == PINNED


PINNED = [[2702, 23954], [-105550, 242581]]  # in parts of 2^20


def first_of(image: Array, side: int, threshold: float) -> Array:
    """The first layer (256, H / 4, W / 4) of an image (C, H, W) in [0, 1], of one size."""
    before, after = side // 2, side - 1 - side // 2
    around = np.pad(image, ((0, 0), (before, after), (before, after)), mode="reflect")
    windows = sliding_window_view(around, (side, side), axis=(1, 2))
    contrast = np.sqrt(windows.var((0, 3, 4)) * side**2 * len(image) + 0.1)
    found = (
        np.einsum("fcij,chwij->fhw", whitened_filters(side, len(image)).double().numpy(), windows)
        / contrast
    )
    return blocks(np.concatenate([found / threshold - 1, -found / threshold - 1]).clip(min=0), 4)


def second_of(maps: Array) -> Array:
    """The second layer (1024, h / 2, w / 2) of maps (768, h, w)."""
    centred = maps - maps.mean(0)
    centred /= np.sqrt((centred**2).mean(0) + 0.1 * (centred**2).mean())
    windows = sliding_window_view(
        np.pad(centred, ((0, 0), (1, 1), (1, 1)), mode="reflect"), (3, 3), axis=(1, 2)
    )
    found = np.einsum(
        "fcij,chwij->fhw", mixtures(len(maps)).double().numpy(), windows, optimize=True
    )
    return blocks(np.concatenate([found - 0.8, -found - 0.8]).clip(min=0), 2)


@pytest.mark.parametrize("images", [SEEN[:2], colours(), ODD], ids=["grey", "colour", "odd"])
def test_the_kind_is_both_layers_of_an_image_and_its_mirror_image(images: torch.Tensor) -> None:
    shape = KIND.shape_of(tuple(images.shape[1:]))
    assert shape == (1792, *(-(-side // 8) for side in images.shape[2:]))
    pixels = (images.double() if images.shape[1] == 1 else (images.double() + 1) / 2).numpy()
    for found, image in zip(KIND.transform(images).double().numpy(), pixels, strict=True):
        layers = [0.0, 0.0]
        for each in (image, image[..., ::-1]):
            maps = np.concatenate(
                [first_of(each, *size) for size in ((4, 0.04), (6, 0.025), (8, 0.017))]
            )
            layers = [layers[0] + blocks(maps, 2), layers[1] + second_of(maps)]
        expected = np.concatenate([each / np.linalg.norm(each) for each in layers]) * np.sqrt(
            np.prod(shape) / 32
        )
        assert found.shape == shape
        np.testing.assert_allclose(found, expected, atol=2.5e-4)
        assert min(expected[:768].std(), expected[768:].std()) > 0.05


def test_mirror_images_have_the_same_features_bit_for_bit_and_a_blank_one_none() -> None:
    images = colours()
    assert torch.equal(KIND.transform(images), KIND.transform(images.flip(3)))
    assert not torch.equal(KIND.transform(images), KIND.transform(images.flip(2)))
    assert torch.equal(KIND.transform(torch.full((1, 3, 32, 32), 0.2)), torch.zeros(1, 1792, 4, 4))
