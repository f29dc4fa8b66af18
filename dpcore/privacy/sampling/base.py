"""Samplers: ways of drawing batches, each with proven bounds of epsilon."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import ceil, comb, floor, inf
from typing import ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from dpcore import check
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


ADD_REMOVE = "add/remove"
ZERO_OUT = "zero-out"
REPLACE_ONE = "replace-one"

WORDS = 2**63  # a random word is uniform on 0 ... WORDS - 1
Words = Callable[[int], IntArray]  # that many new random words, independent of each other

# From n, q and random words, the step of each of n records in a round (n,), counted from 0; -1 for
# a record in none. A round is an epoch if records are in one batch of each epoch, else one step.
Draw = Callable[[int, float, Words], IntArray]


class Parameter(NamedTuple):
    """A whole number from 1 on in the id of a sampler, with the words of its field."""

    name: str
    label: str
    note: str  # its meaning, in a sentence
    start: int
    most: int
    # Of the slider: its last number, and what fewer and more mean.
    far: int
    fewer: str
    more: str

    def check(self, value: float) -> None:
        """Raise ValueError unless the number can have this value."""
        check.whole(1, self.most, **{self.name: value})


class SampledEvent(NamedTuple):
    """The event by which dp-accounting names steps on such batches."""

    name: str
    fields: tuple[str, ...]  # with the sampling rate, or with the sizes of the data and of a batch


class OtherCurve(NamedTuple):
    """A curve of another method for the same batches, to compare with the certified one."""

    title: str
    curve: Curve


class Sampler(ABC):
    """Epsilon of many Gaussian steps on batches drawn in one way.

    Subclasses are final and never change.
    """

    name: ClassVar[str]  # the id on the command line
    parameters: ClassVar[tuple[Parameter, ...]] = ()  # of its `__init__`, in order
    form: ClassVar[str] = ""  # of an id with these numbers, and what they are
    title: ClassVar[str]  # on pages
    phrase: ClassVar[str]  # the batches within a sentence
    # Regular expression for its names in texts, ignoring case; "" for none.
    spellings: ClassVar[str] = ""
    note: ClassVar[str]  # a few sentences on how a batch is drawn and what is known about it
    source: ClassVar[str]  # the paper, with arXiv id and theorem
    event: ClassVar[SampledEvent | None] = None
    draw: Draw | None = None  # the batches of a training; None if no training can have them
    # The id of the sampler that draws the same batches, if this one is for other neighbours.
    same_batches: ClassVar[str] = ""
    adjacency: str  # only epsilons of one adjacency can be compared
    # True if a step without a record is one in which its gradient is 0, so that add/remove and
    # zero-out are one adjacency.
    absent_is_zero = False
    records: int = 1  # of one person, who is present or absent
    examples: int | None = None  # in the data, if the id says it
    interval = False  # true if only two far ends are proven
    # True if a record is in one batch of each epoch, so that whole epochs count.
    by_epoch = False
    slow = False  # true if a curve may take seconds
    least_q = 0.0  # a smaller q would take minutes

    def curve(self, q: float, sigma: float, steps: ArrayLike, delta: float) -> Curve:
        """Lower and upper epsilon after each of `steps` (n,), at one delta in (0, 1).

        The steps do not decrease. `q` is the share of all records in a batch, `sigma` the noise's
        standard deviation over the clipping norm. An epoch is round(1/q) steps. Errors: ValueError.
        """
        check.delta(delta=delta)
        Release(q, sigma)  # checks both
        horizons = checked_steps(steps, MAX_STEPS)
        return self._answered(q, sigma, horizons, np.full(horizons.shape, delta))

    def profile(self, q: float, sigma: float, steps: int, deltas: ArrayLike) -> Curve:
        """Lower and upper epsilon after all steps, at each of `deltas` (n,)."""
        values = checked_deltas(deltas)
        Release(q, sigma)  # checks both
        horizons = checked_steps(np.full(values.shape, steps), MAX_STEPS)
        return self._answered(q, sigma, horizons, values)

    def _answered(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> Curve:
        """The curve; it is 0 where delta alone covers the release."""
        lower = np.zeros(steps.shape)
        upper = np.zeros(steps.shape)
        rows = np.flatnonzero((steps > 0) & (1 - delta > self._same(q, sigma, steps)))
        if rows.size == 0:
            return certified(steps, delta, lower, upper)
        counted = self._counted(q, sigma, steps[rows], np.minimum(delta[rows], MAX_DELTA))
        upper[rows] = counted.upper
        lower[rows] = np.where(delta[rows] > MAX_DELTA, 0.0, counted.lower)
        no_band = (lower[rows] == 0) | np.isinf(upper[rows])
        improvable = rows[no_band | (sigma < LITTLE_NOISE)]
        stride = max(1, improvable.size // MOST_ROWS)
        asked = improvable[::-stride]  # from the end, since later steps cost no less
        bits = self._bits(q, sigma, steps[asked], delta[asked])
        lower[asked] = np.maximum(lower[asked], bits)
        return certified(steps, delta, lower, upper, counted.note)

    def _counted(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        """The bounds of `_account`, or 0 and infinity with the reason as note."""
        if q < self.least_q:
            reason = (
                f"Nothing is counted for {self.phrase} with q below {self.least_q:g}: it would take"
                " minutes."
            )
            return _uncounted(steps, reason)
        try:
            return self._account(q, sigma, steps, delta)
        except RuntimeError as error:
            return _uncounted(steps, str(error))

    def _same(self, q: float, sigma: float, steps: IntArray) -> FloatArray:
        """A lower bound of 1 less the total variation of neighbours after each of (n,) steps.

        A record moves the sums of all rounds by the root of their number times m, its move in one
        round. Or it moves each round by m with probability q, and the mass common to every round is
        common to all.
        """
        if self.by_epoch:
            rounds = epochs_around(q, steps)[1]
            rate = 1.0
        else:
            rounds = steps
            rate = q
        moved = self.move * np.arange(self.records + 1)  # (k + 1,)
        in_one_round = chances(rate, self.records) @ (2 * ndtr(-0.5 * moved / sigma))
        in_all_rounds = 2 * ndtr(-0.5 * moved[-1] * np.sqrt(rounds) / sigma)
        return np.maximum(in_one_round**rounds, in_all_rounds) * (1 - ROUNDED)

    def _bits(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> FloatArray:
        """A lower bound from one bit of each step, (n,).

        Where a record is in one step of an epoch, it is one bit of each whole epoch. Within the
        first epoch the bit is the largest sum so far, which has the record with a chance of q for
        each step.
        """
        if not self.by_epoch:
            return counted_epsilons(self.seen(q), sigma, steps, delta)
        epochs = epochs_around(q, steps)[0]
        length = steps_of_epoch(q)
        each_step = min(q, 1 / length)  # also where the last records of an epoch are left out
        first_step = counted_epsilons(each_step, sigma, np.minimum(steps, 1), delta)
        whole_epochs = counted_epsilons(1.0, sigma, epochs, delta, length)
        found = np.maximum(first_step, whole_epochs)
        one_trial = np.ones(1, dtype=np.int64)
        for row in np.flatnonzero((epochs == 0) & (steps > 0)):
            taken = int(steps[row])
            so_far = counted_epsilons(each_step * taken, sigma, one_trial, delta[[row]], taken)
            found[row] = max(found[row], so_far[0])
        return found

    @property
    def move(self) -> float:
        """The farthest that one record moves the sum of a step, in units of C."""
        return 2.0 if self.adjacency == REPLACE_ONE else 1.0

    def log_chance_kept(self, share: float, epochs: int) -> float:
        """The logarithm of the least chance of a record to be in every epoch.

        Each epoch leaves out this share of the records. It is 0 if nobody draws them.
        """
        return 0.0

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


def _uncounted(steps: IntArray, reason: str) -> EpsilonBounds:
    return EpsilonBounds(np.zeros(steps.shape), np.full(steps.shape, inf), reason)


def chances(q: float, records: int) -> FloatArray:
    """The chances that a Poisson batch has 0, 1, .., k = `records` of k records; (k + 1,).

    >>> chances(0.5, 2)
    array([0.25, 0.5 , 0.25])
    """
    k = records
    return np.array([comb(k, j) * q**j * (1 - q) ** (k - j) for j in range(k + 1)])


def steps_of_epoch(q: float) -> int:
    """The number of steps T of an epoch, for batches with a share q of all records.

    >>> steps_of_epoch(512 / 60_000)
    117
    """
    return max(1, round(1 / q))


def certified(
    steps: IntArray, delta: FloatArray, lower: FloatArray, upper: FloatArray, reason: str = ""
) -> Curve:
    """The curve of two proven bounds.

    A lower bound also holds for more steps at the same delta, an upper bound for fewer. `reason`
    is why there is no closer bound; without one the note mentions a wide band.
    """
    lower = never_falling(lower, delta)
    backwards = never_falling(-upper[::-1], delta[::-1])
    upper = backwards[::-1] * -1
    note = reason
    if not note:
        last = steps == steps[-1]
        note = width_note(lower[last], upper[last])
    return Curve(steps, delta, upper, lower, Kind.CERTIFIED, note)


def epochs_around(q: float, steps: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers of whole epochs that end within (n,) steps, and that begin within them.

    >>> [part.tolist() for part in epochs_around(0.1, np.array([0, 5, 10, 11]))]
    [[0, 0, 1, 1], [0, 1, 1, 2]]
    """
    length = steps_of_epoch(q)
    return steps // length, -(-steps // length)


def never_falling(lower: FloatArray, delta: FloatArray) -> FloatArray:
    """Raise each of (n,) lower ends of rising steps to those before it at the same delta.

    >>> never_falling(np.array([2.0, 1.0, 0.5, 3.0]), np.array([0.1, 0.1, 0.2, 0.1])).tolist()
    [2.0, 2.0, 0.5, 3.0]
    """
    raised = lower.copy()
    for each in np.unique(delta):
        rows = delta == each
        raised[rows] = np.maximum.accumulate(lower[rows])
    return raised


def epochs_meant(q: float, steps: int) -> float:
    """The number of epochs, q T, that `steps` steps of Poisson batches stand for.

    A number of steps that was rounded up from whole epochs gives these whole epochs.

    >>> epochs_meant(0.0256, 196), epochs_meant(0.01, 250)
    (5.0, 2.5)
    """
    epochs = q * steps
    whole = floor(epochs + 1e-9)
    less_than_a_step_more = epochs - whole < q * (1 - 1e-9)
    if whole > 0 and less_than_a_step_more:
        return float(whole)
    return epochs


def steps_counted(sampler: Sampler, q: float, steps: int) -> int:
    """The steps of the same training with this sampler; its epochs are round(1/q) steps.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> [steps_counted(SAMPLERS[name], 0.0256, 196) for name in ("poisson", "shuffle")]
    [196, 195]
    """
    if not sampler.by_epoch:
        return steps
    epochs = epochs_meant(q, steps)
    length = steps_of_epoch(q)
    whole = floor(epochs)
    return whole * length + ceil((epochs - whole) * length - 1e-9)


def points_of(sampler: Sampler, q: float, steps: int) -> tuple[IntArray, FloatArray]:
    """The points of a curve over such a training: (n,) steps from 0 on, and their epochs.

    For samplers that go by epochs these are whole epochs and the end: the bounds are step
    functions.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> [each.tolist() for each in points_of(SAMPLERS["shuffle"], 0.1, 25)]
    [[0, 10, 20, 25], [0.0, 1.0, 2.0, 2.5]]
    """
    last = steps_counted(sampler, q, steps)
    if not sampler.by_epoch:
        at = _whole_numbers(last, POINTS)
        return at, at.astype(np.float64) * q
    epochs = epochs_meant(q, steps)
    completed = floor(epochs)
    whole = _whole_numbers(completed, min(completed, POINTS) + 1)
    ends = whole * steps_of_epoch(q)
    if ends[-1] == last:
        return ends, whole.astype(np.float64)
    return np.append(ends, last), np.append(whole.astype(np.float64), epochs)


def _whole_numbers(last: int, points: int) -> IntArray:
    """About `points` whole numbers, evenly from 0 to `last`."""
    return np.unique(np.linspace(0, last, points).round().astype(np.int64))


def tradeoff_band(sampler: Sampler, q: float, sigma: float, steps: int) -> Band:
    """The symmetric band after `steps` of the sampler's own steps, from its profile alone.

    The pairs of the upper ends give the curve below; the lower ends, each at the next smaller
    epsilon, give the curve above. Edge cases: without a finite upper end the band is empty, and its
    lower curve is 0. Errors: ValueError.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> band = tradeoff_band(SAMPLERS["fixed_order"], q=0.1, sigma=2.0, steps=40)
    >>> float(band.lower.beta(0.05).round(2)), float(band.upper.beta(0.05).round(2))  # G_1: 0.7405
    (0.74, 0.76)
    """
    profile = sampler.profile(q, sigma, steps, DELTAS)
    assert profile.lower is not None  # a sampler has both bounds
    empty = not bool(np.isfinite(profile.epsilon).any())
    below = Pairs(profile.epsilon, DELTAS)
    above = never_below(profile.lower, DELTAS)
    return Band(below, above, profile.note, empty)


MAX_BANDS = 10**6


def poisson_step(n: int, q: float, words: Words) -> IntArray:
    """0 for each of n records that is drawn, with probability q and independently; -1 for others.

    Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1, "take a random sample with probability
    L/N". **Guarantees:** the probability is floor(q 2^63) / 2^63, so at most q and above q - 2^-63.
    A lower rate never costs more, so the charge covers the draw. Each draw takes n words, so that a
    seed's stream never shifts.
    """
    drawn = words(n) <= int(q * WORDS) - 1
    return np.where(drawn, 0, -1)


@final
class Poisson(Sampler):
    """Every record takes part in every step with probability q, independently of all else.

    >>> import numpy as np
    >>> Poisson().curve(0.01, 4.0, 10_000, 1e-5).epsilon.round(2)
    array([0.95])
    """

    name = "poisson"
    title = "Poisson"
    source = "dpcore/privacy/certified/README.md, Theorem 1"
    phrase = "Poisson batches"
    note = (
        "Each record joins each batch with probability q, by a coin of its own. Nobody can tell"
        " which batches hold it, not even from all other batches. That is why this sampling hides"
        " so much."
    )
    event = SampledEvent("PoissonSampledDpEvent", ("sampling_probability",))
    draw = staticmethod(poisson_step)
    adjacency = ADD_REMOVE
    absent_is_zero = True

    def _account(self, q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
        return poisson_bounds(q, sigma, steps, delta)


def poisson_bounds(q: float, sigma: float, steps: IntArray, delta: FloatArray) -> EpsilonBounds:
    """Bounds after (n,) steps of Poisson batches, which do not decrease, at (n,) deltas."""
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
    rate = q * bands
    if rate > 1:
        raise ValueError(
            f"Expected bands={bands} to be at most 1/q = {1 / q:g}: a part must hold a batch."
        )
    rounds = int(rounds_of(steps, bands)[0])
    return Mechanism.constant(rate, sigma, rounds)


def rounds_of(steps: ArrayLike, bands: int) -> IntArray:
    """The number of rounds of b iterations that hold (n,) numbers of iterations.

    >>> rounds_of([1, 8, 9], 8).tolist()
    [1, 1, 2]
    """
    return -(-np.atleast_1d(np.asarray(steps, dtype=np.int64)) // bands)
