"""What accountants answer: where the numerics of one give up, that is +inf with the reason, and no error."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.types import FloatArray, IntArray


def epsilon_after(accountant: str, mechanism: Mechanism, steps: ArrayLike, delta: float) -> Curve:
    """Epsilon by an accountant after each of the steps, which do not decrease."""
    at = np.atleast_1d(np.asarray(steps, dtype=np.int64))
    return _answer_of(accountant, at, np.full(at.shape, delta), lambda each: each.curve(mechanism, at, delta))


def epsilon_at_end(accountant: str, mechanism: Mechanism, delta: float) -> Curve:
    """Epsilon by an accountant after the whole mechanism alone.

    >>> epsilon_at_end("rdp", Mechanism.constant(0.01, 4.0, 10_000), 1e-5).epsilon.round(2)
    array([1.04])
    """
    return epsilon_after(accountant, mechanism, mechanism.steps, delta)


def profile_at_end(accountant: str, mechanism: Mechanism, deltas: FloatArray) -> Curve:
    """Epsilon by an accountant after the whole mechanism, at each of the deltas."""
    steps = np.full(deltas.shape, mechanism.steps)
    return _answer_of(accountant, steps, deltas.copy(), lambda each: each.profile(mechanism, deltas))


def _answer_of(accountant: str, steps: IntArray, deltas: FloatArray, ask: Callable[[Accountant], Curve]) -> Curve:
    try:
        return ask(ACCOUNTANTS[accountant])
    except RuntimeError as error:
        return Curve(steps, deltas, np.full(steps.shape, np.inf), None, ACCOUNTANTS[accountant].kind, str(error))
