"""Random mixtures of maps, as far as they lie above 0: products of features, in a way, that a linear model can weigh.

At each place of the map every mixture is a weighted sum of all maps. Its weights are drawn from the mixture's own
number by a hash, as Normal(0, 1 / maps): no data set and no library has a say in them, and they are the same on every
machine. Nothing is learned.

Source: random features, Rahimi and Recht 2007 (NIPS); of rectified sums Cho and Saul 2009 (NIPS), the arc-cosine
kernel. That they help private training on scattering maps is ours, measured in docs/benchmarks.md.
"""

import hashlib
import math
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dpcore.training.features.shapes import MIXTURES

# Any number gives normal weights. Why it is this one was not written down, so that it counts among what was chosen by
# accuracy, which no epsilon covers. Another number would change the features, and with them every run on them.
SEED = 3
GRID = 2**20  # a weight is rounded to its fractions: no machine's logarithm or cosine has a say


def mixed(x: Tensor) -> Tensor:
    """Maps (B, maps, h, w) as mixtures (B, 192, h, w), none of them below 0."""
    return F.conv2d(x, weights(x.shape[1])[:, :, None, None]).relu_()


@cache
def weights(maps: int) -> Tensor:
    """The weights of the mixtures (192, maps).

    >>> weights(81)[0, :3].tolist()
    [0.005986213684082031, -0.0741262435913086, -0.023397445678710938]
    """
    rows = [[normal(mixture, place) for place in range(maps)] for mixture in range(MIXTURES)]
    return torch.from_numpy(np.round(np.array(rows) / math.sqrt(maps) * GRID) / GRID).float()


def normal(mixture: int, place: int) -> float:
    """A normal number from two words of a hash of its place, by Box and Muller's transform."""
    words = np.frombuffer(hashlib.sha256(f"{SEED} {mixture} {place}".encode()).digest(), "<u8")
    radius, angle = ((int(word >> 11) + 0.5) / 2**53 for word in words[:2])
    return math.sqrt(-2 * math.log(radius)) * math.cos(2 * math.pi * angle)
