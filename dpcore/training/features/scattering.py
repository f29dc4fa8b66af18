"""Features of images, each from its own image alone: scattering, and images set upright."""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from dpcore.training.features.shapes import scattered_shape

PADDING = 4  # pixels, by reflection
STEP = 4  # pixels between two places of the maps: 2^J for J = 2 scales


def scatter(images: Tensor) -> Tensor:
    """The maps of the scattering transform, normalised: (B, C, H, W) -> (B, 81 C, H / 4, W / 4)."""
    return normalised(scattering(images))


def scatter_upright(images: Tensor) -> Tensor:
    """The maps of each image after it is set upright: (B, 1, H, W) -> (B, 81, H / 4, W / 4)."""
    return scatter(upright(images))


def scattering(x: Tensor, step: int = STEP) -> Tensor:
    """The maps (B, 81 C, h, w) of images (B, C, H, W), float32 in [0, 1] or [-1, 1], at each
    step-th pixel.

    h is H / 4 rounded up for a step of 4, and twice that for a step of 2; so is w. Each layer is a
    convolution with wavelets and a modulus; the output of every layer is averaged by a Gaussian.
    README.md lists the 81 maps of a colour channel, for J = 2 scales and L = 8 orientations.

    Source: Bruna and Mallat 2013, arXiv 1203.1513, section 2; as features for private training
    Tramer and Boneh 2021, arXiv 2011.11660, section 3. **Guarantees:** an image's maps depend on
    the image alone; on one thread their bits are the same at any place among as many images.
    Errors: ValueError for images of another shape.

    >>> scattering(torch.full((1, 1, 28, 28), 0.5))[0, :2, 3, 3].abs() > 0.1
    tensor([ True, False])
    """
    maps, height, width = scattered_shape(x.shape[1:])
    # To a multiple of 4 pixels.
    right = STEP * width - x.shape[3]
    below = STEP * height - x.shape[2]
    around = (PADDING, PADDING + right, PADDING, PADDING + below)
    images = F.pad(x.flatten(0, 1)[:, None], around, mode="reflect")  # (B C, 1, N, M)
    fine = moduli(images, 0)  # (B C, 8, N, M)
    coarse = moduli(images, 1)  # (B C, 8, N / 2, M / 2)
    # (B C, 64, N / 2, M / 2).
    twice = moduli(fine.flatten(0, 1)[:, None], 1).unflatten(0, fine.shape[:2]).flatten(1, 2)
    places = [
        averaged(images, step),
        averaged(fine, step),
        averaged(coarse, step, 2),
        averaged(twice, step, 2),
    ]
    return torch.cat(places, 1).view(len(x), maps, height * STEP // step, width * STEP // step)


def moduli(x: Tensor, scale: int) -> Tensor:
    """|x * psi| for the wavelets of a scale j, at each 2^j-th pixel: (M, 1, N, N) -> (M, 8, N /
    2^j, N / 2^j).
    """
    kernels = wavelets(scale)
    wrapped = F.pad(x, (kernels.shape[-1] // 2,) * 4, mode="circular")
    responses = F.conv2d(wrapped, kernels, stride=2**scale)
    real = responses[:, :ORIENTATIONS]
    imaginary = responses[:, ORIENTATIONS:]
    return real.square().addcmul_(imaginary, imaginary).sqrt_()


def averaged(x: Tensor, step: int, pixels: int = 1) -> Tensor:
    """Average maps (M, maps, N, M), of so many `pixels` to a number, at each step-th pixel of the
    unpadded image.
    """
    down, right = (low_pass(size, step // pixels, PADDING // pixels) for size in x.shape[-2:])
    return down @ x @ right.T


ORIENTATIONS = 8
SIGMA = 0.8  # pixels, of the envelope at scale 0
XI = 0.75 * np.pi  # radians a pixel, of the wave at scale 0
SLANT = 4 / ORIENTATIONS  # the envelope is 1 / SLANT times as long across the wave
SIZES = (11, 19)  # pixels to which the wavelets of scales 0 and 1 are cut


def morlet(scale: int, orientation: int) -> NDArray[np.complex128]:
    """The wavelet (size, size) of scale 0 or 1; the wave of orientation k is at (3 - k) pi / 8 from
    the first axis.

    A wavelet of scale j has the envelope exp(-(u^2 + v^2 / 4) / (2 sigma^2)), with u along its
    wave, v across it, and sigma = 0.8 2^j pixels; its wave is exp(i xi u) with xi = 0.75 pi 2^-j a
    pixel. A multiple of the envelope is subtracted, so that the wavelet sums to 0. Its reflection
    is its own conjugate: a convolution's changes no modulus.

    Source: Bruna and Mallat 2013, arXiv 1203.1513, section 2; constants of Andreux et al. 2020,
    arXiv 1812.11214.
    """
    sigma = SIGMA * 2**scale
    angle = (ORIENTATIONS // 2 - 1 - orientation) * np.pi / ORIENTATIONS
    half = SIZES[scale] // 2
    rows, columns = np.mgrid[-half : half + 1, -half : half + 1]
    along = rows * np.cos(angle) + columns * np.sin(angle)
    across = columns * np.cos(angle) - rows * np.sin(angle)
    bell = np.exp(-(along**2 + (SLANT * across) ** 2) / (2 * sigma**2))
    envelope = bell * SLANT / (2 * np.pi * sigma**2)
    wave = envelope * np.exp(1j * XI / 2**scale * along)
    return wave - envelope * (wave.sum() / envelope.sum())


@cache
def wavelets(scale: int) -> Tensor:
    """The kernels (2 * 8, 1, size, size) of all orientations: the real parts, then the imaginary
    parts.
    """
    kernels = np.stack([morlet(scale, orientation) for orientation in range(ORIENTATIONS)])
    parts = np.concatenate([kernels.real, kernels.imag])[:, None]
    return torch.from_numpy(parts).float().contiguous()


@cache
def low_pass(size: int, step: int, padding: int) -> Tensor:
    """The matrix ((size - 2 padding) / step, size) that averages along one axis, at each step-th
    number of the image.

    A row is a Gaussian of sigma 0.4 steps around its number, periodic along the axis, and sums to
    1.
    """
    sigma = SIGMA * step / 2
    places = np.arange(padding, size - padding, step)
    distances = (np.arange(size) - places[:, None])[..., None] + size * np.arange(-2, 3)
    rows = np.exp(-(distances**2) / (2 * sigma**2)).sum(2)
    return torch.from_numpy(rows / rows.sum(1, keepdims=True)).float()


NORMALISED_MAPS = 3  # normalised together
EPSILON = 1e-5  # added to a variance; a constant of ours


def normalised(x: Tensor) -> Tensor:
    """Normalise maps (B, maps, h, w) in groups of three: subtract the mean, divide by sqrt(variance
    + 1e-5).

    **Guarantees:** |x|^2 of an example is at most maps h w, up to rounding.
    Source: Wu and He 2018, arXiv 1803.08494; for private training Tramer and Boneh 2021, arXiv
    2011.11660, section 3.
    """
    return F.group_norm(x, x.shape[1] // NORMALISED_MAPS, eps=EPSILON)


STEEPEST = 1.0  # largest shift in columns for each row from the middle
SPREAD = 1e-3  # the least variance of rows, in rows squared, in a slope: a thin line has no slant


def upright(images: Tensor) -> Tensor:
    """Remove the slant of images (B, 1, H, W); pixels from outside are 0, and a blank image stays
    as it is.

    Each row is shifted along itself, by its distance from the middle of the grey times the
    least-squares slope of columns on rows. A pixel between two others of its row is their weighted
    mean.

    Source: LeCun, Bottou, Bengio and Haffner 1998, "Gradient-based learning applied to document
    recognition", section III, by the image's own moments.
    """
    rows = images[:, 0]
    slope, middle = slants(rows)
    height, width = rows.shape[1:]
    away = torch.arange(height, dtype=torch.float64) - middle[:, None]  # (B, H)
    shift = slope[:, None] * away
    whole = shift.floor()
    between = (shift - whole).float()[..., None]
    places = torch.arange(width) + whole.long()[..., None]  # (B, H, W): the pixel on the left
    return torch.lerp(taken(rows, places), taken(rows, places + 1), between)[:, None]


def slants(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The columns by which the grey of images (B, H, W) moves for each row, and its middle row:
    (B,) in float64.
    """
    grey = rows.double()
    down, right = (torch.arange(size, dtype=torch.float64) for size in rows.shape[1:])
    mass = grey.sum((1, 2)).clamp(min=1e-6)
    middle_row = (grey.sum(2) * down).sum(1) / mass
    middle_column = (grey.sum(1) * right).sum(1) / mass
    from_row = down - middle_row[:, None]
    from_column = right - middle_column[:, None]
    spread = (grey.sum(2) * from_row.square()).sum(1) / mass
    together = (grey * from_row[:, :, None] * from_column[:, None]).sum((1, 2)) / mass
    return (together / spread.clamp(min=SPREAD)).clamp(-STEEPEST, STEEPEST), middle_row


def taken(rows: Tensor, places: Tensor) -> Tensor:
    """The pixels of each row at places (B, H, W) along it, 0 outside."""
    width = rows.shape[2]
    return rows.gather(2, places.clamp(0, width - 1)) * ((places >= 0) & (places < width))
