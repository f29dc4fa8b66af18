"""The scattering transform from its definition in the Fourier domain, nothing cut off: slow, in
float64, one image.
"""

import functools
import itertools

import numpy as np

ALIASES = range(-3, 4)


def reference(image, every=4):
    """The 81 maps of an image (H, W), before any normalisation, at each so many pixels."""
    height, width = image.shape
    padded = np.pad(
        image.astype(float), ((4, 4 - height % -4), (4, 4 - width % -4)), mode="reflect"
    )
    fine = [modulus(padded, 0, k) for k in range(8)]
    coarse = [modulus(padded, 1, k) for k in range(8)]
    twice = [modulus(each, 1, k) for each in fine for k in range(8)]
    maps = [places(each, 1, every) for each in (padded, *fine)]
    return np.stack([*maps, *(places(each, 2, every) for each in (*coarse, *twice))])


def modulus(x, scale, orientation):
    """The modulus of the response to a wavelet at each 2^scale-th pixel."""
    response = np.fft.ifft2(np.fft.fft2(x) * morlet_spectrum(x.shape, scale, orientation))
    return np.abs(response)[:: 2**scale, :: 2**scale]


def places(x, pixels, every):
    """The average at each so many pixels of the padded image, but at no place of the padding."""
    step, padding = every // pixels, 4 // pixels
    mean = np.fft.ifft2(np.fft.fft2(x) * low_pass_spectrum(x.shape, 0.4 * step)).real
    return mean[padding:-padding:step, padding:-padding:step]


@functools.cache
def low_pass_spectrum(shape, sigma):
    """The Fourier transform of a Gaussian, 1 at 0."""
    spectrum = aliased(shape, lambda v, w: np.exp(-(sigma**2) * (v**2 + w**2) / 2))
    return spectrum / spectrum[0, 0]


@functools.cache
def morlet_spectrum(shape, scale, orientation):
    """The Fourier transform of a Morlet wavelet: a Gaussian around xi less one around 0."""
    sigma, xi, angle = 0.8 * 2**scale, 0.75 * np.pi / 2**scale, np.pi * (3 - orientation) / 8

    def bump(centre):
        def spectrum(v, w):
            along = v * np.cos(angle) + w * np.sin(angle) - centre
            across = -v * np.sin(angle) + w * np.cos(angle)
            return np.exp(-(sigma**2) / 2 * (along**2 + 4 * across**2))

        return aliased(shape, spectrum)

    wave, envelope = bump(xi), bump(0.0)
    return wave - envelope * wave[0, 0] / envelope[0, 0]


def aliased(shape, spectrum):
    """The spectrum after sampling at whole pixels and wrapping around: (height, width)."""
    v, w = np.meshgrid(*(2 * np.pi * np.arange(size) / size for size in shape), indexing="ij")
    shifts = itertools.product(ALIASES, ALIASES)
    return sum(spectrum(v + 2 * np.pi * i, w + 2 * np.pi * j) for i, j in shifts)
