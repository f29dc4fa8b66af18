"""Scattering and images set upright, by their definitions."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from dpcore.data.loading import load
from dpcore.training.features.compute import scaled
from dpcore.training.features.kinds import KINDS
from dpcore.training.features.scattering import normalised, scatter, scattering, slants, upright
from dpcore.training.inputs import tensors
from tests.training.features.fourier import reference

MAX_ERROR = 5e-4  # of values up to 1: what cutting the wavelets to 11 and 19 pixels costs


def samples(name, count=4):
    return scaled(torch.tensor(load(name, "sample").train.images[:count]))


def colours(count=2):
    """Images in colour that are as little smooth as grey ones: a grey image in each channel, with
    noise around it.
    """
    generator = torch.Generator().manual_seed(5)
    x = torch.rand(count, 3, 32, 32, generator=generator) * 0.4
    x[..., 2:30, 2:30] += 0.6 * samples("fashion_mnist", 3 * count).view(count, 3, 28, 28)
    return x * 2 - 1


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_it_is_the_transform_of_the_definition(name):
    x = samples(name)
    expected = np.stack([reference(image[0]) for image in x.numpy()])
    found = scattering(x).numpy()
    assert found.shape == expected.shape == (4, 81, 7, 7)
    assert np.abs(found - expected).max() < MAX_ERROR
    assert np.abs(expected[:, 1:9]).max() > 100 * MAX_ERROR  # so that each layer must be right
    assert np.abs(expected[:, 17:]).max() > 50 * MAX_ERROR
    # They are small, and so is their error.
    assert np.abs(found - expected)[:, 17:].max() < MAX_ERROR / 4


def test_in_colour_each_channel_is_transformed_by_itself():
    x = colours()
    expected = np.stack(
        [np.concatenate([reference(channel) for channel in image]) for image in x.numpy()]
    )
    found = scattering(x).numpy()
    assert found.shape == (2, 243, 8, 8)
    assert np.abs(found - expected).max() < 2 * MAX_ERROR  # on a scale twice as long


@pytest.mark.parametrize(("height", "width"), [(8, 8), (9, 30), (64, 11)])
@pytest.mark.parametrize("step", [2, 4])
def test_small_images_of_any_size_are_transformed_at_each_second_or_fourth_pixel(
    height, width, step
):
    x = torch.rand(2, 3, height, width, generator=torch.Generator().manual_seed(8)) * 2 - 1
    expected = np.stack(
        [np.concatenate([reference(channel, step) for channel in image]) for image in x.numpy()]
    )
    found = scattering(x, step).numpy()
    assert found.shape == expected.shape
    assert found.shape[2:] == (-(-height // 4) * 4 // step, -(-width // 4) * 4 // step)
    assert np.abs(found - expected).max() < 2 * MAX_ERROR


def test_images_of_another_size_or_number_of_channels_are_refused():
    for shape in [(1, 7, 28), (3, 32, 65), (2, 28, 28), (28, 28), (108,)]:
        with pytest.raises(
            ValueError, match=r"Expected shape=.* to be 1 or 3 channels, and .* from 8 to 64"
        ):
            scattering(torch.zeros(2, *shape))


def test_bytes_are_scaled_as_a_run_scales_its_images():
    part = load("mnist", "sample").train
    expected, _ = tensors(part, torch.device("cpu"))
    assert torch.equal(scaled(torch.tensor(part.images[:50])), expected[:50])
    colour = torch.tensor(np.arange(256, dtype=np.uint8)[:, None, None, None].repeat(3, 1))
    assert scaled(colour)[[0, 255]].flatten().tolist() == [-1.0] * 3 + [1.0] * 3


SEEN = scaled(torch.tensor(load("mnist", "sample").train.images[:200]))


def slant_of(image: NDArray[np.float64]) -> float:
    """The least-squares slope of columns on rows, each pixel weighted by its grey, by a solver of
    linear equations.
    """
    rows, columns = np.mgrid[: image.shape[0], : image.shape[1]].astype(float)
    weights = np.sqrt(image.ravel())
    equations = np.stack([rows.ravel(), np.ones(image.size)], 1) * weights[:, None]
    return float(np.linalg.lstsq(equations, columns.ravel() * weights, rcond=None)[0][0])


def sheared(image: NDArray[np.float64], slope: float, middle: float) -> NDArray[np.float64]:
    """Every row shifted along itself, pixel by pixel, as one would by hand."""
    height, width = image.shape
    new = np.zeros_like(image)
    for row in range(height):
        for column in range(width):
            place = column + slope * (row - middle)
            below = int(np.floor(place))
            for beside, weight in ((below, below + 1 - place), (below + 1, place - below)):
                if 0 <= beside < width:
                    new[row, column] += weight * image[row, beside]
    return new


def test_the_slant_is_the_slope_of_columns_on_rows() -> None:
    found = slants(SEEN[:, 0])[0]
    expected = [slant_of(image) for image in SEEN[:, 0].double().numpy()]
    np.testing.assert_allclose(found.numpy(), np.clip(expected, -1, 1), atol=1e-6)
    assert np.std(expected) > 0.1, "digits are written at a slant"


def test_rows_are_shifted_as_by_hand() -> None:
    slopes, middles = slants(SEEN[:10, 0])
    for image, new, slope, middle in zip(
        SEEN[:10, 0], upright(SEEN[:10])[:, 0], slopes, middles, strict=True
    ):
        by_hand = sheared(image.double().numpy(), slope.item(), middle.item())
        np.testing.assert_allclose(new.numpy(), by_hand, atol=1e-5)


def test_a_blank_image_stays_blank() -> None:
    assert torch.equal(upright(torch.zeros(2, 1, 28, 28)), torch.zeros(2, 1, 28, 28))


def test_the_kind_is_the_scattering_of_the_upright_image_and_takes_no_colour() -> None:
    kind = KINDS["scatter_upright"]
    assert torch.equal(kind.transform(SEEN[:3]), scatter(upright(SEEN[:3])))
    with pytest.raises(ValueError, match="one channel"):
        kind.shape_of((3, 32, 32))


def test_each_three_maps_have_their_mean_taken_off_and_are_divided_by_their_spread():
    x = torch.rand(3, 6, 4, 5, generator=torch.Generator().manual_seed(2)) * 0.01
    found = normalised(x).numpy()
    groups = x.double().numpy().reshape(3, 2, 60)
    centred = groups - groups.mean(2, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(2, keepdims=True) + 1e-5)
    assert np.abs(found.reshape(3, 2, 60) - expected).max() < 1e-5
