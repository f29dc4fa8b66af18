"""Events of an audit: plain values that cross processes as JSON."""

from dataclasses import dataclass
from typing import get_args


@dataclass(frozen=True)
class Prepared:
    """The run has its data, its canaries and its model."""

    examples: int  # training examples n, canaries among them
    steps: int  # T
    q: float
    parameters: int  # d
    canaries: int  # m
    inside: int  # canaries in the data
    device: str
    # (q, sigma, count) of the charge before the first step.
    claimed: tuple[tuple[float, float, int], ...]
    delta: float
    unaccounted: str = ""  # a sentence if nothing is charged


@dataclass(frozen=True)
class Watched:
    """The progress of the training and of the audit's measurements."""

    step: int
    steps: int
    # Root mean square of the noise over the noise claimed, times sigma; None without noise.
    sigma: float | None
    alone: float | None = None  # the longest part of one example in a sum, in units of C
    # The longest move of a release by leaving one example out, in units of C.
    moved: float | None = None
    # Logs to base 10: all against the noise, of too little noise, of repeated noise.
    evidence: tuple[float, ...] = ()
    caught: str = ""  # a sentence once all evidence has reached its line


@dataclass(frozen=True)
class Stopped:
    """Training failed early; the audit judges the steps before."""

    step: int
    reason: str  # a sentence


@dataclass(frozen=True)
class Measured:
    """The outcome of one test."""

    audit: str  # the name of the test
    title: str
    tests: str  # the assumption
    untested: str  # assumptions that may be false although the test passes
    shows: str  # a sentence: the measurement, or the reason why there is none
    p_value: float | None
    # Lower bound at the confidence, on its own; None for none and for an infinite one.
    epsilon: float | None
    unbounded: bool  # no finite epsilon holds
    evidence: str  # of epsilon: a name of `Evidence`
    figures: tuple[tuple[str, float], ...] = ()  # measurements by names


@dataclass(frozen=True)
class Counted:
    """The reach of torch's float32 normal numbers on a CPU."""

    draws: int
    largest: float  # by size
    expected_beyond: float  # normal numbers expected to be larger, among as many


@dataclass(frozen=True)
class Scored:
    """The canaries' scores: log-likelihood ratios, in against out, summed over the steps."""

    inside: tuple[float, ...]
    outside: tuple[float, ...]


@dataclass(frozen=True)
class Traced:
    """The ROC curve of a test's scores, with a band that holds the true curve at the confidence."""

    audit: str
    false_positives: tuple[float, ...]  # rising
    true_positives: tuple[float, ...]  # of the scores seen
    above: tuple[float, ...]  # lower bound of the true curve
    below: tuple[float, ...]  # upper bound
    area: float  # under the curve seen
    scores: tuple[int, int]  # their numbers, in and out


@dataclass(frozen=True)
class Judged:
    """The verdict of all tests together."""

    failed: tuple[str, ...]  # the tests that reject the claim
    # Of the tests that have one, corrected for their number.
    p_values: tuple[tuple[str, float], ...]
    claimed_lower: float | None  # certified bounds of the claimed epsilon; None without a claim
    claimed_upper: float | None


@dataclass(frozen=True)
class Finished:
    """The audit is over."""

    steps: int  # watched
    seconds: float


Event = Prepared | Watched | Stopped | Measured | Counted | Scored | Traced | Judged | Finished
# By their names in the store.
KINDS: dict[str, type] = {kind.__name__.lower(): kind for kind in get_args(Event)}
