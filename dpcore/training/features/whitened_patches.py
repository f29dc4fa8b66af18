"""Random patches in two layers, whitened by a model of natural images, not by data, and the same
for mirror images.
"""

import hashlib
import math
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dpcore.privacy.mechanism import FloatArray
from dpcore.training.features.random_maps import (
    FLOOR,
    answers,
    as_filters,
    from_0_to_1,
    joined,
    means_of_parts,
    on_grid,
)
from dpcore.training.features.shapes import SECOND, WHITENED

# Pixels of a filter along each axis -> the size up to which answers are 0.
THRESHOLDS = {4: 0.04, 6: 0.025, 8: 0.017}


def whitened_patches(images: Tensor) -> Tensor:
    """Two layers of random filters (B, 1792, H / 8, W / 8) of images (B, C, H, W); README.md
    defines them.

    The features of an image and of its mirror image are added, so both have the same. The 768 maps
    of the first layer and the 1,024 of the second have equal lengths.

    Source: Coates, Lee and Ng 2011 (AISTATS), for whitening, thresholds and means; for a second
    layer of patches Mairal et al. 2014, arXiv 1406.3332. Their filters come from data, these from
    none.
    """
    x = from_0_to_1(images)
    first, second = both_layers(x)
    mirrored, mixed = both_layers(x.flip(3))
    return joined(first + mirrored, second + mixed, share=1.0)


def both_layers(x: Tensor) -> tuple[Tensor, Tensor]:
    """The layers (B, 768, H / 8, W / 8) and (B, 1024, H / 8, W / 8) of images alone."""
    maps = torch.cat([first_layer(x, side) for side in THRESHOLDS], 1)
    return F.avg_pool2d(maps, 2, ceil_mode=True), second_layer(maps)


def first_layer(x: Tensor, side: int) -> Tensor:
    """The mean answers (B, 256, H / 4, W / 4) of filters of one size, over 4 x 4 pixels, in units
    of the threshold.
    """
    found = answers(x, whitened_filters(side, x.shape[1]), "reflect") / THRESHOLDS[side]
    return means_of_parts(F.softshrink(found, 1.0), 4)


LEAST_ANSWER = 0.8  # of the second layer; answers are of about size 1


def second_layer(maps: Tensor) -> Tensor:
    """The mean mixtures (B, 1024, h / 2, w / 2) of 3 x 3 places of maps (B, 768, h, w), over 2 x 2
    places.

    First the mean of a place's numbers is taken off, and they are divided by the root of their mean
    square + 0.1 times the image's.
    """
    centred = maps - maps.mean(1, keepdim=True)
    squares = centred.square().mean(1, keepdim=True)
    lengths = (squares + FLOOR * squares.mean((2, 3), keepdim=True)).sqrt_()
    around = F.pad(centred / lengths.clamp(min=1e-6), (1, 1, 1, 1), mode="reflect")
    mixed = F.conv2d(around, mixtures(maps.shape[1]))
    return means_of_parts(F.softshrink(mixed, LEAST_ANSWER), 2)


@cache
def mixtures(maps: int) -> Tensor:
    """The weights (512, maps, 3, 3), normal numbers of variance 1 / (9 maps)."""
    rows = normal_rows("second", SECOND, 9 * maps) / math.sqrt(9 * maps)
    return on_grid(rows).view(SECOND, maps, 3, 3)


def normal_rows(name: str, rows: int, columns: int) -> FloatArray:
    """Normal numbers (rows, columns), each row from a hash of its name and number, by Box and
    Muller's transform.
    """
    digests = [
        hashlib.shake_256(f"{name} {row}".encode()).digest(16 * columns) for row in range(rows)
    ]
    words = np.frombuffer(b"".join(digests), "<u8").reshape(rows, columns, 2)
    radius, turn = np.moveaxis(((words >> 11).astype(float) + 0.5) / 2**53, 2, 0)
    return np.sqrt(-2 * np.log(radius)) * np.cos(2 * math.pi * turn)


PERIOD = 64  # pixels after which the model's images repeat
# Grey, red - blue, green - both.
COLOURS = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])
VARIANCES = (1.0, 0.3, 0.15)  # of the colours in the model; natural images vary more in grey
LEAST = 0.03  # added to the eigenvalues, in parts of their mean, so that noise is not enlarged


@cache
def whitened_filters(side: int, channels: int) -> Tensor:
    """The filters (128, channels, side, side): normal numbers times covariance^(-1/2), of mean 0
    and length 1.
    """
    values, vectors = np.linalg.eigh(covariance(side, channels))
    root = vectors / np.sqrt(values + LEAST * values.mean()) @ vectors.T
    return as_filters(normal_rows(f"first {side}", WHITENED, len(root)) @ root, channels)


def covariance(side: int, channels: int) -> FloatArray:
    """The model's covariance of the pixels below a filter, (channels side^2, channels side^2).

    The power of each wave of frequency f > 0 is 1 / f^2, that of natural images, and the same in
    all directions. The variances of the three colours are 1, 0.3 and 0.15.

    Source: of the power Field 1987 (J. Opt. Soc. Am. A 4, 2379); of such colours, nearly
    uncorrelated, Ruderman, Cronin and Chiao 1998 (J. Opt. Soc. Am. A 15, 2036). The variances are
    ours, chosen on held-out images.
    """
    frequencies = np.fft.fftfreq(PERIOD)
    squares = frequencies[:, None] ** 2 + frequencies**2
    squares[0, 0] = (0.5 / PERIOD) ** 2  # of the mean, which has no frequency
    by_distance = np.fft.ifft2(1 / squares).real
    rows, columns = np.mgrid[:side, :side].reshape(2, -1)
    space = by_distance[rows[:, None] - rows, columns[:, None] - columns] / by_distance[0, 0]
    colour = COLOURS.T * VARIANCES @ COLOURS if channels == 3 else np.ones((1, 1))
    return np.kron(colour, space)
