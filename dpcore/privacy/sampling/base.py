"""What a sampler is: a way to draw batches, with what is proven of epsilon when every batch is drawn that way."""

from abc import ABC, abstractmethod
from math import inf
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from dpcore import check
from dpcore.privacy.accountants.base import MAX_STEPS, Curve
from dpcore.privacy.certified.epsilon_bounds import width_note
from dpcore.privacy.mechanism import Release
from dpcore.privacy.types import FloatArray, IntArray, Kind

LARGEST_DELTA = 1 - 1e-6  # that is counted: beyond, its epsilon is an upper end, and the lower end is 0
ROUNDED = 1e-6  # relative: more than the total variation that two laws have in common may err


class OtherCurve(NamedTuple):
    """What others count for the same batches, beside what is certified."""

    title: str
    curve: Curve


class Sampler(ABC):
    """Epsilon of many Gaussian steps whose batches are drawn in one way; subclasses are final and stateless.

    They give `_account`, and `other_curves` where others count otherwise.
    """

    name: ClassVar[str]  # the id, as on the command line
    title: ClassVar[str]  # as on a page
    phrase: ClassVar[str]  # the batches, as within a sentence
    note: ClassVar[str]  # how a batch is drawn, and what is known of it, in a sentence or two
    source: ClassVar[str]  # the paper, with arXiv id and theorem
    adjacency: ClassVar[str]  # what a record's absence is: what its epsilon may be compared with
    interval: ClassVar[bool] = False  # whether nothing closer than two far ends is proven
    by_epoch: ClassVar[bool] = False  # whether a record is in one batch of each epoch, so that whole epochs count
    slow: ClassVar[bool] = False  # whether a curve may take seconds
    least_q: ClassVar[float] = 0.0  # below, it takes minutes

    def curve(self, q: float, sigma: float, steps: ArrayLike, delta: float) -> Curve:
        """Lower and upper epsilon after each of `steps` (n,), which do not decrease, at one delta in (0, 1).

        `q` is the share of all records in a batch, `sigma` the noise's standard deviation over the clipping norm. An
        epoch is round(1/q) steps. Errors: ValueError.
        """
        check.delta(delta=delta)
        horizons = _checked(q, sigma, steps)
        return self._answered(q, sigma, horizons, np.full(horizons.shape, delta))

    def profile(self, q: float, sigma: float, steps: int, deltas: ArrayLike) -> Curve:
        """The same after all steps, at each of `deltas` (n,)."""
        values = np.atleast_1d(np.asarray(deltas, dtype=np.float64))
        for value in np.unique(values):
            check.delta(delta=float(value))
        return self._answered(q, sigma, _checked(q, sigma, np.full(values.shape, steps)), values)

    def _answered(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        """The curve: 0 where delta alone covers all that is told, and a sentence in the place of a count of minutes."""
        if q < self.least_q:
            note = f"Nothing is counted for {self.phrase} where q is below {self.least_q:g}: it would take minutes."
            return nothing_promised(steps, delta, note)
        rows = np.flatnonzero(1 - delta > self._same(q, sigma, steps))
        if rows.size == 0:
            return certified(steps, delta, np.zeros(steps.shape), np.zeros(steps.shape))
        lower, upper = np.zeros(steps.shape), np.zeros(steps.shape)
        counted = self._account(q, sigma, steps[rows], np.minimum(delta[rows], LARGEST_DELTA))
        upper[rows] = counted.epsilon
        if counted.lower is not None:
            lower[rows] = np.where(delta[rows] > LARGEST_DELTA, 0.0, counted.lower)
        return Curve(steps, delta, upper, lower, counted.kind, counted.note)

    def _same(self, q: float, sigma: float, steps: IntArray) -> FloatArray:
        """At most 1 less the total variation of neighbours after each of (n,) steps: what both show alike.

        A record moves the sums of all rounds by what it moves in one, m, times the root of their number; or each round
        by m with probability q, and what is shown alike in every round is shown alike in all.
        """
        moved = 2.0 if self.adjacency == "replace-one" else 1.0
        rounds, rate = (epochs_around(q, steps)[1], 1.0) if self.by_epoch else (steps, q)
        each = (1 - rate + 2 * rate * ndtr(-0.5 * moved / sigma)) ** rounds
        whole = 2 * ndtr(-0.5 * moved * np.sqrt(rounds) / sigma)
        return np.maximum(each, whole) * (1 - ROUNDED)

    def other_curves(self, q: float, sigma: float, steps: IntArray, delta: float) -> tuple[OtherCurve, ...]:
        """What others count for such batches; none by default."""
        del q, sigma, steps, delta
        return ()

    @abstractmethod
    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        """Lower and upper epsilon for each pair of (n,) steps and (n,) deltas; 0 steps cost nothing."""


def steps_of_epoch(q: float) -> int:
    """T: how many steps an epoch has, of batches with a share q of all records.

    >>> steps_of_epoch(512 / 60_000)
    117
    """
    return max(1, round(1 / q))


def certified(steps: IntArray, delta: FloatArray, lower: FloatArray, upper: FloatArray, note: str = "") -> Curve:
    """The curve of two proven bounds; `note` says what a reader must know of them."""
    last = steps == steps[-1]
    return Curve(steps, delta, upper, lower, Kind.CERTIFIED, note or width_note(lower[last], upper[last]))


def epochs_around(q: float, steps: IntArray) -> tuple[IntArray, IntArray]:
    """How many whole epochs lie within (n,) steps, and how many hold them.

    >>> [part.tolist() for part in epochs_around(0.1, np.array([0, 5, 10, 11]))]
    [[0, 0, 1, 1], [0, 1, 1, 2]]
    """
    length = steps_of_epoch(q)
    return steps // length, -(-steps // length)


def never_falling(lower: FloatArray, delta: FloatArray) -> FloatArray:
    """(n,) lower ends of rising steps, each raised to those before it at the same delta, which still hold.

    >>> never_falling(np.array([2.0, 1.0, 0.5, 3.0]), np.array([0.1, 0.1, 0.2, 0.1])).tolist()
    [2.0, 2.0, 0.5, 3.0]
    """
    raised = lower.copy()
    for each in np.unique(delta):
        rows = delta == each
        raised[rows] = np.maximum.accumulate(lower[rows])
    return raised


def nothing_promised(steps: IntArray, delta: FloatArray, note: str) -> Curve:
    """No upper bound but where nothing is released, and no lower one."""
    return Curve(steps, delta, np.where(steps > 0, inf, 0.0), np.zeros(steps.shape), Kind.CERTIFIED, note)


def _checked(q: float, sigma: float, steps: ArrayLike) -> IntArray:
    Release(q, sigma)  # the same limits as everywhere
    given = np.atleast_1d(np.asarray(steps))
    if given.ndim != 1 or given.size == 0 or not np.array_equal(given, np.floor(given.astype(np.float64))):
        raise ValueError(f"Expected steps={steps!r} to be whole numbers in one dimension.")
    horizons = given.astype(np.int64)
    check.whole(0, MAX_STEPS, steps=int(horizons.min()))
    check.whole(0, MAX_STEPS, steps=int(horizons.max()))
    if np.any(np.diff(horizons) < 0):
        raise ValueError(f"Expected steps={steps!r} not to decrease.")
    return horizons
