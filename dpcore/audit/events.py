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
    inside: int  # of them that are in the data
    device: str
    claimed: tuple[tuple[float, float, int], ...]  # (q, sigma, count) of what is charged before it began; maybe none
    delta: float
    unaccounted: str = ""  # why nothing is charged, as a sentence


@dataclass(frozen=True)
class Watched:
    """The progress of the training, and what has been seen so far."""

    step: int
    steps: int
    sigma: float | None  # root mean square of the noise over that claimed, times sigma; None without noise
    alone: float | None = None  # the longest part of one example in a sum, in units of C
    moved: float | None = None  # how far leaving one example out has moved a release, at most, in units of C


@dataclass(frozen=True)
class Stopped:
    """Training failed before its last step; the audit goes on with what it has seen."""

    step: int
    reason: str  # a sentence


@dataclass(frozen=True)
class Measured:
    """The outcome of one audit."""

    audit: str
    title: str
    tests: str  # the assumption that it tests
    untested: str  # what may be false although it finds nothing
    shows: str  # a sentence: what was measured, or why nothing could be
    p_value: float | None
    epsilon: float | None  # lower bound at the confidence, on its own; None where there is none or no finite one
    unbounded: bool  # whether that is because no finite epsilon holds
    evidence: str  # what kind of number epsilon is: a bound, one under a condition, or an estimate
    figures: tuple[tuple[str, float], ...] = ()  # what it measured, by names


@dataclass(frozen=True)
class Counted:
    """The reach of torch's float32 normal numbers of a CPU, beside those of the trainer."""

    draws: int
    largest: float  # by size
    expected_beyond: float  # how many of as many normal numbers would be larger


@dataclass(frozen=True)
class Scored:
    """The canaries' scores: log-likelihood ratios, in against out, summed over the steps."""

    inside: tuple[float, ...]
    outside: tuple[float, ...]


@dataclass(frozen=True)
class Traced:
    """The ROC curve of an audit's scores, with the band that holds the true curve at the confidence."""

    audit: str
    false_positives: tuple[float, ...]  # rising
    true_positives: tuple[float, ...]  # of the scores that were seen
    above: tuple[float, ...]  # lower bound of the true curve
    below: tuple[float, ...]  # upper bound
    area: float  # under the curve that was seen
    scores: tuple[int, int]  # how many, in and out


@dataclass(frozen=True)
class Judged:
    """All audits together, each at its part of the confidence."""

    failed: tuple[str, ...]  # the audits that reject what is claimed
    p_values: tuple[tuple[str, float], ...]  # of each audit that has one, corrected for their number
    claimed_lower: float | None  # certified epsilon of the claim, both bounds; None where there is none
    claimed_upper: float | None


@dataclass(frozen=True)
class Finished:
    """The audit is over."""

    steps: int  # that were watched
    seconds: float


Event = Prepared | Watched | Stopped | Measured | Counted | Scored | Traced | Judged | Finished
KINDS: dict[str, type] = {kind.__name__.lower(): kind for kind in get_args(Event)}  # by their names in the store
