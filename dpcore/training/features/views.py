"""Fixed views of an image: itself, and copies that are turned, scaled and shifted a little, the same for all images.

A view is drawn from its own number by a hash: no data set and no library has a say in it, and it is the same on every
machine and whatever the number of views. A pixel between four others is their weighted mean.
"""

import hashlib
import math
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore import check

MOST = 16
SEED = 426  # the first whose first three views and the image lie far apart, on no one side; no image was looked at
ANGLE = math.radians(8)  # each is drawn uniformly from minus to plus this
SCALE = 0.06
SHIFT = 1.5  # pixels, along either axis
GRID = 2**20  # a matrix is rounded to its fractions: no machine's cosine has a say


def views_of(images: Tensor, count: int) -> Tensor:
    """The views (B, count, C, H, W) of images (B, C, H, W); the first is the image itself, bit for bit.

    What comes in from outside is 0 in grey, where that is the background, and the reflected image in colour.
    Errors: ValueError for a count that is not from 1 to 16.
    """
    check.whole(1, MOST, count=count)
    return torch.stack([images, *(copy_of(images, view) for view in range(1, count))], 1)


def copy_of(images: Tensor, view: int) -> Tensor:
    """One view (B, C, H, W) of the images, other than themselves."""
    _, channels, height, width = images.shape
    places, weights = neighbours(view, height, width, channels > 1)
    pixels = images.flatten(2)  # (B, C, H W)
    copy = torch.zeros_like(pixels)
    for place, weight in zip(places, weights, strict=True):
        copy.addcmul_(pixels[..., place], weight)
    return copy.view(images.shape)


def matrix(view: int) -> NDArray[np.float64]:
    """Where a pixel of a view comes from: (row, column, 1) from the middle -> (row, column), a matrix (2, 3).

    >>> matrix(1).round(3).tolist()
    [[1.02, -0.108, 0.216], [0.108, 1.02, -1.38]]
    """
    turn, size, down, right = draws(view)
    angle, scale = ANGLE * turn, 1 + SCALE * size
    cosine, sine = scale * math.cos(angle), scale * math.sin(angle)
    rows = [[cosine, -sine, SHIFT * down], [sine, cosine, SHIFT * right]]
    return np.round(np.array(rows) * GRID) / GRID


def draws(view: int) -> list[float]:
    """Four numbers in [-1, 1), drawn from the number of the view."""
    digest = hashlib.sha256(f"{SEED} {view}".encode()).digest()
    words = np.frombuffer(digest, "<u8")
    return [float(word >> 11) / 2**52 - 1 for word in words.tolist()]


@cache
def neighbours(view: int, height: int, width: int, reflects: bool) -> tuple[Tensor, Tensor]:
    """For each pixel of a view the places (4, H W) of its four neighbours in the image, and their weights (4, H W)."""
    rows, columns = np.mgrid[:height, :width].astype(float).reshape(2, -1)
    middle = np.array([[(height - 1) / 2], [(width - 1) / 2]])
    centred = np.stack([rows - middle[0], columns - middle[1], np.ones(height * width)])
    from_rows, from_columns = matrix(view) @ centred + middle
    places, weights = [], []
    for row, row_weight in beside(from_rows):
        for column, column_weight in beside(from_columns):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            places.append(reflected(row, height) * width + reflected(column, width))
            weights.append(row_weight * column_weight * (inside | reflects))
    return torch.from_numpy(np.stack(places)), torch.from_numpy(np.stack(weights)).float()


def beside(x: NDArray[np.float64]) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """The whole numbers below and above, each with its weight."""
    below = np.floor(x)
    return [(below.astype(int), below + 1 - x), (below.astype(int) + 1, x - below)]


def reflected(x: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Places reflected into 0 ... size - 1, the edge itself once.

    >>> reflected(np.array([-2, 0, 4, 5]), 5).tolist()
    [2, 0, 4, 3]
    """
    x = np.abs(x)
    return size - 1 - np.abs(size - 1 - x)
