"""The mean example, released once with noise, and examples without it.

What all examples share tells no class from another, but takes most of a gradient's length, and so of what clipping
leaves. Examples are scaled to length 1 and summed, and Normal(0, sigma^2) is added to each number of the sum: one
Gaussian release at q = 1 of sensitivity 1. With several views an example's row is the mean of its views' rows. What is
done with the released mean, to training and test examples alike, is post-processing.

Source: the release is that of Abadi et al. 2016, arXiv 1607.00133, section 4, for a mean instead of outer products;
that noise on a mean costs little and centring helps is ours, measured in docs/benchmarks.md.
"""

import math

import torch
from torch import Tensor

from dpcore.training.byte_rows import Rows
from dpcore.training.gradients.rounding import longest_norms
from dpcore.training.randomness.gaussian_noise import GaussianNoise

ROWS = 2048  # at once
# In float32, with u = 2^-24, rounding can lengthen a row by 4 u (2 u for the length that it is divided by, u for the
# division, u for the product with SAFETY), and the mean over its views by 15 u more: 14 additions and a division, or 15
# and one by 16, which is exact. That is 19 u, and SAFETY takes off 33 u.
SAFETY = 1 - 2e-6
LEAST = 1e-12  # length below which a row counts as that long: one of zeros stays zero


def private_mean(x: Rows, views: int, sigma: float, noise: GaussianNoise | None) -> Tensor:
    """The noisy mean of the rows of examples x (n, ...), or (n, K, ...) of K > 1 views: (d,) in double precision.

    Noise of d numbers, or None for no noise at all.
    """
    total: Tensor | None = None
    for start in range(0, len(x), ROWS):
        rows = _rows(x[start : start + ROWS], views).mean(1)
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
    for start in range(0, len(x), ROWS):
        part = x[start : start + ROWS]
        rows = _rows(part, views) - mean.to(part.device, torch.float32)
        rows *= math.sqrt(rows.shape[2]) / rows.norm(dim=2, keepdim=True).clamp(min=LEAST)
        done[start : start + ROWS] = rows.view(part.shape)
    return done


def _rows(part: Tensor, views: int) -> Tensor:
    """Each view of each example as a row of length 1 at most: (b, K, d) in float32."""
    flat = part.float().flatten(1).unflatten(1, (views, -1))
    lengths = longest_norms(flat.flatten(0, 1)).view(len(flat), views, 1)
    return flat / lengths.clamp(min=LEAST) * SAFETY
