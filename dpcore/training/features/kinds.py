"""Kinds of inputs of a network: the example itself, or features that look at no data; free of
torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from dpcore.data.catalogue import Dataset
from dpcore.privacy import named_words
from dpcore.training.features.shapes import (
    FILTERS,
    MIXTURES,
    SECOND,
    WHITENED,
    Shape,
    scattered_shape,
)

if TYPE_CHECKING:
    from torch import Tensor

TEXTS = Path(__file__).with_name("kinds.toml")


@dataclass(frozen=True)
class FeatureKind:
    """A kind of features as a run names it: a fixed function of one example."""

    # In configurations, addresses, on the command line, and in the files that keep features.
    name: str
    title: str
    note: str  # one line on its values and cost
    source: str
    # The shape of an example -> that of its features; ValueError for others.
    shape_of: Callable[[Shape], Shape]
    transform: Callable[[Tensor], Tensor]  # images (B, C, H, W) -> features (B, channels, h, w)
    # Rises with every change of a value, so that features of another version are computed again.
    version: int = 1

    def takes(self, dataset: Dataset) -> bool:
        """True if the data set's examples have them."""
        try:
            self.shape_of(dataset.shape)
        except ValueError:
            return False
        return True


def late(place: str) -> Callable[..., Any]:
    """The function at a place below this package, "module:name", which loads torch when it is first
    called.
    """
    return lambda *given: resolve_name(f"dpcore.training.{place}")(*given)


def _kind(name: str, shape_of: Callable[[Shape], Shape], place: str) -> FeatureKind:
    return FeatureKind(
        **named_words(TEXTS, name), shape_of=shape_of, transform=late(f"features.{place}")
    )


GREY = partial(scattered_shape, grey=True)
MIXED = partial(scattered_shape, maps=MIXTURES)
BOTH = partial(scattered_shape, maps=MIXTURES + 2 * FILTERS)
OF_PATCHES = partial(scattered_shape, maps=2 * (3 * WHITENED + SECOND), step=8)
PIXELS = FeatureKind(
    **named_words(TEXTS, "pixels"), shape_of=tuple, transform=lambda images: images
)
SCATTER = _kind("scatter", scattered_shape, "scattering:scatter")
SCATTER_UPRIGHT = _kind("scatter_upright", GREY, "scattering:scatter_upright")
KINDS = {
    each.name: each
    for each in (
        PIXELS,
        SCATTER,
        SCATTER_UPRIGHT,
        _kind("scatter_random", MIXED, "random_maps:scatter_random"),
        _kind("scatter_cosines", BOTH, "random_maps:scatter_cosines"),
        _kind("patches", OF_PATCHES, "whitened_patches:whitened_patches"),
    )
}


def kinds_for(dataset: Dataset) -> tuple[str, ...]:
    """The kinds of features that the data set's examples have.

    >>> from dpcore.data.catalogue import ADULT, MNIST
    >>> kinds_for(MNIST)
    ('pixels', 'scatter', 'scatter_upright', 'scatter_random', 'scatter_cosines', 'patches')
    >>> kinds_for(ADULT)
    ('pixels',)
    """
    return tuple(each.name for each in KINDS.values() if each.takes(dataset))
