"""How relevant each neuron is to the output: what `adppl` allots noise by, released once under a charge of its own.

The relevance of a neuron to a record is |z dF/dz|, with z its value before the activation (a channel's, summed over
positions; of a dimension of an embedding, summed over the record's ids) and F the record's own logit, all at the first
weights, which are random and public. A record's vector over all neurons is scaled to length 1 at most, the vectors are
summed, Normal(0, sigma^2) is added: one Gaussian release at q = 1 of sensitivity 1. Means over a layer, floors and each
parameter's part of them are post-processing.

Source: layer-wise relevance propagation in the form gradient times input, Bach et al. 2015 and Shrikumar et al. 2016,
arXiv 1605.01713; its use for noise: Gong et al. 2020 (ADPPL), of which this is a sound variant, not a reproduction.
"""

import torch
from torch import Tensor, nn

from dpcore.training.gradients.rounding import longest_norms
from dpcore.training.randomness.gaussian_noise import GaussianNoise

CHUNK = 1024  # records at once
FLOOR = 0.1  # least relevance, in means of the layer: no coordinate's noise grows beyond 3.2 times its layer's
LENGTH = 1 - 1e-6  # of a record's vector: a root, a product and a division are rounded


def relevance_of(
    module: nn.Sequential, data: tuple[Tensor, Tensor], sigma: float, noise: GaussianNoise | None
) -> Tensor:
    """The relevance of every parameter's neuron, above 0 and of mean 1 in each layer before the floor: (d,)."""
    x, y = data
    total = torch.stack(
        [clipped_rows(module, *part).sum(0) for part in zip(x.split(CHUNK), y.split(CHUNK), strict=True)]
    ).sum(0)
    if noise is not None:
        noise.add_to(total, sigma)  # sensitivity 1
    layers = [child for child in module if list(child.parameters())]
    parts = total.split([neurons(layer) for layer in layers])
    return torch.cat([per_parameter(layer, part) for layer, part in zip(layers, parts, strict=True)])


def clipped_rows(module: nn.Sequential, x: Tensor, y: Tensor) -> Tensor:
    """Each record's relevances, scaled to length 1 at most: (B, neurons of all layers)."""
    values = []
    for child in module:
        x = child(x)
        if list(child.parameters()):
            values.append(x)
    slopes = torch.autograd.grad(x.gather(1, y[:, None]).sum(), values)
    parts = [(value * slope).detach().abs() for value, slope in map(with_positions, values, slopes)]
    rows = torch.cat([part.sum(2) for part in parts], 1)
    return rows * LENGTH / longest_norms(rows)[:, None].clamp(min=1e-12)


def with_positions(value: Tensor, slope: Tensor) -> tuple[Tensor, Tensor]:
    """Both as (B, neurons, positions)."""
    if value.dim() == 3:  # of an embedding: (B, ids, dimensions)
        return value.transpose(1, 2), slope.transpose(1, 2)
    return value.flatten(1).view(*value.shape[:2], -1), slope.flatten(1).view(*value.shape[:2], -1)


def neurons(layer: nn.Module) -> int:
    """A layer's outputs or channels, an embedding's dimensions."""
    if isinstance(layer, nn.Embedding):
        return layer.embedding_dim
    return len(next(layer.parameters()))


def per_parameter(layer: nn.Module, sums: Tensor) -> Tensor:
    """A layer's noisy sums (neurons,) as relevances of its parameters, weights first."""
    mean = sums.mean().clamp(min=1e-12)
    floored = (sums / mean).clamp(min=FLOOR, max=1 / FLOOR)
    if isinstance(layer, nn.Embedding):
        return floored.repeat(layer.num_embeddings)
    return torch.cat([floored.repeat_interleave(part.numel() // len(part)) for part in layer.parameters()])


def neuron_count(module: nn.Sequential) -> int:
    """Neurons of all layers: how many numbers are released."""
    return sum(neurons(child) for child in module if list(child.parameters()))
