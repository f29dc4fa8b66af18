"""Shuffled batches: what most training code draws, and what nobody can account for closely."""

from typing import ClassVar, final

import numpy as np

from dpcore.privacy.accountants.base import Curve
from dpcore.privacy.sampling.base import Sampler, certified, epochs_around, never_falling, steps_of_epoch
from dpcore.privacy.sampling.fixed_order import order_bounds
from dpcore.privacy.sampling.largest_coordinate import many_epochs, one_epoch
from dpcore.privacy.types import FloatArray, IntArray

NOTHING_CLOSER = (
    "An interval, not a band: nothing closer is proven. Most libraries shuffle like this and print the number for "
    "Poisson batches, which can lie far below what is proven to be lost."
)


@final
class Shuffle(Sampler):
    """The data are put into a new order before every epoch, and cut into batches.

    >>> curve = Shuffle().curve(512 / 60_000, 1.068, 117, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([3.55]), array([4.06]))
    """

    name: ClassVar[str] = "shuffle"
    title: ClassVar[str] = "Shuffled every epoch"
    phrase: ClassVar[str] = "shuffled batches"
    note: ClassVar[str] = (
        "The data are shuffled before every epoch and cut into batches. Each record is in exactly one batch an epoch, "
        "which the other batches give away in part: an attacker who looks at the largest sum alone already learns "
        "more than from Poisson batches. No more is proven than the bound of a fixed order."
    )
    source: ClassVar[str] = "Chua et al. 2024, arXiv 2403.17673, section 4; several epochs composed here"
    adjacency: ClassVar[str] = "zero-out"
    interval: ClassVar[bool] = True
    by_epoch: ClassVar[bool] = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        whole, begun = epochs_around(q, steps)
        _, upper = order_bounds(sigma, begun, delta)
        lower, rows = np.zeros(steps.shape), np.flatnonzero(whole > 0)
        if rows.size:
            epochs, known = whole[rows], delta[rows]
            first = one_epoch(steps_of_epoch(q), sigma, known)
            _, ceiling = order_bounds(sigma, epochs, known)
            lower[rows] = np.maximum(first, _composed(steps_of_epoch(q), sigma, epochs, known, ceiling))
        lower = never_falling(lower, delta)
        return certified(steps, delta, np.minimum(lower, upper), upper, NOTHING_CLOSER)


def _composed(steps: int, sigma: float, epochs: IntArray, delta: FloatArray, ceiling: FloatArray) -> FloatArray:
    """The lower bound of many epochs; 0 where noise is too little for their laws, and one epoch alone is counted."""
    try:
        return many_epochs(steps, sigma, epochs, delta, ceiling)
    except RuntimeError:
        return np.zeros(epochs.shape)


@final
class ShuffleOnce(Sampler):
    """The data are shuffled once, and gone through in that order in every epoch.

    >>> ShuffleOnce().curve(512 / 60_000, 1.068, 40 * 117, 1e-5).lower.round(1)
    array([42.])
    """

    name: ClassVar[str] = "shuffle_once"
    title: ClassVar[str] = "Shuffled once"
    phrase: ClassVar[str] = "batches shuffled once"
    note: ClassVar[str] = (
        "The data are shuffled once and cut into batches, which come back in every epoch. Their E sums average to one "
        "epoch with a noise of sigma/sqrt(E): so that is a proven lower bound, and the fixed order an upper one."
    )
    source: ClassVar[str] = "Chua et al. 2024, arXiv 2403.17673, section 4, for the average of all epochs"
    adjacency: ClassVar[str] = "zero-out"
    interval: ClassVar[bool] = True
    by_epoch: ClassVar[bool] = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        whole, begun = epochs_around(q, steps)
        _, upper = order_bounds(sigma, begun, delta)
        lower, length = np.zeros(steps.shape), steps_of_epoch(q)
        for epochs in np.unique(whole[whole > 0]):
            rows = whole == epochs
            lower[rows] = one_epoch(length, sigma / float(np.sqrt(epochs)), delta[rows])
        lower = never_falling(lower, delta)
        return certified(steps, delta, np.minimum(lower, upper), upper, NOTHING_CLOSER)
