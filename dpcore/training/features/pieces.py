"""Features of all images of a set, computed in pieces of a fixed size, each on one thread.

A sum on a processor is rounded as its library cuts it, which may depend on how many threads there are and on how many
images come at once. A run that is taken up again draws the same noise and must see the same features, bit for bit: else
two sums would be released under one noise. So a piece has always as many images, the last one filled up with images of
zeros, and cores share pieces, never the work on one.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore.training.features.kinds import Kind
from dpcore.training.features.pixels import scaled
from dpcore.training.features.views import views_of
from dpcore.training.gradients.core_threads import Cores

SIZE = 32  # images of a piece: what they need stays in a core's cache
AT_ONCE = 4  # pieces of a core between two words of progress

Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # images done, and of how many
Steps = Generator[tuple[int, int], None, Result]  # work that says so now and then


def computed(images: NDArray[np.uint8], kind: Kind, views: int, progress: Progress, cores: int | None = None) -> Tensor:
    """All that `computing` computes. What `progress` raises ends the work."""
    return drained(computing(images, kind, views, cores), progress)


def computing(images: NDArray[np.uint8], kind: Kind, views: int, cores: int | None = None) -> Steps[Tensor]:
    """The features (n, views, channels, h, w) of images (n, H, W) or (n, 3, H, W), float16 on the CPU, some at a time.

    **Guarantees:** the bits are the same for any number of `cores` (None: as many as torch uses), and those of an
    example depend on the example alone.
    Errors: ValueError for images that the kind does not take.
    """
    shape = kind.shape_of(image_shape(images))
    threads = Cores(cores)
    values = torch.empty(len(images), views, *shape, dtype=torch.float16)

    def work(start: int) -> None:
        stop = min(start + SIZE, len(images))
        values[start:stop] = of_piece(images[start:stop], kind, views)

    starts = range(0, len(images), SIZE)
    with one_thread():
        for first in range(0, len(starts), AT_ONCE * threads.count):
            some = starts[first : first + AT_ONCE * threads.count]
            threads.map(work, some)
            yield min(some[-1] + SIZE, len(images)), len(images)
    return values


def drained(steps: Steps[Result], progress: Progress) -> Result:
    """What the work comes to in the end; on the way `progress` hears how far it is."""
    with closing(steps):  # else a traceback that is kept would keep it, too
        while True:
            try:
                progress(*next(steps))
            except StopIteration as end:
                return end.value


def overheard(steps: Steps[Result], tell: Progress) -> Steps[Result]:
    """The same work, but `tell` hears how far it is, too."""
    with closing(steps):
        while True:
            try:
                said = next(steps)
            except StopIteration as end:
                return end.value
            tell(*said)
            yield said


def image_shape(images: NDArray[np.uint8]) -> tuple[int, ...]:
    """Channels, height and width; of examples that are no images the shape that they have.

    Errors: ValueError for grey images (n, 1, H, W): with an axis of channels their bytes would be scaled as colours.
    """
    if images.ndim == 4 and images.shape[1] == 1:
        raise ValueError(f"Expected shape={images.shape[1:]} of a grey image to be its height and width alone.")
    return (1, *images.shape[1:]) if images.ndim == 3 else images.shape[1:]


@torch.no_grad()
def of_piece(images: NDArray[np.uint8], kind: Kind, views: int) -> Tensor:
    """The features (b, views, channels, h, w) of b images, at most as many as a piece has."""
    piece = scaled(torch.tensor(images))
    full = torch.cat([piece, piece.new_zeros(SIZE - len(piece), *piece.shape[1:])])
    seen = views_of(full, views).unbind(1)  # each view by itself: as many images at once, whatever the number of views
    return torch.stack([kind.transform(each.contiguous()).half() for each in seen], 1)[: len(piece)]


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch uses one thread in the calling thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
