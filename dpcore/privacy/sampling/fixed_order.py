"""Batches in an order that everybody may know: no amplification at all."""

from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling.base import Sampler, certified, epochs_around
from dpcore.privacy.types import FloatArray, IntArray


@final
class FixedOrder(Sampler):
    """The same batches in the same order in every epoch.

    >>> FixedOrder().curve(0.01, 1.0, 100, 1e-5).epsilon.round(3)
    array([4.377])
    """

    name: ClassVar[str] = "fixed_order"
    title: ClassVar[str] = "Fixed order"
    phrase: ClassVar[str] = "batches in a fixed order"
    note: ClassVar[str] = (
        "The data are cut into batches once, and gone through in that order in every epoch. Whoever knows the order "
        "knows which step holds a record: each epoch is one Gaussian release of it, and E of them are exactly "
        "mu-GDP with mu = sqrt(E)/sigma."
    )
    source: ClassVar[str] = "Dong, Roth, Su 2019, arXiv 1905.02383, Corollary 3.3"
    adjacency: ClassVar[str] = "zero-out"
    by_epoch: ClassVar[bool] = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        _, epochs = epochs_around(q, steps)  # a record of the first batch is released as soon as an epoch begins
        return certified(steps, delta, *order_bounds(sigma, epochs, delta))


def order_bounds(sigma: float, epochs: IntArray, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon of (n,) numbers of epochs in an order that is known, at (n,) deltas."""
    bounds = epsilon_bounds(Mechanism.constant(1.0, sigma, max(int(np.max(epochs)), 1)), epochs, delta)
    return bounds.lower, bounds.upper
