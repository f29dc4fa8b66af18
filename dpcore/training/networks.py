"""The layers of each network, from its activation, the shape of an example and the number of
classes.
"""

import math

from torch import nn

from dpcore.data.catalogue import IMDB, MOVIELENS
from dpcore.training.features.shapes import Shape
from dpcore.training.gradients.layers import Factors, MeanOfRows


def mlp(activation: type[nn.Module], shape: Shape, classes: int, width: int) -> nn.Sequential:
    """One hidden layer."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(math.prod(shape), width), activation(), nn.Linear(width, classes)
    )


def linear(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """No hidden layer; all weights start at 0, so that every class is equally likely."""
    layer = nn.Linear(math.prod(shape), classes)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return nn.Sequential(nn.Flatten(), layer)


def abadi(activation: type[nn.Module], shape: Shape, classes: int, width: int) -> nn.Sequential:
    """One hidden layer, without biases; weights are truncated normal of std 1 / sqrt(inputs)."""
    first = nn.Linear(math.prod(shape), width, bias=False)
    second = nn.Linear(width, classes, bias=False)
    for layer in (first, second):
        std = layer.in_features**-0.5
        nn.init.trunc_normal_(layer.weight, std=std, a=-2 * std, b=2 * std)
    return nn.Sequential(nn.Flatten(), first, activation(), second)


def cnn(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """Two convolutions and two dense layers."""
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
    maps, height, width = shape
    places = (height - 2) * (width - 2)
    return nn.Sequential(
        nn.Conv2d(maps, 48, 3), activation(), nn.Flatten(), nn.Linear(48 * places, classes)
    )


def cnn9(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """Six convolutions and two dense layers."""
    layers: list[nn.Module] = []
    channels = shape[0]
    for width in (32, 64, 128):
        layers += [nn.Conv2d(channels, width, 3, padding=1), activation()]
        layers += [nn.Conv2d(width, width, 3, padding=1), activation(), nn.MaxPool2d(2, 2)]
        channels = width
    dense = [nn.Flatten(), nn.Linear(channels * 4 * 4, 128), activation(), nn.Linear(128, classes)]
    return nn.Sequential(*layers, *dense)


def adult(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """One hidden layer of 16."""
    return mlp(activation, shape, classes, width=16)


def imdb(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """The mean of a review's words, each embedded in 16 dimensions, and one hidden layer of 16."""
    return nn.Sequential(
        embedded(IMDB.ids, 16),
        MeanOfRows(),
        nn.Linear(16, 16),
        activation(),
        nn.Linear(16, classes),
    )


def movielens(activation: type[nn.Module], shape: Shape, classes: int) -> nn.Sequential:
    """The products of 5 factors of user and movie, and 10 more factors of each; then the output, no
    hidden layer.
    """
    return nn.Sequential(
        embedded(MOVIELENS.ids, 5 + 10), Factors(5), nn.Linear(5 + 2 * 10, classes)
    )


def embedded(ids: int, dimensions: int) -> nn.Embedding:
    """An embedding with first entries uniform in [-0.05, 0.05], as Keras draws them."""
    layer = nn.Embedding(ids, dimensions)
    nn.init.uniform_(layer.weight, -0.05, 0.05)
    return layer
