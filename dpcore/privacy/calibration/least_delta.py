"""The smallest delta of a mechanism at an epsilon, from an accountant's privacy profile."""

from math import inf

import numpy as np

from dpcore import check
from dpcore.privacy.accountants import Accountant
from dpcore.privacy.mechanism import FloatArray, Kind, Mechanism, Reading

SMALLEST = 1e-20  # a smaller delta matters to nobody
LARGEST = 1 - 1e-6
POINTS = 40  # of a round
ROUNDS = 3  # after which neighbours are 0.1 % apart


def least_delta(accountant: Accountant, mechanism: Mechanism, epsilon: float) -> Reading:
    """The smallest delta with (epsilon, delta)-DP of the whole mechanism, by this accountant.

    **Guarantees:** a value below 1 was measured: the accountant's epsilon at it is at most
    `epsilon`. A lower bound was measured too: at it the proven lower epsilon is larger. Edge cases:
    it is at least 1e-20, and 1 if no smaller one keeps epsilon. Errors: ValueError for an epsilon
    below 0.

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> whole = Mechanism.constant(q=1.0, sigma=2.0, steps=4)  # exactly 1-GDP: 0.1269 at 1
    >>> found = least_delta(ACCOUNTANTS["pld"], whole, 1.0)
    >>> print(found)
    0.126 to 0.127 (proven from both sides)
    """
    check.in_range(0, inf, ends="[)", epsilon=epsilon)
    deltas = np.append(np.geomspace(SMALLEST, 0.5, 2 * POINTS), [0.6, 0.7, 0.8, 0.9, LARGEST])
    first = accountant.profile(mechanism, deltas)
    value = _refined(accountant, mechanism, epsilon, (deltas, first.epsilon), above=True)
    if first.lower is None:
        return Reading(value, None, first.kind, first.note)
    lower = _refined(accountant, mechanism, epsilon, (deltas, first.lower), above=False)
    return Reading(value, lower, Kind.CERTIFIED, first.note)


def _refined(
    accountant: Accountant,
    mechanism: Mechanism,
    epsilon: float,
    measured: tuple[FloatArray, FloatArray],
    *,
    above: bool,
) -> float:
    """The first delta that keeps epsilon if `above`, or the last that a lower bound excludes."""
    deltas, ends = measured
    for _ in range(ROUNDS):
        keeps = ends <= epsilon
        first = int(np.argmax(keeps)) if keeps.any() else keeps.size
        if first in (0, keeps.size):
            break
        deltas = np.geomspace(deltas[first - 1], deltas[first], POINTS)
        curve = accountant.profile(mechanism, deltas)
        ends = curve.epsilon if above else curve.lower
        assert ends is not None
    keeps = ends <= epsilon
    first = int(np.argmax(keeps)) if keeps.any() else keeps.size
    if above:
        return float(deltas[first]) if first < keeps.size else 1.0
    return float(deltas[first - 1]) if first > 0 else 0.0
