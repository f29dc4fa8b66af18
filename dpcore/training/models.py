"""The networks."""

import math

import torch
from torch import nn

from dpcore import check
from dpcore.training.config import MODELS

ACTIVATION = {"tanh": nn.Tanh, "relu": nn.ReLU}


Shape = tuple[int, ...]  # of one example: (channels, height, width), or (dimensions,) behind a projection


def mlp(activation: type[nn.Module], shape: Shape) -> nn.Sequential:
    """784-1000-10, 795,010 parameters. Source: Abadi et al. 2016, arXiv 1607.00133, section 5.1, without DP-PCA."""
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), 1000), activation(), nn.Linear(1000, 10))


def cnn(activation: type[nn.Module], shape: Shape) -> nn.Sequential:
    """Two convolutions and two dense layers, 26,010 parameters.

    Source: Papernot et al. 2021, arXiv 2007.14191; sizes of Tramer and Boneh 2021, arXiv 2011.11660.
    """
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
        nn.Linear(32, 10),
    )


def abadi(activation: type[nn.Module], shape: Shape) -> nn.Sequential:
    """784-1000-10 without biases, 794,000 parameters; 70,000 behind DP-PCA to 60 dimensions.

    Source: Abadi et al. 2016, arXiv 1607.00133, section 5.1 and its code: weights truncated normal, std 1 / sqrt(in).
    """
    first, second = nn.Linear(math.prod(shape), 1000, bias=False), nn.Linear(1000, 10, bias=False)
    for layer in (first, second):
        std = layer.in_features**-0.5
        nn.init.trunc_normal_(layer.weight, std=std, a=-2 * std, b=2 * std)
    return nn.Sequential(nn.Flatten(), first, activation(), second)


def cnn9(activation: type[nn.Module], shape: Shape) -> nn.Sequential:
    """Six convolutions and two dense layers for 32x32 images in colour, 550,570 parameters.

    Source: Papernot et al. 2021, arXiv 2007.14191; sizes of Tramer and Boneh 2021, arXiv 2011.11660.
    """
    layers: list[nn.Module] = []
    channels = shape[0]
    for width in (32, 64, 128):
        layers += [nn.Conv2d(channels, width, 3, padding=1), activation()]
        layers += [nn.Conv2d(width, width, 3, padding=1), activation(), nn.MaxPool2d(2, 2)]
        channels = width
    dense = [nn.Flatten(), nn.Linear(channels * 4 * 4, 128), activation(), nn.Linear(128, 10)]
    return nn.Sequential(*layers, *dense)


BUILDERS = {"cnn9": cnn9, "abadi": abadi, "mlp": mlp, "cnn": cnn}
assert tuple(BUILDERS) == MODELS


def build(model: str, activation: str, seed: int, shape: Shape = (1, 28, 28)) -> nn.Sequential:
    """The named network for examples of the shape and 10 classes, weights drawn from the seed, on the CPU.

    >>> sum(parameter.numel() for parameter in build("cnn", "tanh", seed=0).parameters())
    26010
    """
    check.one_of(BUILDERS, model=model)
    check.one_of(ACTIVATION, activation=activation)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BUILDERS[model](ACTIVATION[activation], shape)
