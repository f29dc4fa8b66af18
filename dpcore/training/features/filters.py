"""The filters of the scattering transform: Morlet wavelets, cut to few pixels, and a Gaussian low pass.

A wavelet of scale j has the envelope exp(-(u^2 + v^2 / 4) / (2 sigma^2)), where u runs along its wave and v across it,
and sigma = 0.8 2^j pixels; its wave is exp(i xi u) with xi = 0.75 pi 2^-j a pixel. Its mean is taken off, as a multiple
of the envelope, so that a constant image has no response.

Source: Bruna and Mallat 2013, arXiv 1203.1513, section 2; constants of Andreux et al. 2020, arXiv 1812.11214.
"""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ORIENTATIONS = 8
SIGMA = 0.8  # pixels, of the envelope at scale 0
XI = 0.75 * np.pi  # radians a pixel, of the wave at scale 0
SLANT = 4 / ORIENTATIONS  # the envelope is 1 / SLANT times as long across the wave
SIZES = (11, 19)  # pixels to which the wavelets of scales 0 and 1 are cut
STEP = 4  # pixels between two places of the map: 2^J for J = 2 scales


def morlet(scale: int, orientation: int) -> NDArray[np.complex128]:
    """The wavelet (size, size) of scale 0 or 1; its orientation k has the wave at (3 - k) pi / 8 from the first axis.

    It sums to 0, and turned round it is its own conjugate: that a convolution turns it round changes no modulus.
    """
    sigma, angle = SIGMA * 2**scale, (ORIENTATIONS // 2 - 1 - orientation) * np.pi / ORIENTATIONS
    half = SIZES[scale] // 2
    rows, columns = np.mgrid[-half : half + 1, -half : half + 1]
    along = rows * np.cos(angle) + columns * np.sin(angle)
    across = columns * np.cos(angle) - rows * np.sin(angle)
    envelope = np.exp(-(along**2 + (SLANT * across) ** 2) / (2 * sigma**2)) * SLANT / (2 * np.pi * sigma**2)
    wave = envelope * np.exp(1j * XI / 2**scale * along)
    return wave - envelope * (wave.sum() / envelope.sum())


@cache
def wavelets(scale: int) -> Tensor:
    """The kernels (2 * 8, 1, size, size) of all orientations: the real parts, then the imaginary parts."""
    kernels = np.stack([morlet(scale, orientation) for orientation in range(ORIENTATIONS)])
    return torch.from_numpy(np.concatenate([kernels.real, kernels.imag])[:, None]).float().contiguous()


@cache
def low_pass(size: int, step: int) -> Tensor:
    """The matrix (size / step - 2, size) that averages along one axis, at each step-th pixel but the first and last.

    A row is a Gaussian of sigma 0.4 steps around its pixel, wrapped around the axis, and sums to 1.
    """
    sigma = SIGMA * step / 2
    places = step * np.arange(1, size // step - 1)
    distances = (np.arange(size) - places[:, None])[..., None] + size * np.arange(-2, 3)
    rows = np.exp(-(distances**2) / (2 * sigma**2)).sum(2)
    return torch.from_numpy(rows / rows.sum(1, keepdims=True)).float()
