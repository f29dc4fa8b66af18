"""The transform against its definition in the Fourier domain, and against what is known of it in closed form."""

import numpy as np
import pytest
import torch

from dpcore.data.loading import load
from dpcore.training.features import scattering as module
from dpcore.training.features.filters import low_pass, morlet
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


@pytest.mark.parametrize("turned", [{"XI": 0.7 * np.pi}, {"SLANT": 0.6}, {"SIGMA": 0.85}, {"SIZES": (9, 13)}])
def test_another_wavelet_would_be_noticed(turned, monkeypatch):
    from dpcore.training.features import filters

    for name, value in turned.items():
        monkeypatch.setattr(filters, name, value)
    monkeypatch.setattr(module, "wavelets", filters.wavelets.__wrapped__)
    monkeypatch.setattr(module, "low_pass", filters.low_pass.__wrapped__)
    x = samples("mnist")
    expected = np.stack([reference(image[0]) for image in x.numpy()])
    assert np.abs(scattering(x).numpy() - expected).max() > 2 * LARGEST_ERROR


def test_a_constant_image_has_an_average_and_nothing_else():
    for value in [0.0, 0.7, 1.0]:
        maps = scattering(torch.full((1, 1, 28, 28), value))[0]
        assert torch.allclose(maps[0], torch.full((7, 7), value), atol=1e-6), value
        assert maps[1:].abs().max() < 1e-6, value


def test_wavelets_have_no_mean_and_are_their_own_conjugate_turned_round():
    for scale in (0, 1):
        for orientation in range(8):
            kernel = morlet(scale, orientation)
            assert abs(kernel.sum()) < 1e-15
            assert np.abs(kernel[::-1, ::-1] - kernel.conj()).max() < 1e-15
            assert 0.5 < np.abs(np.fft.fft2(kernel, (64, 64))).max() < 1.1


def test_the_low_pass_keeps_constants_and_is_the_same_at_each_place():
    for size, step in [(36, 4), (18, 2), (40, 4), (20, 2)]:
        rows = low_pass(size, step)
        assert rows.shape == (size // step - 2, size), (size, step)
        assert torch.allclose(rows.sum(1), torch.ones(len(rows))), (size, step)
        for place, row in enumerate(rows):
            assert row.argmax() == step * (place + 1), (size, step)
            assert torch.equal(row.roll(-step * place), rows[0]), (size, step)


def test_the_features_of_an_example_do_not_depend_on_those_beside_it_or_on_its_place():
    x = samples("mnist", 32)
    found = scattering(x)
    others = samples("fashion_mnist", 32)
    for place in (0, 1, 17, 31):
        beside = others.clone()
        beside[place] = x[5]
        assert torch.equal(scattering(beside)[place], found[5])


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
