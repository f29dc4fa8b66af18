"""Random patches for images in colour, whitened by a model of natural images instead of by data, and mirrored."""

import math
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from dpcore.training.features.random_maps import answers, as_filters, means_of_parts, normals
from dpcore.training.features.shapes import WHITENED

THRESHOLDS = {4: 0.04, 6: 0.025, 8: 0.017}  # pixels of a filter along each axis -> size of answers that count as 0
POOL = 8  # pixels of a mean along each axis


def whitened_patches(x: Tensor) -> Tensor:
    """The mean answers (B, 768, H / 8, W / 8) of whitened filters to images (B, C, H, W) in [0, 1], over 8 x 8 pixels.

    There are 128 filters of each size. An answer is as in `patches`, with pixels from outside reflected, and shrunk by
    the threshold of its size. The features of an image and of its mirror image are added, so both have the same. Each
    size has the same length.

    Source: Coates, Lee and Ng 2011 (AISTATS), for whitening, thresholds and means; their filters come from data, these
    from no data. For averages over mirror images in private training: De et al. 2022, arXiv 2204.13650, section 3.
    """
    mirror = x.flip(3)
    blocks = [one_size(x, side) + one_size(mirror, side) for side in THRESHOLDS]
    unit = math.sqrt(blocks[0][0].numel())
    return torch.cat([F.normalize(block, dim=(1, 2, 3)) * unit for block in blocks], 1)


def one_size(x: Tensor, side: int) -> Tensor:
    """The mean answers (B, 256, H / 8, W / 8) of the filters of one size to the images alone."""
    found = answers(x, whitened_filters(side, x.shape[1]), "reflect")
    return means_of_parts(F.softshrink(found, THRESHOLDS[side]), POOL)


SEED = 6
PERIOD = 64  # pixels after which the model's images repeat
COLOURS = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])  # grey, red - blue, green - both
VARIANCES = (1.0, 0.3, 0.15)  # of the colours in the model; natural images vary more in grey
LEAST = 0.03  # added to the eigenvalues, in parts of their mean, so that noise is not enlarged


@cache
def whitened_filters(side: int, channels: int) -> Tensor:
    """The filters (128, channels, side, side): normal numbers times covariance^(-1/2), of mean 0 and length 1."""
    values, vectors = np.linalg.eigh(covariance(side, channels))
    root = vectors / np.sqrt(values + LEAST * values.mean()) @ vectors.T
    return as_filters(normals(SEED + side, WHITENED, len(root)) @ root, channels)


def covariance(side: int, channels: int) -> NDArray[np.float64]:
    """The model's covariance of the pixels below a filter, (channels side^2, channels side^2).

    The power of each wave of frequency f > 0 is 1 / f^2, that of natural images, and the same in all directions. The
    variances of the three colours are 1, 0.3 and 0.15.

    Source: of the power Field 1987 (J. Opt. Soc. Am. A 4, 2379); of such colours, nearly uncorrelated, Ruderman, Cronin
    and Chiao 1998 (J. Opt. Soc. Am. A 15, 2036). The variances are ours, chosen on held-out images.
    """
    frequencies = np.fft.fftfreq(PERIOD)
    squares = frequencies[:, None] ** 2 + frequencies**2
    squares[0, 0] = (0.5 / PERIOD) ** 2  # of the mean, which has no frequency
    by_distance = np.fft.ifft2(1 / squares).real
    rows, columns = np.mgrid[:side, :side].reshape(2, -1)
    space = by_distance[rows[:, None] - rows, columns[:, None] - columns] / by_distance[0, 0]
    colour = COLOURS.T * VARIANCES @ COLOURS if channels == 3 else np.ones((1, 1))
    return np.kron(colour, space)
