"""The scattering transform from its definition in the Fourier domain, nothing cut off: slow, in float64, one image."""

import functools
import itertools

import numpy as np

ALIASES = range(-3, 4)


def reference(image):
    """The 81 maps of an image (H, W), before any normalisation."""
    padded = np.pad(image.astype(float), 4, mode="reflect")
    fine = [modulus(padded, 0, k) for k in range(8)]
    coarse = [modulus(padded, 1, k) for k in range(8)]
    twice = [modulus(each, 1, k) for each in fine for k in range(8)]
    return np.stack([places(each) for each in (padded, *fine, *coarse, *twice)])


def modulus(x, scale, orientation):
    """The modulus of the response to a wavelet at each 2^scale-th pixel."""
    response = np.fft.ifft2(np.fft.fft2(x) * morlet_spectrum(len(x), scale, orientation))
    return np.abs(response)[:: 2**scale, :: 2**scale]


def places(x):
    """The average at each fourth pixel of the padded image, but the outermost."""
    step = 4 if len(x) >= 36 else 2
    mean = np.fft.ifft2(np.fft.fft2(x) * low_pass_spectrum(len(x), 0.4 * step)).real
    return mean[step:-step:step, step:-step:step]


@functools.cache
def low_pass_spectrum(size, sigma):
    """The Fourier transform of a Gaussian, 1 at 0."""
    spectrum = aliased(size, lambda v, w: np.exp(-(sigma**2) * (v**2 + w**2) / 2))
    return spectrum / spectrum[0, 0]


@functools.cache
def morlet_spectrum(size, scale, orientation):
    """The Fourier transform of a Morlet wavelet, which is a Gaussian around xi less one around 0."""
    sigma, xi, angle = 0.8 * 2**scale, 0.75 * np.pi / 2**scale, np.pi * (3 - orientation) / 8

    def bump(centre):
        def spectrum(v, w):
            along = v * np.cos(angle) + w * np.sin(angle) - centre
            across = -v * np.sin(angle) + w * np.cos(angle)
            return np.exp(-(sigma**2) / 2 * (along**2 + 4 * across**2))

        return aliased(size, spectrum)

    wave, envelope = bump(xi), bump(0.0)
    return wave - envelope * wave[0, 0] / envelope[0, 0]


def aliased(size, spectrum):
    """The spectrum after sampling at whole pixels and wrapping around: (size, size)."""
    frequencies = 2 * np.pi * np.arange(size) / size
    v, w = np.meshgrid(frequencies, frequencies, indexing="ij")
    shifts = itertools.product(ALIASES, ALIASES)
    return sum(spectrum(v + 2 * np.pi * i, w + 2 * np.pi * j) for i, j in shifts)
