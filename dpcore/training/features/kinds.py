"""Kinds of inputs of a network: the example itself, or features that look at no data; free of torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore import check
from dpcore.data.catalogue import Dataset
from dpcore.privacy import named_words
from dpcore.training.features.shapes import FILTERS, MIXTURES, SECOND, WHITENED, Shape, scattered_shape

if TYPE_CHECKING:
    from torch import Tensor

TEXTS = Path(__file__).with_name("kinds.toml")


@dataclass(frozen=True)
class FeatureKind:
    """A kind of features as a run names it: a fixed function of one example."""

    name: str  # in configurations, addresses, on the command line, and in the files that keep features
    title: str
    note: str  # one line on its values and cost
    source: str
    shape_of: Callable[[Shape], Shape]  # the shape of an example -> that of its features; ValueError for others
    transform: Callable[[Tensor], Tensor]  # images (B, C, H, W) -> features (B, channels, h, w)
    version: int = 1  # rises with every change of a value, so that features of another version are computed again

    def takes(self, dataset: Dataset) -> bool:
        """True if the data set's examples have them."""
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
    """The maps of each image after it is set upright: (B, 1, H, W) -> (B, 81, H / 4, W / 4)."""
    from dpcore.training.features.scattering import upright

    return scatter(upright(images))


def scatter_random(images: Tensor) -> Tensor:
    """Random mixtures of the maps: (B, C, H, W) -> (B, 192, H / 4, W / 4)."""
    from dpcore.training.features.random_maps import mixed

    return mixed(scatter(images))


def scatter_cosines(images: Tensor) -> Tensor:
    """Random cosines of the maps of root pixels, and random patches: (B, C, H, W) -> (B, 384, H / 4, W / 4)."""
    from dpcore.training.features.random_maps import cosines, joined, patches
    from dpcore.training.features.scattering import normalised, scattering

    pixels = from_0_to_1(images)
    return joined(cosines(normalised(scattering(pixels.sqrt(), step=2))), patches(pixels))


def patches(images: Tensor) -> Tensor:
    """Whitened patches and mixtures of them, the same for mirror images: (B, C, H, W) -> (B, 1792, H / 8, W / 8)."""
    from dpcore.training.features.whitened_patches import whitened_patches

    return whitened_patches(from_0_to_1(images))


def from_0_to_1(images: Tensor) -> Tensor:
    """Images on the scale from 0 to 1; colours are on that from -1 to 1."""
    return (images if images.shape[1] == 1 else (images + 1) / 2).clamp(0, 1)


GREY = partial(scattered_shape, grey=True)
MIXED, BOTH = (partial(scattered_shape, maps=maps) for maps in (MIXTURES, MIXTURES + 2 * FILTERS))
OF_PATCHES = partial(scattered_shape, maps=2 * (3 * WHITENED + SECOND), step=8)
PIXELS, SCATTER, SCATTER_UPRIGHT, SCATTER_RANDOM, SCATTER_COSINES, PATCHES = (
    FeatureKind(**named_words(TEXTS, "pixels"), shape_of=tuple, transform=lambda images: images),
    FeatureKind(**named_words(TEXTS, "scatter"), shape_of=scattered_shape, transform=scatter),
    FeatureKind(**named_words(TEXTS, "scatter_upright"), shape_of=GREY, transform=scatter_upright),
    FeatureKind(**named_words(TEXTS, "scatter_random"), shape_of=MIXED, transform=scatter_random),
    FeatureKind(**named_words(TEXTS, "scatter_cosines"), shape_of=BOTH, transform=scatter_cosines),
    FeatureKind(**named_words(TEXTS, "patches"), shape_of=OF_PATCHES, transform=patches),
)
KINDS = {each.name: each for each in (PIXELS, SCATTER, SCATTER_UPRIGHT, SCATTER_RANDOM, SCATTER_COSINES, PATCHES)}


def kind_of(name: str) -> FeatureKind:
    """The kind of that name. Errors: ValueError for an unknown name.

    >>> kind_of("scatter").shape_of((1, 28, 28))
    (81, 7, 7)
    """
    check.one_of(KINDS, features=name)
    return KINDS[name]


def kinds_for(dataset: Dataset) -> tuple[str, ...]:
    """The kinds of features that the data set's examples have.

    >>> from dpcore.data.catalogue import ADULT, MNIST
    >>> kinds_for(MNIST), kinds_for(ADULT)
    (('pixels', 'scatter', 'scatter_upright', 'scatter_random', 'scatter_cosines', 'patches'), ('pixels',))
    """
    return tuple(each.name for each in KINDS.values() if each.takes(dataset))
