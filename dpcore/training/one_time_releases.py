"""The releases before the first step, each charged once: DP-PCA, the mean example, the relevance of neurons.

Each is a sum over all records of rows of length at most 1, with Normal(0, sigma^2) on every number: one Gaussian
release at q = 1 of sensitivity 1. Everything after the noise is post-processing.
"""

import math

import torch
from torch import Tensor, nn

from dpcore.training.gradients.rounding import longest_norms
from dpcore.training.inputs import Rows
from dpcore.training.randomness.gaussian_noise import GaussianNoise

PCA_ROWS = 8192  # multiplied at once
PCA_SAFETY = 1 - 1e-6  # for a root, a division and two products in float32


def outer_sum(x: Tensor) -> Tensor:
    """A = sum of r r^T over the rows r of x (n, d), each scaled to length 1: (d, d) in double precision."""
    rows = x / longest_norms(x)[:, None].clamp(min=1e-12) * PCA_SAFETY
    total = torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64)
    for part in rows.split(PCA_ROWS):
        exact = (part.cpu() if part.is_mps else part).double()  # the sum of float32 products would err by more
        total += (exact.T @ exact).cpu()
    return total


def principal_directions(total: Tensor, dimensions: int) -> Tensor:
    """The eigenvectors of the largest eigenvalues of (A + A^T) / 2: (d, dimensions)."""
    _, vectors = torch.linalg.eigh((total + total.T) / 2)
    return vectors[:, -dimensions:].flip(1)


def private_projection(x: Tensor, dimensions: int, sigma: float, noise: GaussianNoise | None) -> Tensor:
    """The directions (d, dimensions) for images x (n, ...); noise of d^2 numbers, or None for no noise at all.

    Rows are scaled to unit length, A = X^T X is summed and not centred, Normal(0, sigma^2) is added to all d^2 entries,
    the result is made symmetric, and the eigenvectors of its largest eigenvalues are kept. Adding or removing one
    record moves A by at most 1 in Frobenius norm. What is projected is the images themselves, not the unit rows.

    Source: Abadi et al. 2016, arXiv 1607.00133, section 4 and Appendix, and its code (dp_pca.py).
    """
    total = outer_sum(x.flatten(1))
    if noise is not None:
        noise.add_to(total.view(-1), sigma)  # sensitivity 1
    released = total.float().double()  # rounded once: what float64 holds below float32 would be bare of noise
    return principal_directions(released, dimensions).float().to(x.device)


MEAN_ROWS = 2048  # at once
# In float32, with u = 2^-24, rounding can lengthen a row by 4 u (2 u for the length that it is divided by, u for the
# division, u for the product with MEAN_SAFETY), and the mean over its views by 15 u more: 14 additions and a division,
# or 15 and one by 16, which is exact. That is 19 u, and MEAN_SAFETY takes off 33 u.
MEAN_SAFETY = 1 - 2e-6
MIN_LENGTH = 1e-12  # length below which a row counts as that long: one of zeros stays zero


def private_mean(x: Rows, views: int, sigma: float, noise: GaussianNoise | None) -> Tensor:
    """The noisy mean of the rows of examples x (n, ...), or (n, K, ...) of K > 1 views: (d,) in double precision.

    What all examples share tells no class from another, but takes most of a gradient's length, and so of what clipping
    leaves. Examples are scaled to length 1 and summed, and noise is added to each number of the sum. With several views
    an example's row is the mean of its views' rows. What is done with the released mean, to training and test examples
    alike, is post-processing.

    Source: the release is that of Abadi et al. 2016, arXiv 1607.00133, section 4, for a mean instead of outer products;
    that noise on a mean costs little and centring helps is ours, measured in docs/benchmarks.md.

    Noise of d numbers, or None for no noise at all.
    """
    total: Tensor | None = None
    for start in range(0, len(x), MEAN_ROWS):
        rows = _rows(x[start : start + MEAN_ROWS], views).mean(1)
        exact = (rows.cpu() if rows.is_mps else rows).double().sum(0).cpu()  # of float32 the sum would err by more
        total = exact if total is None else total.add_(exact)
    assert total is not None
    if noise is not None:
        noise.add_to(total, sigma)  # sensitivity 1
    return total.float().double() / len(x)  # rounded once: what float64 holds below float32 would be bare of noise


def without_mean(x: Rows, views: int, mean: Tensor) -> Tensor:
    """Examples scaled to length 1, the mean (d,) taken off, then scaled to length sqrt(d): of x's shape and kind."""
    like = x[:0]
    done = like.new_empty(len(x), *like.shape[1:])
    for start in range(0, len(x), MEAN_ROWS):
        part = x[start : start + MEAN_ROWS]
        rows = _rows(part, views) - mean.to(part.device, torch.float32)
        rows *= math.sqrt(rows.shape[2]) / rows.norm(dim=2, keepdim=True).clamp(min=MIN_LENGTH)
        done[start : start + MEAN_ROWS] = rows.view(part.shape)
    return done


def _rows(part: Tensor, views: int) -> Tensor:
    """Each view of each example as a row of length 1 at most: (b, K, d) in float32."""
    flat = part.float().flatten(1).unflatten(1, (views, -1))
    lengths = longest_norms(flat.flatten(0, 1)).view(len(flat), views, 1)
    return flat / lengths.clamp(min=MIN_LENGTH) * MEAN_SAFETY


RELEVANCE_ROWS = 1024  # records at once
MIN_RELEVANCE = 0.1  # in means of the layer: no coordinate's noise grows beyond 3.2 times its layer's
RELEVANCE_SAFETY = 1 - 1e-6  # of a record's vector: a root, a product and a division are rounded


def relevance_of(
    module: nn.Sequential, data: tuple[Tensor, Tensor], sigma: float, noise: GaussianNoise | None
) -> Tensor:
    """The relevance of every parameter's neuron, above 0 and of mean 1 in each layer before the floor: (d,).

    The relevance of a neuron to a record is |z dF/dz|, with z its value before the activation (a channel's, summed over
    positions; of a dimension of an embedding, summed over the record's ids) and F the record's own logit, all at the
    first weights, which are random and public. A record's vector over all neurons is scaled to length 1 at most, the
    vectors are summed, noise is added. Means over a layer, floors and each parameter's part are post-processing.

    Source: layer-wise relevance propagation in the form gradient times input, Bach et al. 2015 and Shrikumar et al.
    2016, arXiv 1605.01713; its use for noise: Gong et al. 2020 (ADPPL), of which this is a sound variant, not a
    reproduction.
    """
    x, y = data
    parts = zip(x.split(RELEVANCE_ROWS), y.split(RELEVANCE_ROWS), strict=True)
    total = torch.stack([clipped_rows(module, *part).sum(0) for part in parts]).sum(0)
    if noise is not None:
        noise.add_to(total, sigma)  # sensitivity 1
    layers = [child for child in module if list(child.parameters())]
    sums = total.split([neurons(layer) for layer in layers])
    return torch.cat([per_parameter(layer, part) for layer, part in zip(layers, sums, strict=True)])


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
    return rows * RELEVANCE_SAFETY / longest_norms(rows)[:, None].clamp(min=1e-12)


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
    floored = (sums / mean).clamp(min=MIN_RELEVANCE, max=1 / MIN_RELEVANCE)
    if isinstance(layer, nn.Embedding):
        return floored.repeat(layer.num_embeddings)
    return torch.cat([floored.repeat_interleave(part.numel() // len(part)) for part in layer.parameters()])


def neuron_count(module: nn.Sequential) -> int:
    """Neurons of all layers: how many numbers are released."""
    return sum(neurons(child) for child in module if list(child.parameters()))
