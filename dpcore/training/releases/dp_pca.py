"""DP-PCA: a projection to the principal directions of a noisy sum of outer products.

Rows are scaled to unit length, A = X^T X is summed and not centred, Normal(0, sigma^2) is added to all d^2 entries, the
result is made symmetric, and the eigenvectors of its largest eigenvalues are kept. Adding or removing one record moves
A by at most 1 in Frobenius norm: one Gaussian release at q = 1. Everything after the noise is post-processing; what is
projected is the images themselves, not the unit rows.

Source: Abadi et al. 2016, arXiv 1607.00133, section 4 and Appendix, and its code (dp_pca.py).
"""

import torch
from torch import Tensor

from dpcore.training.gradients.rounding import longest_norms
from dpcore.training.randomness.gaussian_noise import GaussianNoise

ROWS = 8192  # multiplied at once
SAFETY = 1 - 1e-6  # for a root, a division and two products in float32


def outer_sum(x: Tensor) -> Tensor:
    """A = sum of r r^T over the rows r of x (n, d), each scaled to length 1: (d, d) in double precision."""
    rows = x / longest_norms(x)[:, None].clamp(min=1e-12) * SAFETY
    total = torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64)
    for part in rows.split(ROWS):
        exact = (part.cpu() if part.is_mps else part).double()  # the sum of float32 products would err by more
        total += (exact.T @ exact).cpu()
    return total


def principal_directions(total: Tensor, dimensions: int) -> Tensor:
    """The eigenvectors of the largest eigenvalues of (A + A^T) / 2: (d, dimensions)."""
    _, vectors = torch.linalg.eigh((total + total.T) / 2)
    return vectors[:, -dimensions:].flip(1)


def private_projection(x: Tensor, dimensions: int, sigma: float, noise: GaussianNoise | None) -> Tensor:
    """The directions (d, dimensions) for images x (n, ...); noise of d^2 numbers, or None for no noise at all."""
    total = outer_sum(x.flatten(1))
    if noise is not None:
        noise.add_to(total.view(-1), sigma)  # sensitivity 1
    released = total.float().double()  # rounded once: what float64 holds below float32 would be bare of noise
    return principal_directions(released, dimensions).float().to(x.device)
