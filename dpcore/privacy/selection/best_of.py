"""Epsilon of the best of several private runs, from the privacy profile of one.

README.md has the proof. The number K of runs is fixed and known, or drawn in secret from a law that
does not depend on the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import expm1, inf, isinf, log1p
from typing import final

import numpy as np

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.accountants.base import Accountant, Curve
from dpcore.privacy.certified.compose import TOO_LONG
from dpcore.privacy.mechanism import FloatArray, Kind, Mechanism, Reading
from dpcore.privacy.tradeoff import MAX_EPSILON, Pairs, Tradeoff, hull
from dpcore.written_number import read_number

FIXED = "fixed"
SHAPES = {"geometric": 1.0, "logarithmic": 0.0}  # of a negative binomial law without 0
OTHERS = {"negative_binomial": "shape", "binomial": "trials"}  # a number beside the mean
LAWS = (FIXED, *SHAPES, "poisson", *OTHERS)
MAY_BE_NONE = ("poisson", "binomial")  # laws under which there may be no run at all
FORMS = (
    "10 for a fixed number, or a law with its mean, such as geometric:10, logarithmic:10,"
    " poisson:10, negative_binomial:10:0.5 with its shape, or binomial:10:20 with its trials"
)
SECRET = (
    ", if nobody learns how many there were or anything of the others, and the score uses no"
    " training examples"
)
MOST_RUNS = 10**5
LEAST_SHAPE = -0.5
MOST_SHAPE = 100
MOST_TRIALS = 10**9
CELLS = 8000  # of the error rates of tests
FIRST_CELL = 1e-6  # over the square of the mean: the end of the first of them
# Of the profile; 120 smaller ones are spread evenly in logarithms.
DELTAS = np.linspace(0.01, 0.999, 60)
BELOW = 1e-3  # of delta over the mean: the smallest of these
MARGIN = 1e-9  # relative: above the rounding of every term
HIGHEST = 200.0  # epsilon: beyond, weights that underflow might matter
HALVINGS = 60
# Below this delta the certified accountant may take seconds if a record is drawn fewer than SELDOM
# times on average, so it is not asked.
FAINT = 1e-20
SELDOM = 46.0
# An upper bound for every mechanism, where the certified accountant would take too long.
COARSER = "rdp"
COARSE = "Closer bounds would take too long: the upper end is that of Renyi moments."
TOO_LARGE = (
    f"No epsilon up to {HIGHEST:g} is proven for the best of the runs, and a larger one is not"
    " counted."
)


@final
@dataclass(frozen=True)
class NumberOfRuns:
    """The law of the number of runs, of which the best is published.

    Errors: ValueError for a law, a mean or another number out of its range.

    >>> NumberOfRuns("geometric", 0.5)
    Traceback (most recent call last):
    ...
    ValueError: Expected mean=0.5 to be above 1 and at most 100,000.
    """

    law: str
    mean: float
    other: float = 0.0  # the trials of a binomial law, or the shape of a negative binomial one

    def __post_init__(self) -> None:
        check.one_of(LAWS, law=self.law)
        if self.law == FIXED:
            check.whole(1, MOST_RUNS, runs=self.mean)
            return
        check.in_range(0 if self.law in MAY_BE_NONE else 1, MOST_RUNS, ends="(]", mean=self.mean)
        if self.law == "binomial":
            check.whole(2, MOST_TRIALS, trials=self.other)
            check.in_range(0, self.other, ends="()", mean=self.mean)
        elif self.law in OTHERS:
            check.in_range(LEAST_SHAPE, MOST_SHAPE, shape=self.other)

    @property
    def text(self) -> str:
        """The law as `read_runs` reads it.

        >>> NumberOfRuns("binomial", 10, 20).text, NumberOfRuns("fixed", 10).text
        ('binomial:10:20', '10')
        """
        if self.law == FIXED:
            return _exact(self.mean)
        parts = [self.law, _exact(self.mean)]
        if self.law in OTHERS:
            parts.append(_exact(self.other))
        return ":".join(parts)

    @property
    def phrase(self) -> str:
        """The choice, within a sentence.

        >>> NumberOfRuns("fixed", 10).phrase, NumberOfRuns("poisson", 2.5).phrase
        ('the best of 10 runs', 'the best of a secret number of runs, Poisson with mean 2.5')
        """
        if self.law == FIXED and self.mean == 1:
            return "one run"
        if self.law == FIXED:
            return f"the best of {self.mean:,} runs"
        law = self.law.replace("_", " ").replace("poisson", "Poisson")
        text = f"the best of a secret number of runs, {law} with mean {_exact(self.mean)}"
        if self.law in OTHERS:
            text += f" and {OTHERS[self.law]} {_exact(self.other)}"
        return text

    @property
    def condition(self) -> str:
        """The choice that epsilon covers, in a sentence."""
        if self.law == FIXED:
            return f"Epsilon covers {self.phrase}."
        return f"Epsilon covers {self.phrase}{SECRET}."

    @property
    def some(self) -> float:
        """The chance of any run at all, without which nothing is published.

        Its relative error is some units of rounding.
        """
        if self.law == "poisson":
            return -expm1(-self.mean)
        if self.law == "binomial":
            return -expm1(self.other * log1p(-self.mean / self.other))
        return 1.0

    def weight(self, u: FloatArray) -> FloatArray:
        """F'(1 - u) / F'(1) of the generating function F(x) = E x^K, from 1 to 0.

        It is taken at (n,) chances u of a better run.
        """
        if self.law == "poisson":
            return np.exp(-self.mean * u)
        if self.law == "binomial":
            return np.exp((self.other - 1) * np.log1p(-self.mean / self.other * u))
        shape = SHAPES.get(self.law, self.other)
        return (1 + expm1(_log_inverse(self.mean, shape)) * u) ** (-1 - shape)


def _exact(value: float) -> str:
    """The number with all its digits."""
    return repr(value).removesuffix(".0")


def _log_inverse(mean: float, shape: float) -> float:
    """ln(1/gamma) of the negative binomial law without 0 that has this mean."""
    low = 0.0
    high = 50.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if shape == 0:
            mean_there = expm1(middle) / middle
        else:
            mean_there = expm1(middle) / (-expm1(-shape * middle) / shape)
        if mean_there < mean:
            low = middle
        else:
            high = middle
    return high


def read_runs(text: str) -> NumberOfRuns:
    """Read a number of runs, or its law. Errors: ValueError says how to write one.

    >>> read_runs("10").law, read_runs("binomial:10:20").other
    ('fixed', 20)
    """
    law = FIXED
    numbers = [text]
    if ":" in text:
        law, *numbers = text.strip().split(":")
    try:
        values = [_read_value(each) for each in numbers]
    except ValueError:
        values = []
    wanted = 2 if law in OTHERS else 1
    if law not in LAWS or len(values) != wanted:
        raise ValueError(f"Expected best-of={check.verbatim(text)} to be {FORMS}.")
    return NumberOfRuns(law, *values)


def _read_value(text: str) -> float:
    """Read a number, a whole one as an int."""
    value = float(read_number(text))
    if value.is_integer():
        return int(value)
    return value


def best_of(
    number: NumberOfRuns, settings: Sequence[Mechanism], accountant: Accountant, delta: float
) -> Reading:
    """Epsilon of publishing the best of the runs at one delta, by this accountant.

    A fixed number is that many runs of each setting, all of which may be published. Otherwise each
    run has one of the settings, picked at random, and only the best may be published, neither the
    others nor their number. **Guarantees:** the value is not below the exact epsilon for any score
    that is computed from a run's output. The lower bound, if the accountant has one, is that of one
    run: a score may be the same for all. A setting picked at random has none: what the pick hides
    is not counted.

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> whole = Mechanism.constant(0.01, 4.0, 10_000)
    >>> numbers = [read_runs(text) for text in ("1", "10", "geometric:10", "poisson:10")]
    >>> [round(best_of(each, [whole], ACCOUNTANTS["pld"], 1e-5).value, 2) for each in numbers]
    [0.95, 3.41, 1.47, 1.88]
    """
    if number.law == FIXED:
        return _best_of_fixed(int(number.mean), settings, accountant, delta)
    least = max(BELOW * delta / max(number.mean, 1.0), check.SMALLEST_DELTA)
    deltas = np.append(np.geomspace(least, DELTAS[0], 120)[:-1], DELTAS)
    curves = [_profile(each, deltas, accountant) for each in settings]
    dearest = np.max([curve.epsilon for curve in curves], axis=0)  # at each delta
    value = selected_epsilon(number, Pairs(dearest, deltas), delta)
    of_one = delta_of_one(number, delta)
    alone = _dearest(settings, accountant, min(of_one, 1 - MARGIN))
    lower = alone.lower
    if len(settings) > 1:
        lower = None  # a setting is picked at random
    elif lower is not None and of_one > 1 - MARGIN:
        lower = 0.0
    kind = alone.kind
    note = alone.note
    why_infinite = TOO_LARGE
    coarse = False
    for curve in reversed(curves):  # so that the first setting has the last word
        if not curve.kind.is_bound:
            kind = curve.kind
            note = curve.note
        if np.isinf(curve.epsilon).all():
            why_infinite = curve.note
        coarse = coarse or curve.note == COARSE
    if isinf(value):
        note = why_infinite
    elif coarse:
        note = COARSE
    elif value == lower:
        note = ""  # the width of one run's band is no matter here
    return Reading(value, lower, kind, note)


def _best_of_fixed(
    runs: int, settings: Sequence[Mechanism], accountant: Accountant, delta: float
) -> Reading:
    """Epsilon of that many runs of each setting, with the lower bound of one run."""
    releases = []
    for setting in settings:
        releases += [replace(each, count=each.count * runs) for each in setting.releases]
    spent = accountant.spent(Mechanism(tuple(releases)), delta)
    return replace(spent, lower=_dearest(settings, accountant, min(delta, 1 - MARGIN)).lower)


def _dearest(settings: Sequence[Mechanism], accountant: Accountant, delta: float) -> Reading:
    """Epsilon of one run with the setting that has the largest lower bound."""
    alone = [accountant.spent(each, delta) for each in settings]
    return max(alone, key=lambda each: each.lower or 0.0)


def _profile(setting: Mechanism, deltas: FloatArray, accountant: Accountant) -> Curve:
    """The profile of one run by this accountant, or by Renyi moments where the certified one has
    none.
    """
    if accountant.kind is not Kind.CERTIFIED:
        return accountant.profile(setting, deltas)
    draws = sum(each.q * each.count for each in setting.releases if each.q < 1)
    may_take_seconds = deltas[0] < FAINT and 0 < draws < SELDOM
    if not may_take_seconds:
        found = accountant.profile(setting, deltas)
        if TOO_LONG not in found.note:
            return found
    coarser = ACCOUNTANTS[COARSER].profile(setting, deltas)
    return Curve(coarser.steps, deltas, coarser.epsilon, None, Kind.CERTIFIED, COARSE)


def delta_of_one(number: NumberOfRuns, delta: float) -> float:
    """The delta, not too small, at which epsilon of one run is a lower bound for the best.

    From 1 on there is none.

    >>> delta_of_one(NumberOfRuns("fixed", 10), 1e-5)
    1e-05
    >>> round(delta_of_one(NumberOfRuns("poisson", 1e-17), 1e-18), 6)
    0.1
    >>> delta_of_one(NumberOfRuns("binomial", 1e-8, 10**9), 1e-5)
    1.0
    """
    if number.law not in MAY_BE_NONE:
        return delta
    if delta >= number.some:
        return 1.0
    return delta / number.some * (1 + MARGIN)


def selected_epsilon(number: NumberOfRuns, one: Tradeoff, delta: float) -> float:
    """Epsilon of the best of a random number of runs at this delta; infinite above HIGHEST.

    `one` is the trade-off function of one run.
    """
    share, log_ratio = shifts(number, one)

    def is_enough(epsilon: float) -> bool:
        return delta_of(share, log_ratio, number.mean, one, epsilon) <= delta

    if is_enough(0.0):
        return 0.0
    if not is_enough(HIGHEST):
        return inf
    low = 0.0
    high = HIGHEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high


def shifts(number: NumberOfRuns, one: Tradeoff) -> tuple[FloatArray, FloatArray]:
    """Shares (K,) that add up to 1, and the shift of epsilon (K,) of each: README.md, Theorem 2."""
    first = FIRST_CELL / max(number.mean, 1.0) ** 2
    u = np.append(0.0, np.geomspace(first, 1.0, CELLS))  # ends of the cells
    here = number.weight(u[:-1])
    there = number.weight(one.power(u[1:]))
    x, y = hull(np.append(-here, 0.0), np.append(-there, 0.0))
    share = np.diff(x)
    with np.errstate(divide="ignore"):
        log_ratio = np.log(np.diff(y) / share * (1 - MARGIN))
    return share, log_ratio


def delta_of(
    share: FloatArray, log_ratio: FloatArray, mean: float, one: Tradeoff, epsilon: float
) -> float:
    """Delta of the best run at one epsilon.

    It is the mean number of runs times a mixture of one run's shifted deltas.
    """
    at = np.maximum(epsilon + log_ratio, -MAX_EPSILON)
    size = np.abs(at)
    within = one.delta(size)
    below_0 = -np.expm1(-size) + np.exp(-size) * within
    each = np.where(at >= 0, within, below_0)
    return float(mean * (share @ each)) * (1 + MARGIN)
