"""What a network is given of an image: its pixels, or features that look at no data; free of torch."""

from collections.abc import Callable
from dataclasses import dataclass

from dpcore.data.catalogue import Dataset

Shape = tuple[int, ...]
SCATTERED = {(1, 28, 28): (81, 7, 7), (3, 32, 32): (243, 8, 8)}  # an image -> its scattering transform


@dataclass(frozen=True)
class Features:
    """A way to see an image, as a run names it."""

    name: str  # in configurations, addresses and on the command line
    title: str
    note: str  # one line: what it makes of an image, and what it costs
    source: str
    shape: Callable[[Shape], Shape]  # of an example -> of what the network is given
    takes: Callable[[Dataset], bool]


FEATURES = {
    each.name: each
    for each in (
        Features(
            name="pixels",
            title="pixels",
            note="The examples as they are.",
            source="",
            shape=lambda shape: shape,
            takes=lambda dataset: True,
        ),
        Features(
            name="scatter",
            title="scattering",
            note="The scattering transform of each image by itself: it looks at no data, and costs nothing.",
            source="Tramer and Boneh 2021, arXiv 2011.11660; Oyallon and Mallat 2015, arXiv 1412.8659",
            shape=lambda shape: SCATTERED.get(shape, ()),
            takes=lambda dataset: dataset.shape in SCATTERED,
        ),
    )
}


def features_for(dataset: Dataset) -> tuple[str, ...]:
    """The features that the data set's examples have.

    >>> from dpcore.data.catalogue import ADULT, MNIST
    >>> features_for(MNIST), features_for(ADULT)
    (('pixels', 'scatter'), ('pixels',))
    """
    return tuple(each.name for each in FEATURES.values() if each.takes(dataset))
