"""Samplers: ways of drawing batches, each with proven bounds of epsilon."""

from abc import ABC, abstractmethod
from math import ceil, comb, floor, inf
from pathlib import Path
from typing import ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from dpcore import check
from dpcore.privacy import named_words
from dpcore.privacy.accountants.base import MAX_STEPS, Curve, checked_deltas, checked_steps
from dpcore.privacy.certified.bit_bounds import counted_epsilons
from dpcore.privacy.certified.epsilon_bounds import (
    MOST_ROWS,
    EpsilonBounds,
    epsilon_bounds,
    width_note,
)
from dpcore.privacy.certified.tradeoff_bounds import Band
from dpcore.privacy.mechanism import FloatArray, IntArray, Kind, Mechanism, Release
from dpcore.privacy.tradeoff import Pairs, never_below

MAX_DELTA = 1 - 1e-6  # a larger delta gets this one's epsilon as upper end, and the lower end 0
ROUNDED = 1e-6  # relative: above the error of 1 less the total variation
LITTLE_NOISE = 0.5  # below this sigma one bit of each step may say more than the laws of a round
POINTS = 40  # of a curve over a whole training
# Of the pairs.
DELTAS = np.unique(np.concatenate([np.logspace(-9, -2, 36), np.linspace(0.02, 0.98, 49)]))


def words_of(name: str) -> tuple[str, ...]:
    """The name, title, source, phrase and note of a sampler."""
    words = named_words(Path(__file__).with_name("samplers.toml"), name)
    return tuple(words[key] for key in ("name", "title", "source", "phrase", "note"))


class OtherCurve(NamedTuple):
    """A curve of another method for the same batches, beside the certified one."""

    title: str
    curve: Curve


class Sampler(ABC):
    """Epsilon of many Gaussian steps on batches drawn in one way; subclasses are final and never
    change.
    """

    name: ClassVar[str]  # the id on the command line
    form: ClassVar[str] = ""  # of an id with numbers, and what these are
    title: ClassVar[str]  # on pages
    phrase: ClassVar[str]  # the batches within a sentence
    note: ClassVar[str]  # a few sentences on how a batch is drawn and what is known about it
    source: ClassVar[str]  # the paper, with arXiv id and theorem
    adjacency: str  # only epsilons of one adjacency can be compared
    records: int = 1  # of one person, who is present or absent
    interval: ClassVar[bool] = False  # true if only two far ends are proven
    # True if a record is in one batch of each epoch, so that whole epochs count.
    by_epoch: ClassVar[bool] = False
    slow: ClassVar[bool] = False  # true if a curve may take seconds
    least_q: ClassVar[float] = 0.0  # a smaller q would take minutes

    def curve(self, q: float, sigma: float, steps: ArrayLike, delta: float) -> Curve:
        """Lower and upper epsilon after each of `steps` (n,), which do not decrease, at one delta
        in (0, 1).

        `q` is the share of all records in a batch, `sigma` the noise's standard deviation over the
        clipping norm. An epoch is round(1/q) steps. Errors: ValueError.
        """
        check.delta(delta=delta)
        Release(q, sigma)  # checks both
        horizons = checked_steps(steps, MAX_STEPS)
        return self._answered(q, sigma, horizons, np.full(horizons.shape, delta))

    def profile(self, q: float, sigma: float, steps: int, deltas: ArrayLike) -> Curve:
        """Lower and upper epsilon after all steps, at each of `deltas` (n,)."""
        values = checked_deltas(deltas)
        Release(q, sigma)
        return self._answered(
            q, sigma, checked_steps(np.full(values.shape, steps), MAX_STEPS), values
        )

    def _answered(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        """The curve; 0 where delta alone covers the release, with a note where nothing can be
        counted.
        """
        lower, upper = np.zeros(steps.shape), np.zeros(steps.shape)
        rows = np.flatnonzero((steps > 0) & (1 - delta > self._same(q, sigma, steps)))
        if rows.size == 0:
            return certified(steps, delta, lower, upper)
        counted = self._counted(q, sigma, steps[rows], np.minimum(delta[rows], MAX_DELTA))
        upper[rows] = counted.upper
        lower[rows] = np.where(delta[rows] > MAX_DELTA, 0.0, counted.lower)
        unknown = rows[(lower[rows] == 0) | np.isinf(upper[rows]) | (sigma < LITTLE_NOISE)]
        asked = unknown[:: -max(1, unknown.size // MOST_ROWS)]  # later steps cost no less
        bits = self._bits(q, sigma, steps[asked], delta[asked])
        lower[asked] = np.maximum(lower[asked], bits)
        return certified(steps, delta, lower, upper, counted.note)

    def _counted(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        """The bounds of `_account`, or none and the reason."""
        if q < self.least_q:
            note = (
                f"Nothing is counted for {self.phrase} with q below {self.least_q:g}: it would take"
                " minutes."
            )
        else:
            try:
                return self._account(q, sigma, steps, delta)
            except RuntimeError as error:
                note = str(error)
        return EpsilonBounds(np.zeros(steps.shape), np.full(steps.shape, inf), note)

    def _same(self, q: float, sigma: float, steps: IntArray) -> FloatArray:
        """A lower bound of 1 less the total variation of neighbours after each of (n,) steps.

        A record moves the sums of all rounds by the root of their number times m, its move in one
        round. Or it moves each round by m with probability q, and the mass common to every round is
        common to all.
        """
        moved = (2.0 if self.adjacency == "replace-one" else 1.0) * np.arange(self.records + 1)
        rounds, rate = (epochs_around(q, steps)[1], 1.0) if self.by_epoch else (steps, q)
        each = (chances(rate, self.records) @ (2 * ndtr(-0.5 * moved / sigma))) ** rounds
        whole = 2 * ndtr(-0.5 * moved[-1] * np.sqrt(rounds) / sigma)
        return np.maximum(each, whole) * (1 - ROUNDED)

    def _bits(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> FloatArray:
        """A lower bound from one bit of each step, or of each whole epoch where a record is in one
        of its steps; (n,).

        Within the first epoch the bit is the largest sum so far, which has the record with a chance
        of q for each step.
        """
        if not self.by_epoch:
            return counted_epsilons(self.seen(q), sigma, steps, delta)
        epochs, length = epochs_around(q, steps)[0], steps_of_epoch(q)
        each_step = min(q, 1 / length)  # also where the last records of an epoch are left out
        first_step = counted_epsilons(each_step, sigma, np.minimum(steps, 1), delta)
        found = np.maximum(first_step, counted_epsilons(1.0, sigma, epochs, delta, length))
        for row in np.flatnonzero((epochs == 0) & (steps > 0)):
            begun = int(steps[row])
            one_trial = np.ones(1, dtype=np.int64)
            so_far = counted_epsilons(each_step * begun, sigma, one_trial, delta[[row]], begun)[0]
            found[row] = max(found[row], so_far)
        return found

    def seen(self, q: float) -> float:
        """The chance that a batch has any of the records."""
        return float(chances(q, self.records)[1:].sum())

    def other_curves(
        self, q: float, sigma: float, steps: IntArray, delta: float
    ) -> tuple[OtherCurve, ...]:
        """Curves of other methods for such batches; none by default."""
        return ()

    @abstractmethod
    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        """Lower and upper epsilon for each pair of (n,) steps, above 0, and (n,) deltas.

        The note says why there is no closer bound, if there is a reason; that of the band's width
        is added later. Errors: RuntimeError.
        """


def chances(q: float, records: int) -> FloatArray:
    """The chances that a Poisson batch has 0, 1, .., k = `records` of k records; (k + 1,).

    >>> chances(0.5, 2)
    array([0.25, 0.5 , 0.25])
    """
    return np.array(
        [comb(records, j) * q**j * (1 - q) ** (records - j) for j in range(records + 1)]
    )


def steps_of_epoch(q: float) -> int:
    """The number of steps T of an epoch, for batches with a share q of all records.

    >>> steps_of_epoch(512 / 60_000)
    117
    """
    return max(1, round(1 / q))


def certified(
    steps: IntArray, delta: FloatArray, lower: FloatArray, upper: FloatArray, reason: str = ""
) -> Curve:
    """The curve of two proven bounds, each of which also holds for more, or fewer, steps at the
    same delta.

    `reason` says why there is no closer bound; without one the note tells of a wide band.
    """
    lower, upper = never_falling(lower, delta), never_falling(-upper[::-1], delta[::-1])[::-1] * -1
    last = steps == steps[-1]
    return Curve(
        steps, delta, upper, lower, Kind.CERTIFIED, reason or width_note(lower[last], upper[last])
    )


def epochs_around(q: float, steps: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers of whole epochs that end within (n,) steps, and that begin within them.

    >>> [part.tolist() for part in epochs_around(0.1, np.array([0, 5, 10, 11]))]
    [[0, 0, 1, 1], [0, 1, 1, 2]]
    """
    length = steps_of_epoch(q)
    return steps // length, -(-steps // length)


def never_falling(lower: FloatArray, delta: FloatArray) -> FloatArray:
    """Raise each of (n,) lower ends of rising steps to those before it at the same delta, which
    still hold.

    >>> never_falling(np.array([2.0, 1.0, 0.5, 3.0]), np.array([0.1, 0.1, 0.2, 0.1])).tolist()
    [2.0, 2.0, 0.5, 3.0]
    """
    raised = lower.copy()
    for each in np.unique(delta):
        rows = delta == each
        raised[rows] = np.maximum.accumulate(lower[rows])
    return raised


def epochs_meant(q: float, steps: int) -> float:
    """The number of epochs that `steps` steps of Poisson batches stand for: q T, without rounding
    up to a step.

    >>> epochs_meant(0.0256, 196), epochs_meant(0.01, 250)
    (5.0, 2.5)
    """
    epochs = q * steps
    whole = floor(epochs + 1e-9)
    return float(whole) if whole and epochs - whole < q * (1 - 1e-9) else epochs


def steps_counted(sampler: Sampler, q: float, steps: int) -> int:
    """The steps of the same training with this sampler: whole epochs remain whole, of round(1/q)
    batches.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> [steps_counted(SAMPLERS[name], 0.0256, 196) for name in ("poisson", "shuffle")]
    [196, 195]
    """
    if not sampler.by_epoch:
        return steps
    epochs, length = epochs_meant(q, steps), steps_of_epoch(q)
    whole = floor(epochs)
    return whole * length + ceil((epochs - whole) * length - 1e-9)


def points_of(sampler: Sampler, q: float, steps: int) -> tuple[IntArray, FloatArray]:
    """The points of a curve over such a training: (n,) steps of the sampler from 0 on, and their
    epochs.

    For samplers that go by epochs these are whole epochs and the end: the bounds are step
    functions.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> [each.tolist() for each in points_of(SAMPLERS["shuffle"], 0.1, 25)]
    [[0, 10, 20, 25], [0.0, 1.0, 2.0, 2.5]]
    """
    last = steps_counted(sampler, q, steps)
    if not sampler.by_epoch:
        at = np.unique(np.linspace(0, last, POINTS).round().astype(np.int64))
        return at, at.astype(np.float64) * q
    length, epochs = steps_of_epoch(q), epochs_meant(q, steps)
    whole = np.unique(
        np.linspace(0, floor(epochs), min(floor(epochs), POINTS) + 1).round().astype(np.int64)
    )
    if whole[-1] * length == last:
        return whole * length, whole.astype(np.float64)
    return np.append(whole * length, last), np.append(whole.astype(np.float64), epochs)


def tradeoff_band(sampler: Sampler, q: float, sigma: float, steps: int) -> Band:
    """The symmetric band after `steps` of the sampler's own steps, from its profile alone.

    The pairs of the upper ends give the curve below; the lower ends, each at the next smaller
    epsilon, give the curve above. Edge cases: without a finite upper end the band is empty, and its
    lower curve is 0. Errors: ValueError.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> band = tradeoff_band(SAMPLERS["fixed_order"], q=0.1, sigma=2.0, steps=40)  # exactly G_1, at 0.05 it is 0.7405
    >>> float(band.lower.beta(0.05).round(2)), float(band.upper.beta(0.05).round(2))
    (0.74, 0.76)
    """
    profile = sampler.profile(q, sigma, steps, DELTAS)
    lower = profile.lower if profile.lower is not None else np.zeros(DELTAS.shape)
    empty = not bool(np.isfinite(profile.epsilon).any())
    return Band(Pairs(profile.epsilon, DELTAS), never_below(lower, DELTAS), profile.note, empty)


MAX_BANDS = 10**6


@final
class Poisson(Sampler):
    """Every record takes part in every step with probability q, independently of all else.

    >>> import numpy as np
    >>> Poisson().curve(0.01, 4.0, 10_000, 1e-5).epsilon.round(2)
    array([0.95])
    """

    name, title, source, phrase, note = words_of("poisson")
    adjacency = "add/remove"

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        return epsilon_bounds(Mechanism.constant(q, sigma, int(steps[-1])), steps, delta)


def banded(q: float, sigma: float, steps: int, bands: int) -> Mechanism:
    """The DP-SGD with the cost of `steps` iterations of a matrix mechanism with b = `bands` bands.

    The examples are cut into b parts. Iteration i draws a Poisson batch of part i mod b at the rate
    b q, which has q n examples on average. The noise is sigma times the largest column norm of the
    strategy matrix. Each example can only be in one of b consecutive iterations, so the whole costs
    as much as steps/b steps of DP-SGD at the rate b q. Source: Choquette-Choo et al. 2023, arXiv
    2306.08153, Theorem 1. Errors: ValueError if b q is above 1.

    >>> banded(0.01, 4.0, 1000, 8)
    Mechanism(releases=(Release(q=0.08, sigma=4.0, count=125),))
    """
    check.whole(1, MAX_BANDS, bands=bands)
    if q * bands > 1:
        raise ValueError(
            f"Expected bands={bands} to be at most 1/q = {1 / q:g}: a part must hold a batch."
        )
    return Mechanism.constant(q * bands, sigma, int(rounds_of(steps, bands)[0]))


def rounds_of(steps: ArrayLike, bands: int) -> IntArray:
    """The number of rounds of b iterations that hold (n,) numbers of iterations.

    >>> rounds_of([1, 8, 9], 8).tolist()
    [1, 1, 2]
    """
    return -(-np.atleast_1d(np.asarray(steps, dtype=np.int64)) // bands)
