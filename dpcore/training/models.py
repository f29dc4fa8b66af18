"""The networks: their properties and the examples that they take. Only building one loads torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore import check
from dpcore.data.catalogue import ADULT, IMDB, MOVIELENS, Dataset, dataset_of
from dpcore.privacy import named_words
from dpcore.training.features.kinds import KINDS, PIXELS, kinds_for
from dpcore.training.features.shapes import Shape, scattered_shape

if TYPE_CHECKING:
    from torch import nn

ACTIVATIONS = ("tanh", "relu")
WIDTH = 1000  # default of a hidden layer
SCATTERED = tuple(scattered_shape(shape) for shape in ((1, 28, 28), (3, 32, 32)))
TEXTS = Path(__file__).with_name("models.toml")


@dataclass(frozen=True)
class Model:
    """A network as a run names it."""

    name: str  # in configurations, addresses and on the command line
    note: str  # one line on its layers and size
    source: str
    groups: int  # layers with parameters, each of which `per_layer` clips on its own
    layers: Callable[..., nn.Sequential]  # activation, shape, classes, and width if it is wide -> the network
    only: tuple[Shape, ...] = ()  # the shapes of examples that it is made for; none: it takes any vector
    wide: bool = False  # true if a run chooses the units of its hidden layer
    hidden: bool = True  # true if it has a hidden layer, and so an activation

    @property
    def dense(self) -> bool:
        """True if it takes vectors, projected ones included."""
        return not self.only

    def takes(self, dataset: Dataset, features: str = "pixels") -> bool:
        """True if it takes these features of the examples; ids are no quantities, so they make no vector."""
        return KINDS[features].shape_of(dataset.shape) in self.only or (self.dense and not dataset.ids)


def mlp(activation: type[nn.Module], shape: Shape, classes: int, width: int) -> nn.Sequential:
    """One hidden layer."""
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), width), activation(), nn.Linear(width, classes))


def linear(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """No hidden layer; all weights start at 0, so that every class is equally likely."""
    from torch import nn

    layer = nn.Linear(math.prod(shape), classes)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.Flatten(), layer)


def abadi(activation: type[nn.Module], shape: Shape, classes: int, width: int) -> nn.Sequential:
    """One hidden layer, without biases; weights are truncated normal of std 1 / sqrt(inputs)."""
    from torch import nn

    first, second = nn.Linear(math.prod(shape), width, bias=False), nn.Linear(width, classes, bias=False)
    for layer in (first, second):
        std = layer.in_features**-0.5
        nn.init.trunc_normal_(layer.weight, std=std, a=-2 * std, b=2 * std)
    return nn.Sequential(nn.Flatten(), first, activation(), second)


def cnn(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """Two convolutions and two dense layers."""
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(shape[0], 16, 8, 2, padding=2),
        activation(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, 2),
        activation(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, 32),
        activation(),
        nn.Linear(32, classes),
    )


def map_cnn(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """A convolution and a dense layer."""
    from torch import nn

    maps, height, width = shape
    places = (height - 2) * (width - 2)
    return nn.Sequential(nn.Conv2d(maps, 48, 3), activation(), nn.Flatten(), nn.Linear(48 * places, classes))


def cnn9(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """Six convolutions and two dense layers."""
    from torch import nn

    layers: list[nn.Module] = []
    channels = shape[0]
    for width in (32, 64, 128):
        layers += [nn.Conv2d(channels, width, 3, padding=1), activation()]
        layers += [nn.Conv2d(width, width, 3, padding=1), activation(), nn.MaxPool2d(2, 2)]
        channels = width
    dense = [nn.Flatten(), nn.Linear(channels * 4 * 4, 128), activation(), nn.Linear(128, classes)]
    return nn.Sequential(*layers, *dense)


def imdb(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """The mean of a review's words, each embedded in 16 dimensions, and one hidden layer of 16."""
    from torch import nn

    from dpcore.training.gradients.layers import MeanOfRows

    return nn.Sequential(embedded(IMDB.ids, 16), MeanOfRows(), nn.Linear(16, 16), activation(), nn.Linear(16, classes))


def movielens(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """The products of 5 factors of user and movie, and 10 more factors of each; then the output, no hidden layer."""
    from torch import nn

    from dpcore.training.gradients.layers import Factors

    return nn.Sequential(embedded(MOVIELENS.ids, 5 + 10), Factors(5), nn.Linear(5 + 2 * 10, classes))


def embedded(ids: int, dimensions: int) -> nn.Embedding:
    """An embedding with first entries uniform in [-0.05, 0.05], as Keras draws them."""
    from torch import nn

    layer = nn.Embedding(ids, dimensions)
    nn.init.uniform_(layer.weight, -0.05, 0.05)
    return layer


MODELS = {
    each.name: each
    for each in (
        Model(**named_words(TEXTS, "cnn9"), groups=8, layers=cnn9, only=((3, 32, 32),)),
        Model(**named_words(TEXTS, "abadi"), groups=2, layers=abadi, wide=True),
        Model(**named_words(TEXTS, "linear"), groups=1, layers=linear, hidden=False),
        Model(**named_words(TEXTS, "mlp"), groups=2, layers=mlp, wide=True),
        Model(**named_words(TEXTS, "cnn"), groups=4, layers=cnn, only=((1, 28, 28),)),
        Model(**named_words(TEXTS, "map_cnn"), groups=2, layers=map_cnn, only=SCATTERED),
        Model(**named_words(TEXTS, "adult"), groups=2, layers=partial(mlp, width=16), only=(ADULT.shape,)),
        Model(**named_words(TEXTS, "imdb"), groups=3, layers=imdb, only=(IMDB.shape,)),
        Model(**named_words(TEXTS, "movielens"), groups=2, layers=movielens, only=(MOVIELENS.shape,)),
    )
}


def models_for(dataset: str, features: str = "pixels") -> tuple[str, ...]:
    """The models that take these features of the data set's examples, the one to start from last.

    For pixels it is a model made for such examples; for good features it is the model with the least to learn.

    >>> models_for("mnist"), models_for("mnist", "scatter")
    (('abadi', 'linear', 'mlp', 'cnn'), ('abadi', 'mlp', 'map_cnn', 'linear'))
    """
    check.one_of(kinds_for(dataset_of(dataset)), **{f"{dataset}'s features": features})
    suited = [model for model in MODELS.values() if model.takes(dataset_of(dataset), features)]
    made, least = (lambda model: not model.dense), (lambda model: not model.hidden)
    return tuple(model.name for model in sorted(suited, key=made if features == PIXELS.name else least))


def build(
    model: str, activation: str, seed: int, shape: Shape = (1, 28, 28), classes: int = 10, width: int = WIDTH
) -> nn.Sequential:
    """Build the network for examples of the shape, with weights drawn from the seed, on the CPU.

    `width` is the number of units in the hidden layer of a wide model; other models ignore it.

    >>> sum(parameter.numel() for parameter in build("cnn", "tanh", seed=0).parameters())
    26010
    """
    import torch

    check.one_of(MODELS, model=model)
    check.one_of(ACTIVATIONS, activation=activation)
    kind = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[activation]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        chosen = MODELS[model]
        return chosen.layers(kind, shape, classes, *([width] if chosen.wide else []))
