"""How far torch's own normal numbers reach: float32 on a CPU, which other libraries draw their noise from by default.

They are made of uniform numbers of 24 bits, and none is beyond sqrt(48 ln 2) = 5.768, however many are drawn.
"""

import hashlib
import math
from collections.abc import Iterator

import torch
from scipy.special import ndtr

from dpcore import check
from dpcore.audit.events import Counted
from dpcore.audit.request import MOST_DRAWS

BLOCK = 2**22
REPORTS = 12
REACH = math.sqrt(48 * math.log(2))  # of the largest: -2 ln of the smallest uniform number, 2^-24, under the root


def torch_counts(draws: int, seed: int) -> Iterator[Counted]:
    """The largest of so many numbers by size, and how many normal ones would be larger, now and then and at the end.

    >>> [(each.draws, each.largest < REACH + 1e-5) for each in torch_counts(1000, 0)]
    [(1000, True)]
    """
    check.whole(0, MOST_DRAWS, draws=draws)
    generator = torch.Generator().manual_seed(_own(seed))
    block, largest, drawn = torch.empty(min(BLOCK, max(draws, 1))), 0.0, 0
    every = -(-draws // BLOCK // REPORTS) or 1
    for place in range(-(-draws // BLOCK)):
        values = block[: min(BLOCK, draws - drawn)].normal_(generator=generator)
        largest, drawn = max(largest, float(values.max()), -float(values.min())), drawn + len(values)
        if place % every == every - 1 or drawn == draws:
            yield Counted(drawn, largest, 2 * drawn * float(ndtr(-largest)))


def _own(seed: int) -> int:
    """A seed that gives nothing of the run's away, and is that of nothing else."""
    return int.from_bytes(hashlib.sha256(f"torch's normal numbers {seed}".encode()).digest()[:7])
