"""What a network may be given of an example: the example as it is, or features that look at no data; free of torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore import check
from dpcore.data.catalogue import Dataset
from dpcore.training.features.shapes import Shape, mixed_shape, scattered_shape, upright_shape

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class FeatureKind:
    """A kind of features as a run names it: a fixed function of one example."""

    name: str  # in configurations, addresses, on the command line, and in the files that keep features
    title: str
    note: str  # one line: what it makes of an example, and what it costs
    source: str
    version: int  # raised with every change of a value: features of another version are computed again
    shape_of: Callable[[Shape], Shape]  # the shape of an example -> that of its features; ValueError for others
    transform: Callable[[Tensor], Tensor]  # images (B, C, H, W) -> features (B, channels, h, w)

    def takes(self, dataset: Dataset) -> bool:
        """Whether the data set's examples have them."""
        try:
            self.shape_of(dataset.shape)
        except ValueError:
            return False
        return True


def scatter(images: Tensor) -> Tensor:
    """The maps of the scattering transform, normalised: (B, C, H, W) -> (B, 81 C, H / 4, W / 4)."""
    from dpcore.training.features.scattering import normalised, scattering

    return normalised(scattering(images))


def scatter_upright(images: Tensor) -> Tensor:
    """The same of each image set upright: (B, 1, H, W) -> (B, 81, H / 4, W / 4)."""
    from dpcore.training.features.scattering import upright

    return scatter(upright(images))


def scatter_random(images: Tensor) -> Tensor:
    """Random mixtures of those maps: (B, C, H, W) -> (B, 192, H / 4, W / 4)."""
    from dpcore.training.features.scattering import mixed

    return mixed(scatter(images))


PIXELS, SCATTER, SCATTER_UPRIGHT, SCATTER_RANDOM = (
    FeatureKind(
        name="pixels",
        title="pixels",
        note="The examples as they are.",
        source="",
        version=1,
        shape_of=tuple,
        transform=lambda images: images,
    ),
    FeatureKind(
        name="scatter",
        title="scattering",
        note="The scattering transform of each image by itself: it looks at no data, and costs nothing.",
        source="Bruna and Mallat 2013, arXiv 1203.1513; Tramer and Boneh 2021, arXiv 2011.11660",
        version=1,
        shape_of=scattered_shape,
        transform=scatter,
    ),
    FeatureKind(
        name="scatter_upright",
        title="upright scattering",
        note="The same of each image with its slant taken off, by itself: for digits, whose slant means nothing.",
        source="LeCun et al. 1998, section III, and those of scatter",
        version=1,
        shape_of=upright_shape,
        transform=scatter_upright,
    ),
    FeatureKind(
        name="scatter_random",
        title="scattering, mixed",
        note="192 random mixtures of the maps of the scattering transform, as far as they lie above 0. They look at no "
        "data, and cost nothing; most of their length is their mean, so take a private one off.",
        source="Rahimi and Recht 2007; Cho and Saul 2009",
        version=1,
        shape_of=mixed_shape,
        transform=scatter_random,
    ),
)
KINDS = {each.name: each for each in (PIXELS, SCATTER, SCATTER_UPRIGHT, SCATTER_RANDOM)}


def kind_of(name: str) -> FeatureKind:
    """The kind of that name.

    >>> kind_of("scatter").shape_of((1, 28, 28))
    (81, 7, 7)
    """
    check.one_of(KINDS, features=name)
    return KINDS[name]


def kinds_for(dataset: Dataset) -> tuple[str, ...]:
    """The kinds of features that the data set's examples have.

    >>> from dpcore.data.catalogue import ADULT, MNIST
    >>> kinds_for(MNIST), kinds_for(ADULT)
    (('pixels', 'scatter', 'scatter_upright', 'scatter_random'), ('pixels',))
    """
    return tuple(each.name for each in KINDS.values() if each.takes(dataset))
