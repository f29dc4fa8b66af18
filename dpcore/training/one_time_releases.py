"""The releases before the first step, each charged once: DP-PCA, the mean example, the relevance of
neurons.

Each is a sum over all records of rows of length at most 1, with Normal(0, sigma^2) added to every
number: a Gaussian release at q = 1 of sensitivity 1. Everything after the noise is post-processing.
"""

import math

import torch
from torch import Tensor, nn

from dpcore.training.gradients.rounding import longest_norms
from dpcore.training.randomness.gaussian_noise import GaussianNoise

PCA_ROWS = 8192  # multiplied at once
PCA_SAFETY = 1 - 1e-6  # covers the rounding of a root, a division and two products in float32


def outer_sum(x: Tensor) -> Tensor:
    """A = sum of r r^T over the rows r of x (n, d), each scaled to length 1: (d, d) in double
    precision.
    """
    rows = x / longest_norms(x)[:, None].clamp(min=1e-12) * PCA_SAFETY
    total = torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64)
    for part in rows.split(PCA_ROWS):
        # The sum of float32 products would err by more.
        exact = (part.cpu() if part.is_mps else part).double()
        total += (exact.T @ exact).cpu()
    return total


def principal_directions(total: Tensor, dimensions: int) -> Tensor:
    """The eigenvectors of the largest eigenvalues of (A + A^T) / 2: (d, dimensions)."""
    _, vectors = torch.linalg.eigh((total + total.T) / 2)
    return vectors[:, -dimensions:].flip(1)


def private_projection(
    x: Tensor, dimensions: int, sigma: float, noise: GaussianNoise | None
) -> Tensor:
    """The directions (d, dimensions) for images x (n, ...), with noise of d^2 numbers, or without
    (None).

    Rows are scaled to unit length, A = X^T X is summed without centring, Normal(0, sigma^2) is
    added to all d^2 entries, the result is made symmetric, and the eigenvectors of its largest
    eigenvalues are kept. Adding or removing one record moves A by at most 1 in Frobenius norm. The
    images themselves are projected, not the unit rows.

    Source: Abadi et al. 2016, arXiv 1607.00133, section 4 and Appendix, and its code (dp_pca.py).
    """
    total = outer_sum(x.flatten(1))
    if noise is not None:
        noise.add_to(total.view(-1), sigma)  # sensitivity 1
    # Rounded once: the digits of float64 below float32 would have no noise.
    released = total.float().double()
    return principal_directions(released, dimensions).float().to(x.device)


MEAN_ROWS = 2048  # at once
# In float32, with u = 2^-24, rounding can lengthen a row by 4 u (2 u for its length, u for the
# division, u for the product with MEAN_SAFETY), and the mean over its views by 15 u: 14 additions
# and a division, or 15 additions and an exact division by 16. That makes 19 u, and MEAN_SAFETY
# takes off 33 u.
MEAN_SAFETY = 1 - 2e-6
MIN_LENGTH = 1e-12  # the least length that a row is divided by, so that a row of zeros stays zero


def private_mean(x: Tensor, views: int, sigma: float, noise: GaussianNoise | None) -> Tensor:
    """The noisy mean of the rows of examples x (n, ...), or (n, K, ...) of K > 1 views: (d,) in
    double precision.

    The part that all examples share tells no class from another, but takes most of a gradient's
    length and so of the clipping norm. Examples are scaled to length 1 and summed, and `noise` of d
    numbers, or None, is added to the sum. With several views an example's row is the mean of its
    views' rows. Every use of the released mean, on training and test examples, is post-processing.

    Source: Abadi et al. 2016, arXiv 1607.00133, section 4, with a mean instead of outer products;
    that centring helps at a low cost is ours, measured in docs/benchmarks.md.
    """
    total = torch.zeros(x[0].numel() // views, dtype=torch.float64)
    for part in x.split(MEAN_ROWS):
        rows = _rows(part, views).mean(1)
        # A sum in float32 would err by more.
        total += (rows.cpu() if rows.is_mps else rows).double().sum(0).cpu()
    if noise is not None:
        noise.add_to(total, sigma)  # sensitivity 1
    return total.float().double() / len(x)  # rounded once, as the directions are


def without_mean(x: Tensor, views: int, mean: Tensor) -> Tensor:
    """Scale examples to length 1, take the mean (d,) off, and scale to length sqrt(d); of x's shape
    and kind.
    """
    done = torch.empty_like(x)
    for start in range(0, len(x), MEAN_ROWS):
        part = x[start : start + MEAN_ROWS]
        rows = _rows(part, views) - mean.to(part.device, torch.float32)
        rows *= math.sqrt(rows.shape[2]) / rows.norm(dim=2, keepdim=True).clamp(min=MIN_LENGTH)
        done[start : start + MEAN_ROWS] = rows.view(part.shape)
    return done


def _rows(part: Tensor, views: int) -> Tensor:
    """Each view of each example as a row of length at most 1: (b, K, d) in float32."""
    flat = part.float().flatten(1).unflatten(1, (views, -1))
    lengths = longest_norms(flat.flatten(0, 1)).view(len(flat), views, 1)
    return flat / lengths.clamp(min=MIN_LENGTH) * MEAN_SAFETY


RELEVANCE_ROWS = 1024  # records at once
# In means of the layer, so that no coordinate's noise exceeds 3.2 times that of its layer.
MIN_RELEVANCE = 0.1
RELEVANCE_SAFETY = 1 - 1e-6  # covers the rounding of a root, a product and a division


def relevance_of(
    module: nn.Sequential, data: tuple[Tensor, Tensor], sigma: float, noise: GaussianNoise | None
) -> Tensor:
    """The relevance of every parameter's neuron, above 0 and of mean 1 in each layer before the
    floor: (d,).

    The relevance of a neuron to a record is |z dF/dz|, with its value z before the activation
    (summed over a channel's positions, or over the record's ids for a dimension of an embedding)
    and the record's own logit F, at the first weights, which are random and public. A record's
    vector over all neurons is scaled to length at most 1, the vectors are summed, noise is added.
    Means over a layer, floors and the split over parameters are post-processing.

    Source: gradient times input, a form of layer-wise relevance propagation, Bach et al. 2015 and
    Shrikumar et al. 2016, arXiv 1605.01713; a sound variant, not a reproduction, of its use for
    noise by Gong et al. 2020 (ADPPL).
    """
    x, y = data
    parts = zip(x.split(RELEVANCE_ROWS), y.split(RELEVANCE_ROWS), strict=True)
    total = torch.stack([clipped_rows(module, *part).sum(0) for part in parts]).sum(0)
    if noise is not None:
        noise.add_to(total, sigma)  # sensitivity 1
    layers = [child for child in module if list(child.parameters())]
    sums = total.split(list(map(neurons, layers)))
    return torch.cat(list(map(per_parameter, layers, sums)))


def clipped_rows(module: nn.Sequential, x: Tensor, y: Tensor) -> Tensor:
    """Each record's relevances, scaled to length at most 1: (B, neurons of all layers)."""
    values = []
    for child in module:
        x = child(x)
        if list(child.parameters()):
            values.append(x)
    slopes = torch.autograd.grad(x.gather(1, y[:, None]).sum(), values)
    products = [(value * slope).detach().abs() for value, slope in zip(values, slopes, strict=True)]
    rows = torch.cat([with_positions(each).sum(2) for each in products], 1)
    return rows * RELEVANCE_SAFETY / longest_norms(rows)[:, None].clamp(min=1e-12)


def with_positions(values: Tensor) -> Tensor:
    """Reshape numbers of a layer to (B, neurons, positions); those of an embedding are (B, ids,
    dimensions).
    """
    if values.dim() == 3:
        return values.transpose(1, 2)
    return values.flatten(1).view(*values.shape[:2], -1)


def neurons(layer: nn.Module) -> int:
    """The number of a layer's outputs or channels, or of an embedding's dimensions."""
    if isinstance(layer, nn.Embedding):
        return layer.embedding_dim
    return len(next(layer.parameters()))


def per_parameter(layer: nn.Module, sums: Tensor) -> Tensor:
    """A layer's noisy sums (neurons,) as relevances of its parameters, weights first."""
    mean = sums.mean().clamp(min=1e-12)
    floored = (sums / mean).clamp(min=MIN_RELEVANCE, max=1 / MIN_RELEVANCE)
    if isinstance(layer, nn.Embedding):
        return floored.repeat(layer.num_embeddings)
    parts = [floored.repeat_interleave(part[0].numel()) for part in layer.parameters()]
    return torch.cat(parts)


def neuron_count(module: nn.Sequential) -> int:
    """The neurons of all layers, which is how many numbers are released."""
    return sum(neurons(child) for child in module if list(child.parameters()))
