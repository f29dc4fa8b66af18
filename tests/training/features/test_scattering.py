"""The transform against its definition in the Fourier domain, and against what is known of it in closed form."""

import numpy as np
import pytest
import torch

from dpcore.data.loading import load
from dpcore.training.features.pixels import scaled
from dpcore.training.features.scattering import scattering
from dpcore.training.inputs import tensors
from tests.training.features.fourier import reference

LARGEST_ERROR = 5e-4  # of values up to 1: what cutting the wavelets to 11 and 19 pixels costs


def samples(name, count=4):
    return scaled(torch.tensor(load(name, "sample").train.images[:count]))


def colours(count=2):
    """Images in colour that are as little smooth as grey ones: a grey image in each channel, with noise around it."""
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
    assert np.abs(found - expected).max() < LARGEST_ERROR
    assert np.abs(expected[:, 1:9]).max() > 100 * LARGEST_ERROR  # so that each layer must be right
    assert np.abs(expected[:, 17:]).max() > 50 * LARGEST_ERROR
    assert np.abs(found - expected)[:, 17:].max() < LARGEST_ERROR / 4  # they are small, and so is their error


def test_in_colour_each_channel_is_transformed_by_itself():
    x = colours()
    expected = np.stack([np.concatenate([reference(channel) for channel in image]) for image in x.numpy()])
    found = scattering(x).numpy()
    assert found.shape == (2, 243, 8, 8)
    assert np.abs(found - expected).max() < 2 * LARGEST_ERROR  # on a scale twice as long


def test_images_of_another_size_or_number_of_channels_are_refused():
    for shape in [(1, 27, 28), (1, 32, 32), (3, 28, 28), (2, 28, 28), (28, 28)]:
        with pytest.raises(ValueError, match=r"Expected shape=.* to be \(1, 28, 28\) or \(3, 32, 32\)"):
            scattering(torch.zeros(2, *shape))


def test_a_pixel_that_is_no_number_on_the_scale_is_refused():
    for value in [float("nan"), float("inf"), -1.2, 255.0]:
        x = torch.zeros(3, 1, 28, 28)
        x[1, 0, 4, 5] = value
        with pytest.raises(ValueError, match=r"a number in \[-1, 1\]"):
            scattering(x)


def test_bytes_are_scaled_as_a_run_scales_its_images():
    part = load("mnist", "sample").train
    expected, _ = tensors(part, torch.device("cpu"))
    assert torch.equal(scaled(torch.tensor(part.images[:50])), expected[:50])
    colour = torch.tensor(np.arange(256, dtype=np.uint8)[:, None, None, None].repeat(3, 1))
    assert scaled(colour)[[0, 255]].flatten().tolist() == [-1.0] * 3 + [1.0] * 3
