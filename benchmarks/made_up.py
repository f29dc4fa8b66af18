"""Examples and labels that are made up, for benchmarks: how long a step takes does not follow from
what they are.
"""

import numpy as np
import torch
from torch import Tensor

from dpcore.data.catalogue import DATASETS
from dpcore.data.loading import Images
from dpcore.training.config import RunConfig
from dpcore.training.inputs import Inputs, tensors

BLOCK = 1000  # rows that are drawn, and then stand there again and again


def features(n: int, shape: tuple[int, ...]) -> Tensor:
    """Normal numbers (n, *shape), float16 as features are kept."""
    values = torch.empty(n, *shape, dtype=torch.float16)
    block = torch.randn(BLOCK, *shape, generator=torch.Generator().manual_seed(0)).half()
    for part in values.split(BLOCK):
        part.copy_(block[: len(part)])
    return values


def inputs(config: RunConfig) -> Inputs:
    """What the run's network would be given: as many rows, of as many views; a few to be tested on."""
    shape = config.shape if config.views == 1 else (config.views, *config.shape)
    train, few = features(config.examples, shape), features(10, shape)
    labels = torch.arange(config.examples) % len(DATASETS[config.dataset].classes)
    return Inputs((train, labels), (few[:0], labels[:0]), (few, labels[:10]), "made up")


def inputs_on(config: RunConfig, device: torch.device) -> Inputs:
    """The same on a device; made-up grey images for pixels."""
    if config.features == "pixels":
        labels = (np.arange(config.examples) % 10).astype(np.uint8)
        images = np.random.default_rng(0).integers(
            0, 256, (config.examples, 28, 28), dtype=np.uint8
        )
        rows, labels = tensors(Images(images, labels), device)
        few = rows[:10], labels[:10]
    else:
        given = inputs(config)
        (rows, labels), few = (
            [each.to(device) for each in part] for part in (given.train, given.test)
        )
    return Inputs((rows, labels), (few[0][:0], few[1][:0]), (few[0], few[1]), "made up")
