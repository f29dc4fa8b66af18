"""Random features at each place of an image, from hashed numbers: mixtures of its maps, cosines,
patches of pixels.
"""

import hashlib
import math
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dpcore.privacy.mechanism import FloatArray
from dpcore.training.features.scattering import normalised, scatter, scattering
from dpcore.training.features.shapes import FILTERS, MIXTURES

# The reason for the first seed was not recorded, so it counts as chosen by accuracy, which no
# epsilon covers.
MIXTURE_SEED = 3
PHASE_SEED = 4
FILTER_SEED = 5
# A number is rounded to multiples of 1 / GRID, so that it is the same on every machine.
GRID = 2**20


def scatter_random(images: Tensor) -> Tensor:
    """Random mixtures of the maps: (B, C, H, W) -> (B, 192, H / 4, W / 4)."""
    return mixed(scatter(images))


def scatter_cosines(images: Tensor) -> Tensor:
    """Random cosines of the maps of root pixels, and random patches: (B, C, H, W) -> (B, 384, H /
    4, W / 4).
    """
    pixels = from_0_to_1(images)
    return joined(cosines(normalised(scattering(pixels.sqrt(), step=2))), patches(pixels))


def from_0_to_1(images: Tensor) -> Tensor:
    """Images on the scale from 0 to 1; colours are on that from -1 to 1."""
    if images.shape[1] > 1:
        images = (images + 1) / 2
    return images.clamp(0, 1)


def mixed(x: Tensor) -> Tensor:
    """Mix maps (B, maps, h, w) to (B, 192, h, w), with negative values set to 0.

    At each place every mixture is a weighted sum of all maps. A hash of the mixture's number draws
    its weights as Normal(0, 1 / maps).

    Source: Rahimi and Recht 2007 (NIPS); rectified ones Cho and Saul 2009 (NIPS). Their use for
    private training on scattering maps is ours, measured in docs/benchmarks.md, and so is that of
    the other functions here.
    """
    return F.conv2d(x, weights(x.shape[1])[:, :, None, None]).relu_()


RATE = 1.7  # of the cosines, in radians
FLOOR = 0.1  # added to the squares below a root, so that nearly blank places stay small


def cosines(x: Tensor) -> Tensor:
    """The mean cosines (B, 192, h / 2, w / 2) of mixtures of maps (B, maps, h, w), over 2 x 2
    places.

    At each place the maps are divided by the root of their mean square + 0.1, and mixed as by
    `mixed`; then follows the cosine of 1.7 times the mixture, plus a phase of its own.

    Source: Rahimi and Recht 2007 (NIPS), of a Gaussian kernel; means over places Mairal et al.
    2014, arXiv 1406.3332.
    """
    lengths = x.square().mean(1, keepdim=True).add_(FLOOR).sqrt_()
    angles = F.conv2d(x / lengths, RATE * weights(x.shape[1])[:, :, None, None], phases())
    return F.avg_pool2d(angles.cos_(), 2)


SIDE = 6  # pixels of a filter along each axis
POOL = 4  # pixels of a mean along each axis


def patches(x: Tensor) -> Tensor:
    """The mean answers (B, 192, h, w) of 96 random filters to images (B, C, H, W), over 4 x 4
    pixels; 0 is outside.

    Source: after Coates, Lee and Ng 2011 (AISTATS), whose filters are patches of the data; these
    look at none.
    """
    return means_of_parts(answers(x, filters(x.shape[1])), POOL)


def answers(x: Tensor, drawn: Tensor, outside: str = "constant") -> Tensor:
    """The answers (B, F, H, W) of filters (F, C, side, side) around each pixel of images (B, C, H,
    W).

    An answer is divided by the root of the sum of squares, about their mean, of the pixels below
    the filter, + 0.1.
    """
    side = drawn.shape[-1]
    before = side // 2
    around = F.pad(x, (before, side - 1 - before) * 2, mode=outside)
    mean = F.avg_pool2d(around.mean(1, keepdim=True), side, 1)
    square = F.avg_pool2d(around.square().mean(1, keepdim=True), side, 1)
    spread = (square - mean.square()) * drawn[0].numel()
    return F.conv2d(around, drawn) / spread.add_(FLOOR).sqrt_()


def means_of_parts(x: Tensor, side: int) -> Tensor:
    """The means over side x side numbers of positive parts, then of negative ones; the last may
    have fewer numbers.
    """
    mean = F.avg_pool2d(x, side, ceil_mode=True)
    size = F.avg_pool2d(x.abs_(), side, ceil_mode=True)
    return torch.cat([size + mean, size - mean], 1) / 2


SHARE = 0.7  # length of the second block, that of the first being 1


def joined(first: Tensor, second: Tensor, share: float = SHARE) -> Tensor:
    """Maps (B, m, h, w) and (B, k, h, w) as (B, m + k, h, w), their lengths as 1 to `share` for
    every example.

    **Guarantees:** |x|^2 is (m + k) h w / 16, up to rounding, unless a block is blank: about that
    of plain scattering.
    """
    unit = math.sqrt((first[0].numel() + second[0].numel()) / (1 + share**2)) / 4
    one = F.normalize(first.flatten(1)).view_as(first) * unit
    other = F.normalize(second.flatten(1)).view_as(second) * (share * unit)
    return torch.cat([one, other], 1)


@cache
def weights(maps: int) -> Tensor:
    """The weights of the mixtures (192, maps)."""
    return on_grid(hashed_normals(MIXTURE_SEED, MIXTURES, maps) / math.sqrt(maps))


@cache
def phases() -> Tensor:
    """The phases of the cosines (192,), uniform in [0, 2 pi)."""
    drawn = [uniforms(PHASE_SEED, mixture, 0)[0] for mixture in range(MIXTURES)]
    return on_grid(2 * math.pi * np.array(drawn))


@cache
def filters(channels: int) -> Tensor:
    """The filters (96, channels, 6, 6), normal numbers with their mean subtracted, of length 1."""
    return as_filters(hashed_normals(FILTER_SEED, FILTERS, channels * SIDE * SIDE), channels)


def as_filters(drawn: FloatArray, channels: int) -> Tensor:
    """Rows (F, channels side side) with their mean subtracted, of length 1: (F, channels, side,
    side).
    """
    drawn = drawn - drawn.mean(1, keepdims=True)
    drawn /= np.sqrt((drawn**2).sum(1, keepdims=True))
    side = math.isqrt(drawn.shape[1] // channels)
    return on_grid(drawn).view(-1, channels, side, side)


def on_grid(numbers: FloatArray) -> Tensor:
    """The numbers, rounded to multiples of 1 / GRID, in float32."""
    return torch.from_numpy(np.round(numbers * GRID) / GRID).float()


def hashed_normals(seed: int, rows: int, columns: int) -> FloatArray:
    """Normal numbers (rows, columns), each from its place alone, by the transform of Box and
    Muller.
    """
    drawn = np.array(
        [[uniforms(seed, row, column) for column in range(columns)] for row in range(rows)]
    )
    return np.sqrt(-2 * np.log(drawn[..., 0])) * np.cos(2 * math.pi * drawn[..., 1])


def uniforms(seed: int, row: int, column: int) -> tuple[float, float]:
    """Two numbers in (0, 1), from a hash of their place."""
    words = np.frombuffer(hashlib.sha256(f"{seed} {row} {column}".encode()).digest(), "<u8")
    return (int(words[0] >> 11) + 0.5) / 2**53, (int(words[1] >> 11) + 0.5) / 2**53
