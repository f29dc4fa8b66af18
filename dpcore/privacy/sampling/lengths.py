"""How long a training is where an epoch goes once through all records, in round(1/q) batches."""

from math import ceil, floor

import numpy as np

from dpcore.privacy.sampling.base import Sampler, steps_of_epoch
from dpcore.privacy.types import FloatArray, IntArray

POINTS = 40  # of a curve over a whole training


def epochs_meant(q: float, steps: int) -> float:
    """How many epochs so many steps of Poisson batches are meant to be: q T, without what rounding up to a step added.

    >>> epochs_meant(0.0256, 196), epochs_meant(0.01, 250)
    (5.0, 2.5)
    """
    epochs = q * steps
    whole = floor(epochs + 1e-9)
    return float(whole) if whole and epochs - whole < q * (1 - 1e-9) else epochs


def steps_counted(sampler: Sampler, q: float, steps: int) -> int:
    """How many steps the same training has with this sampler: whole epochs stay whole ones, of round(1/q) batches.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> [steps_counted(SAMPLERS[name], 0.0256, 196) for name in ("poisson", "shuffle")]
    [196, 195]
    """
    if not sampler.by_epoch:
        return steps
    epochs, length = epochs_meant(q, steps), steps_of_epoch(q)
    whole = floor(epochs)
    return whole * length + ceil((epochs - whole) * length - 1e-9)


def points_of(sampler: Sampler, q: float, steps: int) -> tuple[IntArray, FloatArray]:
    """Where a curve over such a training is drawn: (n,) steps of the sampler from 0, and the epochs that they are.

    Of samplers that go by epochs these are whole epochs, and the end: between them its bounds are step functions.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> [each.tolist() for each in points_of(SAMPLERS["shuffle"], 0.1, 25)]
    [[0, 10, 20, 25], [0.0, 1.0, 2.0, 2.5]]
    """
    last = steps_counted(sampler, q, steps)
    if not sampler.by_epoch:
        at = np.unique(np.linspace(0, last, POINTS).round().astype(np.int64))
        return at, at.astype(np.float64) * q
    length, epochs = steps_of_epoch(q), epochs_meant(q, steps)
    whole = np.unique(np.linspace(0, floor(epochs), min(floor(epochs), POINTS) + 1).round().astype(np.int64))
    if whole[-1] * length == last:
        return whole * length, whole.astype(np.float64)
    return np.append(whole * length, last), np.append(whole.astype(np.float64), epochs)
