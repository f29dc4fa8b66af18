"""Batches cut from the data in an order: a known order, which amplifies nothing, or a shuffled one.

Most training code shuffles, and nobody can account for that closely. The lower bound here follows
from the largest coordinate. Let every record but one add -1 to the sum of its step, and that one 1
or nothing. Relative to a full step without it, one step of T lies at 2 or at 1 and all others at 0,
in an unknown order. The largest coordinate reveals no more than all coordinates, so its divergence
is a lower bound.

Source: Chua et al. 2024, arXiv 2403.17673, section 4 (one epoch). Several epochs are composed here.
"""

from contextlib import suppress
from typing import ClassVar, final

import numpy as np
from scipy.special import log_ndtr, ndtri

from dpcore.privacy.certified.compose import composed_epsilons
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds, epsilon_bounds
from dpcore.privacy.certified.lattice import CUT_OFF
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.sampling.base import Sampler, epochs_around, steps_of_epoch, words_of
from dpcore.privacy.sampling.round_laws import SMALLEST_MASS, AtomPair, laws_of_atoms, moments_of

THRESHOLDS = 2**14
REACH = 12.0  # standard deviations covered around each likely place of the largest coordinate
LOST = 1e-7  # relative: above the error of a slice's probability
MIN_SLICES = 10  # slices of a law, at least
MIN_SHOWN_MASS = 0.5  # of P's mass, in these slices
MESH = 0.02  # of the losses of an epoch, in their standard deviations
NOTHING_CLOSER = (
    "An interval, not a band: nothing closer is proven. Most libraries shuffle like this and print"
    " the number for Poisson batches, which can lie far below the proven lower end."
)


def one_epoch(steps: int, sigma: float, delta: FloatArray, own: float = 2.0) -> FloatArray:
    """A lower bound of epsilon after one epoch of `steps` steps, at (n,) deltas; (n,).

    P(largest > C) - e^epsilon Q(largest > C) is a lower bound of delta for every threshold C; the
    best one counts. The record's step lies at `own`, or at 1 less without the record.

    >>> one_epoch(117, 1.068, np.array([1e-5])).round(4)
    array([3.5465])
    """
    place = _thresholds(steps, sigma)
    shown, otherwise = (-np.expm1(_log_below(place, at, steps, sigma)) for at in (own, own - 1))
    left = shown * (1 - LOST) - delta[:, None]  # (n, C)
    useful = (left > 0) & (otherwise > SMALLEST_MASS)  # smaller floats lack digits
    told = np.log(np.where(useful, left, 1.0)) - np.log(
        np.where(useful, otherwise * (1 + LOST), 1.0)
    )
    return np.maximum(told.max(axis=1), 0.0)


def many_epochs(
    steps: int, sigma: float, epochs: IntArray, delta: FloatArray, ceiling: FloatArray
) -> FloatArray:
    """A lower bound of epsilon after each of (n,) numbers of epochs, not decreasing, each in a new
    order; (n,).

    `ceiling` (n,) is an epsilon known to suffice. Errors: RuntimeError if there is too little noise
    for any law.
    """
    pair = _slices(steps, sigma)
    if pair.loss.size < MIN_SLICES or pair.numerator.sum() < MIN_SHOWN_MASS:
        raise RuntimeError(
            "There is so little noise that hardly any slice has mass under both laws."
        )
    tail = CUT_OFF * float(delta.min()) / int(epochs[-1])
    deviation = float(np.sqrt(pair.numerator @ pair.loss**2 - (pair.numerator @ pair.loss) ** 2))
    law = laws_of_atoms(pair, MESH * deviation, tail).laws.dominated
    return composed_epsilons(
        [law], epochs[:, None], delta, moments_of(law, epochs, delta), -1, ceiling
    )


def _thresholds(steps: int, sigma: float) -> FloatArray:
    """Places from below the largest of pure noise to above that of the record's own step."""
    noise = -float(ndtri(1 / (steps + 1)))  # about the largest of `steps` normal numbers
    return np.linspace(
        min(noise * sigma, 1) - REACH * sigma, max(noise * sigma, 2) + REACH * sigma, THRESHOLDS
    )


def _log_below(place: FloatArray, own: float, steps: int, sigma: float) -> FloatArray:
    """Log probability that all coordinates lie below each place, if the record's own step lies at
    `own`.
    """
    return log_ndtr((place - own) / sigma) + (steps - 1) * log_ndtr(place / sigma)


def _slices(steps: int, sigma: float) -> AtomPair:
    """The pair of laws of the slice of the largest coordinate, with a little less mass under P and
    more under Q.
    """
    place = _thresholds(steps, sigma)
    numerator, denominator = (_between(_log_below(place, own, steps, sigma)) for own in (2.0, 1.0))
    live = (numerator > SMALLEST_MASS) & (denominator > SMALLEST_MASS)
    numerator, denominator = numerator[live] * (1 - LOST), denominator[live] * (1 + LOST)
    loss = np.log(numerator / denominator)
    order = np.argsort(loss, kind="stable")
    return AtomPair(loss[order], denominator[order], numerator[order])


def _between(log_below: FloatArray) -> FloatArray:
    """Probabilities between neighbouring places, to full relative precision in both tails."""
    return np.exp(log_below[1:]) * -np.expm1(log_below[:-1] - log_below[1:])


@final
class FixedOrder(Sampler):
    """Every epoch takes equal batches in one order.

    >>> FixedOrder().curve(0.01, 1.0, 100, 1e-5).epsilon.round(3)
    array([4.377])
    """

    name, title, source, phrase, note = words_of("fixed_order")
    adjacency = "zero-out"
    by_epoch: ClassVar[bool] = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        # The first batch of an epoch releases its records at once.
        _, epochs = epochs_around(q, steps)
        return EpsilonBounds(*order_bounds(sigma, epochs, delta))


def order_bounds(
    sigma: float, epochs: IntArray, delta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper epsilon after (n,) numbers of epochs in a known order, at (n,) deltas."""
    bounds = epsilon_bounds(
        Mechanism.constant(1.0, sigma, max(int(np.max(epochs)), 1)), epochs, delta
    )
    return bounds.lower, bounds.upper


@final
class Shuffle(Sampler):
    """The data are shuffled before every epoch, and cut into batches.

    >>> curve = Shuffle().curve(512 / 60_000, 1.068, 117, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([3.55]), array([4.06]))
    """

    name, title, source, phrase, note = words_of("shuffle")
    adjacency = "zero-out"
    interval: ClassVar[bool] = True
    by_epoch: ClassVar[bool] = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        whole, begun = epochs_around(q, steps)
        _, upper = order_bounds(sigma, begun, delta)
        lower, rows = np.zeros(steps.shape), np.flatnonzero(whole > 0)
        if rows.size:
            epochs, known, length = whole[rows], delta[rows], steps_of_epoch(q)
            lower[rows] = one_epoch(length, sigma, known)
            _, ceiling = order_bounds(sigma, epochs, known)
            # Too little noise for the laws of many epochs: only one is counted.
            with suppress(RuntimeError):
                lower[rows] = np.maximum(
                    lower[rows], many_epochs(length, sigma, epochs, known, ceiling)
                )
        return EpsilonBounds(lower, upper, NOTHING_CLOSER)


@final
class ShuffleOnce(Sampler):
    """The data are shuffled once, and every epoch takes them in that order.

    >>> ShuffleOnce().curve(512 / 60_000, 1.068, 40 * 117, 1e-5).lower.round(1)
    array([42.])
    """

    name, title, source, phrase, note = words_of("shuffle_once")
    adjacency = "zero-out"
    interval: ClassVar[bool] = True
    by_epoch: ClassVar[bool] = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        whole, begun = epochs_around(q, steps)
        _, upper = order_bounds(sigma, begun, delta)
        lower, length = np.zeros(steps.shape), steps_of_epoch(q)
        for epochs in np.unique(whole[whole > 0]):
            rows = whole == epochs
            lower[rows] = one_epoch(length, sigma / float(np.sqrt(epochs)), delta[rows])
        return EpsilonBounds(lower, upper, NOTHING_CLOSER)
