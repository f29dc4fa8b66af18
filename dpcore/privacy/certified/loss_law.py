"""The law of a privacy loss on a lattice, and its log-moments."""

from dataclasses import dataclass
from math import inf

import numpy as np

from dpcore.privacy.types import FloatArray

EXPONENTS = 2**20  # numbers held at once


@dataclass(frozen=True, eq=False)
class LossLaw:
    """A privacy loss: offset + i mesh with probability mass[i] under the numerator, +infinity with `infinite`.

    >>> LossLaw(0.0, 0.5, np.array([0.5, 0.5]), 0.0).log_moments(np.array([0.0, 1.0])).round(4)
    array([0.    , 0.2809])
    """

    offset: float
    mesh: float
    mass: FloatArray  # (m,)
    infinite: float

    def log_moments(self, orders: FloatArray) -> FloatArray:
        """ln E[e^(order loss); loss finite] at (G,) orders -> (G,)."""
        live = np.flatnonzero(self.mass > 0)
        if live.size == 0:
            return np.full(orders.shape, -inf)
        log_mass, values = np.log(self.mass[live]), self.offset + self.mesh * live
        blocks = np.array_split(orders, -(-orders.size * live.size // EXPONENTS))
        return np.concatenate([_log_sum(log_mass + block[:, None] * values) for block in blocks])


def _log_sum(exponent: FloatArray) -> FloatArray:
    """ln of the sum of e^exponent over the last axis."""
    top = exponent.max(axis=-1)
    return top + np.log(np.exp(exponent - top[:, None]).sum(axis=-1))
