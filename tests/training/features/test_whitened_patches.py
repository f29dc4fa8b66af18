"""Whitened patches, by their definition, in float64 and one image at a time."""

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import sqrtm

from dpcore.training.features.kinds import kind_of
from dpcore.training.features.random_maps import normals
from dpcore.training.features.whitened_patches import THRESHOLDS, covariance, whitened_filters
from tests.training.features.test_kinds import colours
from tests.training.features.test_random_maps import ODD, SEEN, blocks

KIND = kind_of("patches")
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
    vectors = [np.array(each) / np.linalg.norm(each) for each in ([1, 1, 1], [1, 0, -1], [1, -2, 1])]
    return sum(v * np.kron(np.outer(u, u), space) for v, u in zip((1, 0.3, 0.15), vectors, strict=True))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("side", [4, 6, 8])
def test_a_filter_is_a_normal_one_times_the_root_of_the_inverse_covariance(side: int, channels: int) -> None:
    expected = by_waves(side, channels)
    np.testing.assert_allclose(covariance(side, channels), expected, atol=1e-12)
    floored = expected + 0.03 * np.trace(expected) / len(expected) * np.eye(len(expected))
    drawn = np.linalg.solve(sqrtm(floored).real, normals(6 + side, 128, len(expected)).T).T
    drawn -= drawn.mean(1, keepdims=True)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    found = whitened_filters(side, channels).double().numpy().reshape(128, -1)
    np.testing.assert_allclose(found, drawn, atol=2e-6)


def test_answers_to_images_of_the_model_are_about_white() -> None:
    noise = np.random.default_rng(3).standard_normal((4000, 108)) @ np.linalg.cholesky(covariance(6, 3)).T
    spread = (noise @ whitened_filters(6, 3).double().numpy().reshape(128, -1).T).std(0)
    plain = noise @ normals(1, 128, 108).T / np.sqrt(108)
    assert stats.variation(spread) < 0.25 < stats.variation((plain - 0).std(0)), "filters differ without whitening"


def of_image(image: Array, side: int) -> Array:
    """The features (256, h, w) of an image (C, H, W) in [0, 1] alone, of one size."""
    before, after = side // 2, side - 1 - side // 2
    around = np.pad(image, ((0, 0), (before, after), (before, after)), mode="reflect")
    windows = sliding_window_view(around, (side, side), axis=(1, 2))
    contrast = np.sqrt(windows.var((0, 3, 4)) * side**2 * len(image) + 0.1)
    found = np.einsum("fcij,chwij->fhw", whitened_filters(side, len(image)).double().numpy(), windows) / contrast
    return blocks(np.concatenate([found - THRESHOLDS[side], -found - THRESHOLDS[side]]).clip(min=0), 8)


@pytest.mark.parametrize("images", [SEEN, colours(), ODD], ids=["grey", "colour", "odd"])
def test_the_kind_is_the_answers_to_an_image_and_its_mirror_image(images: torch.Tensor) -> None:
    shape = KIND.shape_of(tuple(images.shape[1:]))
    assert shape == (768, *(-(-side // 8) for side in images.shape[2:]))
    pixels = (images.double() if images.shape[1] == 1 else (images.double() + 1) / 2).numpy()
    for found, image in zip(KIND.transform(images).double().numpy(), pixels, strict=True):
        sizes = [of_image(image, side) + of_image(image[..., ::-1], side) for side in (4, 6, 8)]
        unit = np.sqrt(sizes[0].size)
        np.testing.assert_allclose(
            found, np.concatenate([each / np.linalg.norm(each) * unit for each in sizes]), atol=2e-4
        )
        assert found.shape == shape
        assert found.std() > 0.1


def test_mirror_images_have_the_same_features_bit_for_bit_and_a_blank_one_none() -> None:
    images = colours()
    assert torch.equal(KIND.transform(images), KIND.transform(images.flip(3)))
    assert not torch.equal(KIND.transform(images), KIND.transform(images.flip(2)))
    assert torch.equal(KIND.transform(torch.full((1, 3, 32, 32), 0.2)), torch.zeros(1, 768, 4, 4))
