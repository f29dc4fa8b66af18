"""Random allocation, also called balls in bins: each record in one batch of an epoch, drawn for it alone."""

from functools import partial
from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.lattice import CUT_OFF
from dpcore.privacy.sampling.allocation_law import allocation_laws
from dpcore.privacy.sampling.base import Sampler, certified, epochs_around, steps_of_epoch
from dpcore.privacy.sampling.fixed_order import order_bounds
from dpcore.privacy.sampling.law_bounds import bounds_around
from dpcore.privacy.types import FloatArray, IntArray

WIDE = 1.01  # upper over lower end: a wider band is worth another law of the sum


@final
class RandomAllocation(Sampler):
    """Every record is put into one of the T batches of an epoch, independently of all others.

    >>> curve = RandomAllocation().curve(0.01, 1.0, 100, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([0.62]), array([0.62]))
    """

    name: ClassVar[str] = "random_allocation"
    title: ClassVar[str] = "Random allocation"
    phrase: ClassVar[str] = "batches by random allocation"
    note: ClassVar[str] = (
        "Each record is put into one batch of every epoch, by a throw of its own. As with a shuffle every record is "
        "seen once an epoch; unlike a shuffle, the sizes of batches vary, and the other records give nothing away. "
        "That can be accounted for closely, and often costs no more than Poisson batches."
    )
    source: ClassVar[str] = (
        "Feldman, Shenfeld 2026, arXiv 2602.17284, Theorem 4.6; certified here: dpcore/privacy/sampling/README.md"
    )
    adjacency: ClassVar[str] = "zero-out"
    by_epoch: ClassVar[bool] = True
    slow: ClassVar[bool] = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        whole, begun = epochs_around(q, steps)
        length, (known, enough) = steps_of_epoch(q), order_bounds(sigma, begun, delta)
        if length == 1:
            return certified(steps, delta, known, enough)
        tail = CUT_OFF * float(delta.min()) / max(int(begun[-1]), 1)
        laws_on = partial(allocation_laws, length, sigma, tail)
        try:
            lower, upper = bounds_around(laws_on, whole, begun, delta)
            if int(begun[-1]) > 1 and np.any(upper[whole == begun] > WIDE * lower[whole == begun]):
                low, high = bounds_around(partial(laws_on, few=True), whole, begun, delta)
                lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        except RuntimeError as error:
            return certified(steps, delta, np.zeros(steps.shape), enough, f"{error} The upper end is a fixed order's.")
        return certified(steps, delta, lower, np.minimum(upper, enough))
