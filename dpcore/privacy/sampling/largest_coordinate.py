"""What shuffling cannot hide: the law of the largest coordinate, a proven lower bound of what shuffled batches tell.

Every record but one adds -1 to the sum of its step, and that one adds 1 or nothing: seen from the sum of a full step
without it, one step of T lies at 2 or at 1 and all others at 0, in an order that nobody knows. An attacker who looks at
the largest coordinate alone tells no more than all coordinates do, so that what it tells is a lower bound.

Source: Chua et al. 2024, arXiv 2403.17673, section 4 (one epoch). Several epochs are composed here.
"""

import numpy as np
from scipy.special import log_ndtr, ndtri

from dpcore.privacy.certified.compose import composed_epsilons
from dpcore.privacy.certified.lattice import CUT_OFF
from dpcore.privacy.sampling.atoms import LEAST, AtomPair, laws_of_atoms
from dpcore.privacy.sampling.law_bounds import moments_of
from dpcore.privacy.types import FloatArray, IntArray

THRESHOLDS = 2**14
REACH = 12.0  # standard deviations covered around each place where the largest coordinate may lie
LOST = 1e-7  # relative: more than the probability of a slice may err
FEWEST = 10  # slices that a law is made of
SHOWN = 0.5  # of P's mass, in these slices
MESH = 0.02  # of the losses of an epoch, in their standard deviations


def one_epoch(steps: int, sigma: float, delta: FloatArray) -> FloatArray:
    """Epsilon that one epoch of so many steps has at least, at (n,) deltas; (n,).

    P(largest > C) - e^epsilon Q(largest > C) is a lower bound of delta for every threshold C: the best one counts.

    >>> one_epoch(117, 1.068, np.array([1e-5])).round(4)
    array([3.5465])
    """
    place = _thresholds(steps, sigma)
    shown, otherwise = (-np.expm1(_log_below(place, own, steps, sigma)) for own in (2.0, 1.0))
    left = shown * (1 - LOST) - delta[:, None]  # (n, C)
    useful = (left > 0) & (otherwise > LEAST)  # smaller floats have lost digits
    told = np.log(np.where(useful, left, 1.0)) - np.log(np.where(useful, otherwise * (1 + LOST), 1.0))
    return np.maximum(told.max(axis=1), 0.0)


def many_epochs(steps: int, sigma: float, epochs: IntArray, delta: FloatArray, ceiling: FloatArray) -> FloatArray:
    """The same after each of (n,) numbers of epochs, not decreasing, with the order drawn anew for each; (n,).

    `ceiling` (n,) is an epsilon known to suffice. Errors: RuntimeError where there is too little noise for any law.
    """
    pair = _slices(steps, sigma)
    if (
        pair.loss.size < FEWEST or pair.numerator.sum() < SHOWN
    ):  # so little noise that hardly any slice has mass under both
        raise RuntimeError("There is so little noise that hardly any slice shows both.")
    tail = CUT_OFF * float(delta.min()) / int(epochs[-1])
    deviation = float(np.sqrt(pair.numerator @ pair.loss**2 - (pair.numerator @ pair.loss) ** 2))
    law = laws_of_atoms(pair, MESH * deviation, tail).laws.dominated
    return composed_epsilons([law], epochs[:, None], delta, moments_of(law, epochs, delta), -1, ceiling)


def _thresholds(steps: int, sigma: float) -> FloatArray:
    """Places from below the largest of pure noise to above that of the record's own step."""
    noise = -float(ndtri(1 / (steps + 1)))  # about where the largest lies of so many
    return np.linspace(min(noise * sigma, 1) - REACH * sigma, max(noise * sigma, 2) + REACH * sigma, THRESHOLDS)


def _log_below(place: FloatArray, own: float, steps: int, sigma: float) -> FloatArray:
    """ln of the probability that all coordinates lie below each place, where the record's own step lies at `own`."""
    return log_ndtr((place - own) / sigma) + (steps - 1) * log_ndtr(place / sigma)


def _slices(steps: int, sigma: float) -> AtomPair:
    """The pair of laws of which slice the largest coordinate lies in, a little less under P and more under Q."""
    place = _thresholds(steps, sigma)
    numerator, denominator = (_between(_log_below(place, own, steps, sigma)) for own in (2.0, 1.0))
    live = (numerator > LEAST) & (denominator > LEAST)
    numerator, denominator = numerator[live] * (1 - LOST), denominator[live] * (1 + LOST)
    loss = np.log(numerator / denominator)
    order = np.argsort(loss, kind="stable")
    return AtomPair(loss[order], denominator[order], numerator[order])


def _between(log_below: FloatArray) -> FloatArray:
    """Probabilities between neighbouring places, to full relative precision in both tails."""
    return np.exp(log_below[1:]) * -np.expm1(log_below[:-1] - log_below[1:])
