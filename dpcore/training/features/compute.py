"""Features of all images of a set, in pieces of one size, each on one thread, so that the bits
never change.
"""

import hashlib
import math
from collections.abc import Generator
from functools import cache
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore.privacy.mechanism import FloatArray
from dpcore.training.features.kinds import FeatureKind
from dpcore.training.gradients.core_threads import Cores, one_thread

SIZE = 32  # images of a piece, which fits into a core's cache
AT_ONCE = 4  # pieces of a core between two reports of progress

Result = TypeVar("Result")
# Work that yields the number of finished images, and the total.
Steps = Generator[tuple[int, int], None, Result]


def compute_features(
    images: NDArray[np.uint8], kind: FeatureKind, views: int, cores: int | None = None
) -> Steps[Tensor]:
    """The features (n, views, channels, h, w) of images (n, H, W) or (n, 3, H, W), float16 on the
    CPU, with progress.

    **Guarantees:** the bits are the same for any number of `cores` (None: as many as torch uses),
    and those of an example depend on the example alone. Errors: ValueError for images of another
    shape.
    """
    shape = kind.shape_of(image_shape(images))
    threads = Cores(cores)
    values = torch.empty(len(images), views, *shape, dtype=torch.float16)

    def work(start: int) -> None:
        stop = min(start + SIZE, len(images))
        values[start:stop] = features_of_piece(images[start:stop], kind, views)

    starts = range(0, len(images), SIZE)
    with one_thread():
        for first in range(0, len(starts), AT_ONCE * threads.count):
            some = starts[first : first + AT_ONCE * threads.count]
            threads.map(work, some)
            yield min(some[-1] + SIZE, len(images)), len(images)
    return values


def run_to_end(steps: Steps[Result]) -> Result:
    """The result of the work, without its progress."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def image_shape(images: NDArray[np.uint8]) -> tuple[int, ...]:
    """Channels, height and width of images, the own shape of others; ValueError for grey images (n,
    1, H, W).
    """
    if images.ndim == 4 and images.shape[1] == 1:
        raise ValueError(
            f"Expected shape={images.shape[1:]} of a grey image to be its height and width alone."
        )
    if images.ndim == 3:
        return (1, *images.shape[1:])
    return images.shape[1:]


@torch.no_grad()
def features_of_piece(images: NDArray[np.uint8], kind: FeatureKind, views: int) -> Tensor:
    """The features (b, views, channels, h, w) of b images, at most a piece."""
    piece = scaled(torch.tensor(images))
    full = torch.cat([piece, piece.new_zeros(SIZE - len(piece), *piece.shape[1:])])
    # One view at a time, so that as many images are computed at once.
    seen = views_of(full, views).unbind(1)
    return torch.stack([kind.transform(each.contiguous()).half() for each in seen], 1)[: len(piece)]


def scaled(values: Tensor) -> Tensor:
    """Scale bytes of grey images (n, H, W) to (n, 1, H, W) in [0, 1], of colour images to [-1, 1];
    float32.
    """
    if values.dim() == 3:
        return values[:, None].float().div_(255)
    return values.float().div_(127.5).sub_(1.0)


# The first seed whose first three views and the image lie far apart on all sides; chosen without
# any image.
SEED = 426
ANGLE = math.radians(8)  # each is drawn uniformly from minus to plus this
SCALE = 0.06
SHIFT = 1.5  # pixels, along either axis
# A matrix is rounded to multiples of 1 / GRID, so that it is the same on every machine.
GRID = 2**20


def views_of(images: Tensor, count: int) -> Tensor:
    """The views (B, count, C, H, W) of images (B, C, H, W); the first is the image itself, bit for
    bit.

    A hash of its number decides a view, whatever the number of views. A pixel between four others
    is their weighted mean. Pixels from outside are 0 in grey, the background, and reflected in
    colour.
    """
    return torch.stack([images, *(copy_of(images, view) for view in range(1, count))], 1)


def copy_of(images: Tensor, view: int) -> Tensor:
    """One view (B, C, H, W) of the images, from number 1 on."""
    _, channels, height, width = images.shape
    places, weights = neighbours(view, height, width, channels > 1)
    pixels = images.flatten(2)  # (B, C, H W)
    copy = torch.zeros_like(pixels)
    for place, weight in zip(places, weights, strict=True):
        copy.addcmul_(pixels[..., place], weight)
    return copy.view(images.shape)


def matrix(view: int) -> FloatArray:
    """The matrix (2, 3) from a pixel of a view to its origin: (row, column, 1) from the middle ->
    (row, column).
    """
    words = np.frombuffer(hashlib.sha256(f"{SEED} {view}".encode()).digest(), "<u8")
    # In [-1, 1).
    turn, size, down, right = (float(word >> 11) / 2**52 - 1 for word in words.tolist())
    angle = ANGLE * turn
    scale = 1 + SCALE * size
    cosine = scale * math.cos(angle)
    sine = scale * math.sin(angle)
    rows = [[cosine, -sine, SHIFT * down], [sine, cosine, SHIFT * right]]
    return np.round(np.array(rows) * GRID) / GRID


@cache
def neighbours(view: int, height: int, width: int, reflects: bool) -> tuple[Tensor, Tensor]:
    """The places (4, H W) of the four neighbours in the image of each pixel of a view, and their
    weights (4, H W).
    """
    rows, columns = np.mgrid[:height, :width].astype(float).reshape(2, -1)
    middle = np.array([[(height - 1) / 2], [(width - 1) / 2]])
    centred = np.stack([rows - middle[0], columns - middle[1], np.ones(height * width)])
    from_rows, from_columns = matrix(view) @ centred + middle
    places = []
    weights = []
    for row, row_weight in beside(from_rows):
        for column, column_weight in beside(from_columns):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            places.append(reflected(row, height) * width + reflected(column, width))
            weights.append(row_weight * column_weight * (inside | reflects))
    return torch.from_numpy(np.stack(places)), torch.from_numpy(np.stack(weights)).float()


def beside(x: FloatArray) -> list[tuple[NDArray[np.int64], FloatArray]]:
    """The whole numbers below and above, each with its weight."""
    below = np.floor(x)
    return [(below.astype(int), below + 1 - x), (below.astype(int) + 1, x - below)]


def reflected(x: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Reflect places into 0 ... size - 1, without repeating the edge."""
    x = np.abs(x)
    return size - 1 - np.abs(size - 1 - x)
