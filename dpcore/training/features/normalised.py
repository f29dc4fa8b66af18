"""Maps on one scale, each example by itself: mean 0 and variance 1 over three maps at a time."""

from torch import Tensor
from torch.nn import functional as F

MAPS = 3  # normalised together
EPSILON = 1e-5  # added to a variance; a constant of ours


def normalised(x: Tensor) -> Tensor:
    """Maps (B, maps, h, w), each three of them with their mean taken off and divided by sqrt(variance + 1e-5).

    Nothing is learned: neither scale nor shift is a parameter, and no statistic is of more than one example.
    **Guarantees:** |x|^2 of an example is at most maps h w, but for rounding. Groups whose variance is not far above
    1e-5 stay smaller: details that hardly any image has are not enlarged to the size of the others.
    Errors: ValueError unless maps come in threes.
    Source: Wu and He 2018, arXiv 1803.08494; for private training Tramer and Boneh 2021, arXiv 2011.11660, section 3.
    """
    if x.dim() != 4 or x.shape[1] % MAPS:
        raise ValueError(
            f"Expected shape={tuple(x.shape)} of the maps to be (B, maps, h, w), maps a multiple of {MAPS}."
        )
    return F.group_norm(x, x.shape[1] // MAPS, eps=EPSILON)
