"""Flat clipping: one bound on the whole concatenated gradient of each example."""

from torch import Tensor

SAFETY = 1 - 1e-6  # float32 norms err by a few parts in ten million: scale by that much more rather than less


def clip_factors(norms: Tensor, clip_norm: float) -> Tensor:
    """min(1, C / norm) for each example: (B,) -> (B,); 1 where the norm is 0 or C is infinite.

    **Guarantees:** factor * norm <= clip_norm (1 + 1e-6), rounding included.
    Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1, "clip gradient".

    >>> import torch
    >>> clip_factors(torch.tensor([0.0, 0.5, 4.0]), 2.0)
    tensor([1.0000, 1.0000, 0.5000])
    """
    return (clip_norm * SAFETY / norms).clamp_(max=1.0)
