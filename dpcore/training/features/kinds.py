"""The kinds of features: what each is made by, and which version of it."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from dpcore import check
from dpcore.training.features.normalised import normalised
from dpcore.training.features.scattering import scattering, shape_of

Shape = tuple[int, int, int]  # channels, height and width


@dataclass(frozen=True)
class Kind:
    """A kind of features as a run names it: a fixed function of one image."""

    name: str  # in configurations, and in the files that keep features
    version: int  # raised with every change of a value: features of another version are computed again
    shape_of: Callable[[tuple[int, ...]], Shape]  # the shape of an image -> that of its features; ValueError for others
    transform: Callable[[Tensor], Tensor]  # images (B, C, H, W) -> features (B, channels, h, w)


def scatter(images: Tensor) -> Tensor:
    """The maps of the scattering transform, normalised: (B, C, H, W) -> (B, 81 C, H / 4, W / 4)."""
    return normalised(scattering(images))


KINDS = {each.name: each for each in (Kind("scatter", version=1, shape_of=shape_of, transform=scatter),)}


def kind_of(name: str) -> Kind:
    """The kind of that name.

    >>> kind_of("scatter").shape_of((1, 28, 28))
    (81, 7, 7)
    """
    check.one_of(KINDS, features=name)
    return KINDS[name]
