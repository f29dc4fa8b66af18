"""Batches cut from the data in an order: a known order, which amplifies nothing, or a shuffled one.

Most training code shuffles, and nobody can account for that closely. The lower bound here follows
from the largest coordinate. Let every record but one add -1 to the sum of its step, and that one 1
or nothing. Relative to a full step without it, one step of T lies at 2 or at 1 and all others at 0,
in an unknown order. The largest coordinate reveals no more than all coordinates, so its divergence
is a lower bound.

Source: Chua et al. 2024, arXiv 2403.17673, section 4 (one epoch). Several epochs are composed here.
"""

from math import log1p, sqrt
from typing import final

import numpy as np
from scipy.special import log_ndtr, ndtri

from dpcore.privacy.certified.compose import composed_epsilons
from dpcore.privacy.certified.epsilon_bounds import EpsilonBounds, epsilon_bounds
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism
from dpcore.privacy.sampling.base import ZERO_OUT, Sampler, Words, epochs_around, steps_of_epoch
from dpcore.privacy.sampling.round_laws import (
    SMALLEST_MASS,
    AtomPair,
    laws_of_atoms,
    moments_of,
    tail_mass,
)

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
    place = _thresholds(steps, sigma)  # (C,)
    with_record = -np.expm1(_log_below(place, own, steps, sigma))  # (C,) P(largest > C)
    without = -np.expm1(_log_below(place, own - 1, steps, sigma))  # (C,) Q(largest > C)
    above_delta = with_record * (1 - LOST) - delta[:, None]  # (n, C)
    useful = (above_delta > 0) & (without > SMALLEST_MASS)  # smaller floats lack digits
    numerator = np.where(useful, above_delta, 1.0)
    denominator = np.where(useful, without * (1 + LOST), 1.0)
    epsilon = np.log(numerator) - np.log(denominator)  # (n, C)
    return np.maximum(epsilon.max(axis=1), 0.0)


def many_epochs(
    steps: int, sigma: float, epochs: IntArray, delta: FloatArray, ceiling: FloatArray
) -> FloatArray:
    """A lower bound of epsilon after each of (n,) numbers of epochs, each in a new order; (n,).

    The numbers do not decrease. `ceiling` (n,) is an epsilon known to suffice. Errors: RuntimeError
    if there is too little noise for any law.
    """
    pair = _slices(steps, sigma)
    if pair.loss.size < MIN_SLICES or pair.numerator.sum() < MIN_SHOWN_MASS:
        raise RuntimeError(
            "There is so little noise that hardly any slice has mass under both laws."
        )
    tail = tail_mass(epochs, delta)
    mean = pair.numerator @ pair.loss
    deviation = float(np.sqrt(pair.numerator @ pair.loss**2 - mean**2))
    law = laws_of_atoms(pair, MESH * deviation, tail).laws.dominated
    moments = moments_of(law, epochs, delta)
    return composed_epsilons([law], epochs[:, None], delta, moments, -1, ceiling)


def _thresholds(steps: int, sigma: float) -> FloatArray:
    """Places from below the largest of pure noise to above that of the record's own step."""
    noise = -float(ndtri(1 / (steps + 1))) * sigma  # about the largest of `steps` noises
    reach = REACH * sigma
    return np.linspace(min(noise, 1) - reach, max(noise, 2) + reach, THRESHOLDS)


def _log_below(place: FloatArray, own: float, steps: int, sigma: float) -> FloatArray:
    """Log probability that all coordinates lie below each place; the record's step is at `own`."""
    return log_ndtr((place - own) / sigma) + (steps - 1) * log_ndtr(place / sigma)


def _slices(steps: int, sigma: float) -> AtomPair:
    """The pair of laws of the slice of the largest coordinate.

    Rounding is charged: there is a little less mass under P, and a little more under Q.
    """
    place = _thresholds(steps, sigma)
    numerator = _between(_log_below(place, 2.0, steps, sigma))
    denominator = _between(_log_below(place, 1.0, steps, sigma))
    live = (numerator > SMALLEST_MASS) & (denominator > SMALLEST_MASS)
    numerator = numerator[live] * (1 - LOST)
    denominator = denominator[live] * (1 + LOST)
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

    name = "fixed_order"
    title = "Fixed order"
    source = "Dong, Roth, Su 2019, arXiv 1905.02383, Corollary 3.3"
    phrase = "batches in a fixed order"
    note = (
        "The data are cut into batches once, and every epoch takes them in that order. An attacker"
        " who knows the order knows the step of a record. Each epoch is one Gaussian release, and E"
        " epochs are exactly mu-GDP with mu = sqrt(E)/sigma."
    )
    adjacency = ZERO_OUT
    by_epoch = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        # The first batch of an epoch releases its records at once.
        _, begun = epochs_around(q, steps)
        return order_bounds(sigma, begun, delta)


def order_bounds(sigma: float, epochs: IntArray, delta: FloatArray) -> EpsilonBounds:
    """Lower and upper epsilon after (n,) numbers of epochs in a known order, at (n,) deltas."""
    most = max(int(np.max(epochs)), 1)
    return epsilon_bounds(Mechanism.constant(1.0, sigma, most), epochs, delta)


def shuffled(n: int, q: float, words: Words) -> IntArray:
    """The step of each of n records, 0 ... T - 1, from a new order cut into batches; (n,).

    The sizes of the batches differ by 1 at most. The order is that of one word for each record;
    equal words would favour one, so all are drawn again.
    """
    found = words(n)
    while np.unique(found).size < n:
        found = words(n)
    step_of = np.empty(n, dtype=np.int64)
    step_of[np.argsort(found)] = np.arange(n) * steps_of_epoch(q) // n
    return step_of


@final
class Shuffle(Sampler):
    """The data are shuffled before every epoch, and cut into batches.

    >>> curve = Shuffle().curve(512 / 60_000, 1.068, 117, 1e-5)
    >>> curve.lower.round(2), curve.epsilon.round(2)
    (array([3.55]), array([4.06]))
    """

    name = "shuffle"
    title = "Shuffled every epoch"
    source = "Chua et al. 2024, arXiv 2403.17673, section 4; several epochs composed here"
    phrase = "shuffled batches"
    note = (
        "The data are shuffled before every epoch and cut into batches. Each record is in exactly"
        " one batch of an epoch, and the other batches partly reveal which: the largest sum alone"
        " tells an attacker more than Poisson batches do. No upper bound below that of a fixed"
        " order is proven."
    )
    draw = staticmethod(shuffled)
    adjacency = ZERO_OUT
    interval = True
    by_epoch = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        whole, begun = epochs_around(q, steps)
        upper = order_bounds(sigma, begun, delta).upper
        lower = np.zeros(steps.shape)
        rows = np.flatnonzero(whole > 0)
        if rows.size > 0:
            lower[rows] = self._lower(steps_of_epoch(q), sigma, whole[rows], delta[rows])
        return EpsilonBounds(lower, upper, NOTHING_CLOSER)

    def log_chance_kept(self, share: float, epochs: int) -> float:
        """Each epoch leaves out other records."""
        return epochs * log1p(-share)

    def _lower(self, length: int, sigma: float, epochs: IntArray, delta: FloatArray) -> FloatArray:
        """Lower epsilon after (n,) numbers of whole epochs, each of `length` steps."""
        lower = one_epoch(length, sigma, delta)
        ceiling = order_bounds(sigma, epochs, delta).upper
        try:
            composed = many_epochs(length, sigma, epochs, delta, ceiling)
        except RuntimeError:  # too little noise for the laws of many epochs: only one is counted
            return lower
        return np.maximum(lower, composed)


@final
class ShuffleOnce(Sampler):
    """The data are shuffled once, and every epoch takes them in that order.

    >>> ShuffleOnce().curve(512 / 60_000, 1.068, 40 * 117, 1e-5).lower.round(1)
    array([42.])
    """

    name = "shuffle_once"
    title = "Shuffled once"
    source = "Chua et al. 2024, arXiv 2403.17673, section 4, for the average of all epochs"
    phrase = "batches shuffled once"
    note = (
        "The data are shuffled once and cut into batches, and every epoch takes the same ones. The"
        " average of E epochs is one epoch with noise sigma/sqrt(E), which proves a lower bound."
        " The fixed order gives an upper bound."
    )
    adjacency = ZERO_OUT
    interval = True
    by_epoch = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        whole, begun = epochs_around(q, steps)
        upper = order_bounds(sigma, begun, delta).upper
        lower = np.zeros(steps.shape)
        for epochs in np.unique(whole[whole > 0]):
            rows = whole == epochs
            less_noise = sigma / sqrt(epochs)
            lower[rows] = one_epoch(steps_of_epoch(q), less_noise, delta[rows])
        return EpsilonBounds(lower, upper, NOTHING_CLOSER)

    def log_chance_kept(self, share: float, epochs: int) -> float:
        """All epochs leave out the same records."""
        return log1p(-share)
