"""Features of images, each from its own image alone: scattering, images set upright, random mixtures."""

import hashlib
import math
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from dpcore.training.features.shapes import MIXTURES, scattered_shape

PADDING = 4  # pixels, by reflection
MAX_PIXEL = 1.001  # above 1, since turned or shifted copies are rounded


def scattering(x: Tensor) -> Tensor:
    """The maps (B, 81 C, H / 4, W / 4) of images (B, C, H, W), float32 in [0, 1] or [-1, 1].

    Each layer is a convolution with wavelets and a modulus; the output of every layer is averaged by a Gaussian.
    README.md lists the 81 maps of a colour channel, for J = 2 scales and L = 8 orientations.

    Source: Bruna and Mallat 2013, arXiv 1203.1513, section 2; as features for private training Tramer and Boneh 2021,
    arXiv 2011.11660, section 3.
    **Guarantees:** an image's maps depend on the image alone; on one thread their bits are the same at any place among
    as many images.
    Errors: ValueError for images of another shape or kind, and for a pixel outside [-1, 1].

    >>> scattering(torch.full((1, 1, 28, 28), 0.5))[0, :2, 3, 3].abs() > 0.1
    tensor([ True, False])
    """
    maps = scattered_shape(x.shape[1:])
    if x.dtype != torch.float32:
        raise ValueError(f"Expected dtype={x.dtype} of the images to be torch.float32.")
    if not (x.abs() <= MAX_PIXEL).all():  # refuses NaN, too
        raise ValueError("Expected every pixel of the images to be a number in [-1, 1].")
    images = F.pad(x.flatten(0, 1)[:, None], (PADDING,) * 4, mode="reflect")  # (B C, 1, N, N)
    fine, coarse = moduli(images, 0), moduli(images, 1)  # (B C, 8, N, N) and (B C, 8, N / 2, N / 2)
    twice = moduli(fine.flatten(0, 1)[:, None], 1).unflatten(0, fine.shape[:2]).flatten(1, 2)  # (B C, 64, N / 2, N / 2)
    places = [averaged(images, STEP), averaged(fine, STEP), averaged(coarse, STEP // 2), averaged(twice, STEP // 2)]
    return torch.cat(places, 1).view(len(x), *maps)


def moduli(x: Tensor, scale: int) -> Tensor:
    """|x * psi| for the wavelets of a scale j, at each 2^j-th pixel: (M, 1, N, N) -> (M, 8, N / 2^j, N / 2^j)."""
    kernels = wavelets(scale)
    wrapped = F.pad(x, (kernels.shape[-1] // 2,) * 4, mode="circular")
    responses = F.conv2d(wrapped, kernels, stride=2**scale)
    real, imaginary = responses[:, :ORIENTATIONS], responses[:, ORIENTATIONS:]
    return real.square().addcmul_(imaginary, imaginary).sqrt_()


def averaged(x: Tensor, step: int) -> Tensor:
    """Average each map by the low pass: (M, maps, N, N) -> (M, maps, N / step - 2, N / step - 2)."""
    rows = low_pass(x.shape[-1], step)
    return rows @ x @ rows.T


ORIENTATIONS = 8
SIGMA = 0.8  # pixels, of the envelope at scale 0
XI = 0.75 * np.pi  # radians a pixel, of the wave at scale 0
SLANT = 4 / ORIENTATIONS  # the envelope is 1 / SLANT times as long across the wave
SIZES = (11, 19)  # pixels to which the wavelets of scales 0 and 1 are cut
STEP = 4  # pixels between two places of the map: 2^J for J = 2 scales


def morlet(scale: int, orientation: int) -> NDArray[np.complex128]:
    """The wavelet (size, size) of scale 0 or 1; the wave of orientation k is at (3 - k) pi / 8 from the first axis.

    A wavelet of scale j has the envelope exp(-(u^2 + v^2 / 4) / (2 sigma^2)), with u along its wave, v across it, and
    sigma = 0.8 2^j pixels; its wave is exp(i xi u) with xi = 0.75 pi 2^-j a pixel. A multiple of the envelope is
    subtracted, so that the wavelet sums to 0 and a constant image has no response. Its reflection is its own conjugate,
    so the reflection in a convolution changes no modulus.

    Source: Bruna and Mallat 2013, arXiv 1203.1513, section 2; constants of Andreux et al. 2020, arXiv 1812.11214.
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

    A row is a Gaussian of sigma 0.4 steps around its pixel, periodic along the axis, and sums to 1.
    """
    sigma = SIGMA * step / 2
    places = step * np.arange(1, size // step - 1)
    distances = (np.arange(size) - places[:, None])[..., None] + size * np.arange(-2, 3)
    rows = np.exp(-(distances**2) / (2 * sigma**2)).sum(2)
    return torch.from_numpy(rows / rows.sum(1, keepdims=True)).float()


NORMALISED_MAPS = 3  # normalised together
EPSILON = 1e-5  # added to a variance; a constant of ours


def normalised(x: Tensor) -> Tensor:
    """Normalise maps (B, maps, h, w) in groups of three: subtract the mean, divide by sqrt(variance + 1e-5).

    **Guarantees:** |x|^2 of an example is at most maps h w, up to rounding. Groups of a variance near 1e-5 stay
    smaller, so that details of few images are not enlarged.
    Errors: ValueError unless the number of maps is a multiple of 3.
    Source: Wu and He 2018, arXiv 1803.08494; for private training Tramer and Boneh 2021, arXiv 2011.11660, section 3.
    """
    if x.dim() != 4 or x.shape[1] % NORMALISED_MAPS:
        raise ValueError(
            f"Expected shape={tuple(x.shape)} of the maps to be (B, maps, h, w), maps a multiple of {NORMALISED_MAPS}."
        )
    return F.group_norm(x, x.shape[1] // NORMALISED_MAPS, eps=EPSILON)


STEEPEST = 1.0  # largest shift in columns for each row from the middle
SPREAD = 1e-3  # the least variance of rows, in rows squared, in a slope: a thin line has no slant


def upright(images: Tensor) -> Tensor:
    """Remove the slant of images (B, 1, H, W); pixels from outside are 0, and a blank image stays as it is.

    Each row is shifted along itself, in proportion to its distance from the middle of the grey, until rows and columns
    of the grey are uncorrelated: the shear is the least-squares slope of columns on rows. A pixel between two others of
    its row is their weighted mean.

    Source: the deslanted images of LeCun, Bottou, Bengio and Haffner 1998, "Gradient-based learning applied to document
    recognition", section III: a shear by the image's own moments of inertia. Errors: ValueError for images in colour.
    """
    if images.dim() != 4 or images.shape[1] != 1:
        raise ValueError(f"Expected shape={tuple(images.shape)} of images to be (B, 1, H, W), for grey images.")
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
    """The columns by which the grey of images (B, H, W) moves for each row, and its middle row: (B,) in float64.

    >>> diagonal = torch.eye(5)[None]
    >>> [round(each.item(), 3) for each in slants(diagonal)]
    [1.0, 2.0]
    """
    grey = rows.double()
    down, right = (torch.arange(size, dtype=torch.float64) for size in rows.shape[1:])
    mass = grey.sum((1, 2)).clamp(min=1e-6)
    middle_row = (grey.sum(2) * down).sum(1) / mass
    middle_column = (grey.sum(1) * right).sum(1) / mass
    from_row, from_column = down - middle_row[:, None], right - middle_column[:, None]
    spread = (grey.sum(2) * from_row.square()).sum(1) / mass
    together = (grey * from_row[:, :, None] * from_column[:, None]).sum((1, 2)) / mass
    return (together / spread.clamp(min=SPREAD)).clamp(-STEEPEST, STEEPEST), middle_row


def taken(rows: Tensor, places: Tensor) -> Tensor:
    """The pixels of each row at places (B, H, W) along it, 0 outside."""
    width = rows.shape[2]
    inside = (places >= 0) & (places < width)
    return rows.gather(2, places.clamp(0, width - 1)) * inside


# Any seed gives normal weights. The reason for this one was not recorded, so it counts as chosen by accuracy, which no
# epsilon covers. Another seed would change the features, and every run on them.
MIXTURE_SEED = 3
WEIGHT_GRID = 2**20  # a weight is rounded to multiples of 1 / WEIGHT_GRID, so that it is the same on every machine


def mixed(x: Tensor) -> Tensor:
    """Mix maps (B, maps, h, w) to (B, 192, h, w), with negative values set to 0.

    At each place every mixture is a weighted sum of all maps. A hash of the mixture's number draws its weights as
    Normal(0, 1 / maps).

    Source: random features, Rahimi and Recht 2007 (NIPS); of rectified sums Cho and Saul 2009 (NIPS), the arc-cosine
    kernel. Their use for private training on scattering maps is ours, measured in docs/benchmarks.md.
    """
    return F.conv2d(x, weights(x.shape[1])[:, :, None, None]).relu_()


@cache
def weights(maps: int) -> Tensor:
    """The weights of the mixtures (192, maps).

    >>> weights(81)[0, :3].tolist()
    [0.005986213684082031, -0.0741262435913086, -0.023397445678710938]
    """
    rows = [[normal(mixture, place) for place in range(maps)] for mixture in range(MIXTURES)]
    return torch.from_numpy(np.round(np.array(rows) / math.sqrt(maps) * WEIGHT_GRID) / WEIGHT_GRID).float()


def normal(mixture: int, place: int) -> float:
    """A normal number from two words of a hash of its place, by the transform of Box and Muller."""
    words = np.frombuffer(hashlib.sha256(f"{MIXTURE_SEED} {mixture} {place}".encode()).digest(), "<u8")
    radius, angle = ((int(word >> 11) + 0.5) / 2**53 for word in words[:2])
    return math.sqrt(-2 * math.log(radius)) * math.cos(2 * math.pi * angle)
