"""The trade-off function that proven lower bounds of epsilon leave: a curve that is never below the true one."""

import numpy as np
from numpy.typing import ArrayLike

from dpcore.privacy.tradeoff.from_profile import LARGEST, Pairs


def never_below(epsilon: ArrayLike, delta: ArrayLike) -> Pairs:
    """A curve that the true one is nowhere above, where epsilon is at least `epsilon` (n,) at each of `delta` (n,).

    The true delta falls as epsilon rises. So from one of these epsilons down to the next smaller one it is at least
    the delta that belongs to the larger one, and beyond the last it is at least 0. By duality f is the largest of all
    lines 1 - delta(epsilon) - e^epsilon alpha and their mirror images, and a smaller delta only raises them; of those
    with one delta the one of the smallest epsilon is the highest. So each delta goes with the next smaller epsilon.
    Source: Dong, Roth and Su 2019, arXiv 1905.02383, Proposition 2.12.
    Edge cases: an epsilon past what a float can raise e to counts as the largest that it can.
    Errors: ValueError as `Pairs`.

    >>> never_below([0.5, 1.0], [0.1, 0.01]).beta([0.0, 0.1, 0.3]).round(4).tolist()
    [1.0, 0.8251, 0.6]
    """
    epsilon, delta = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (epsilon, delta))
    order = np.argsort(epsilon, kind="stable")
    known = np.minimum(epsilon[order], LARGEST)
    least = np.maximum.accumulate(delta[order][::-1])[::-1]  # what holds at a larger epsilon holds here too
    return Pairs(np.append(0.0, known), np.append(least, 0.0))
