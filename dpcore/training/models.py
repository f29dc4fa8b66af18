"""The networks: their properties and the examples that they take. Only building one loads torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore import check
from dpcore.data.catalogue import ADULT, IMDB, MOVIELENS, Dataset, dataset_of
from dpcore.privacy import named_words
from dpcore.training.features.kinds import KINDS, PIXELS, kinds_for, late
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
    # Activation, shape, classes, width if it is wide -> a network.
    layers: Callable[..., nn.Sequential]
    # The shapes of examples that it is made for; none: it takes any vector.
    only: tuple[Shape, ...] = ()
    wide: bool = False  # true if a run chooses the units of its hidden layer
    hidden: bool = True  # true if it has a hidden layer, and so an activation

    @property
    def dense(self) -> bool:
        """True if it takes vectors, projected ones included."""
        return not self.only

    def takes(self, dataset: Dataset, features: str = "pixels") -> bool:
        """True if it takes these features of the examples; ids are no quantities, so they make no
        vector.
        """
        if self.dense:
            return not dataset.ids
        return KINDS[features].shape_of(dataset.shape) in self.only


def _model(name: str, groups: int, **properties: Any) -> Model:
    """The model whose layers the function of that name in `networks` builds."""
    layers = late(f"networks:{name}")
    return Model(**named_words(TEXTS, name), groups=groups, layers=layers, **properties)


MODELS = {
    each.name: each
    for each in (
        _model("cnn9", 8, only=((3, 32, 32),)),
        _model("abadi", 2, wide=True),
        _model("linear", 1, hidden=False),
        _model("mlp", 2, wide=True),
        _model("cnn", 4, only=((1, 28, 28),)),
        _model("map_cnn", 2, only=SCATTERED),
        _model("adult", 2, only=(ADULT.shape,)),
        _model("imdb", 3, only=(IMDB.shape,)),
        _model("movielens", 2, only=(MOVIELENS.shape,)),
    )
}


def models_for(dataset: str, features: str = "pixels") -> tuple[str, ...]:
    """The models that take these features of the data set's examples, the one to start from last.

    For pixels it is a model made for such examples; for good features it is the model with the
    least to learn.

    >>> models_for("mnist"), models_for("mnist", "scatter")
    (('abadi', 'linear', 'mlp', 'cnn'), ('abadi', 'mlp', 'map_cnn', 'linear'))
    """
    check.one_of(kinds_for(dataset_of(dataset)), **{f"{dataset}'s features": features})
    suited = [model for model in MODELS.values() if model.takes(dataset_of(dataset), features)]
    if features == PIXELS.name:
        suited.sort(key=lambda model: not model.dense)
    else:
        suited.sort(key=lambda model: not model.hidden)
    return tuple(model.name for model in suited)


def build(
    model: str,
    activation: str,
    seed: int,
    shape: Shape = (1, 28, 28),
    classes: int = 10,
    width: int = WIDTH,
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
        layers = MODELS[model].layers
        if MODELS[model].wide:
            return layers(kind, shape, classes, width)
        return layers(kind, shape, classes)
