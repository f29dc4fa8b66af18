"""Mechanisms, which are sequences of sampled Gaussian releases, and kinds of arrays and numbers."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore import check
from dpcore.privacy.ends import safe_pair
from dpcore.privacy.safe_text import outward

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only copy; the given array stays writeable.

    >>> given = np.zeros(2)
    >>> read_only(given).flags.writeable, given.flags.writeable
    (False, True)
    """
    copy = array.copy()
    copy.setflags(write=False)
    return copy


class Kind(StrEnum):
    """The trust that an epsilon deserves."""

    UPPER = "upper"  # a proven upper bound
    CERTIFIED = "certified"  # proven lower and upper bounds around the exact value
    APPROXIMATE = "approximate"  # no bound: may err on either side
    CLAIMED = "claimed"  # a formula whose proof does not cover this case

    @property
    def is_bound(self) -> bool:
        """True for a number that is proven never to be too small."""
        return self in (Kind.UPPER, Kind.CERTIFIED)


WORDS = {
    Kind.UPPER: "proven upper bound",
    Kind.CERTIFIED: "proven from both sides",
    Kind.APPROXIMATE: "approximation, no bound",
    Kind.CLAIMED: "claimed: the proof does not cover this case",
}


@dataclass(frozen=True)
class Reading:
    """One number with its kind, and its proven lower bound if there is one.

    As a float it is its safe side: the upper end of a bound of a cost, such as epsilon, and the
    lower end of a bound of a protection (`larger_is_safer`), such as beta. As text it says its
    kind. Bounds that cross are not kept. Source: docs/methods.md has the meaning of each kind.

    >>> from dpcore.privacy.mechanism import Kind
    >>> spent = Reading(0.9486, 0.9461, Kind.CERTIFIED)
    >>> float(spent), print(spent)
    0.946 to 0.949 (proven from both sides)
    (0.9486, None)
    >>> crossing = Reading(1.0, 2.0, Kind.CERTIFIED)
    >>> crossing.lower, crossing.value, crossing.note
    (0.0, inf, 'The two bounds cross, so that one of them is wrong: neither is given.')
    """

    value: float  # never too small if the kind is a bound; infinite if there is no number
    lower: float | None
    kind: Kind
    note: str = ""  # the reason why it is infinite or cannot be trusted
    larger_is_safer: bool = False  # true for an error of attackers, false for a cost

    def __post_init__(self) -> None:
        if self.lower is None:
            return
        lower, value, note = safe_pair(self.lower, self.value, self.note)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "note", note)

    def __float__(self) -> float:
        if self.larger_is_safer and self.kind.is_bound:
            return self.lower or 0.0
        return self.value

    def __str__(self) -> str:
        most = outward(self.value, math.ceil)
        least = outward(self.lower or 0.0, math.floor)
        if math.isinf(self.value):
            return f"{_at_least(least)} {self.note}".rstrip()
        if not self.kind.is_bound:
            return f"{self.value:.3g} ({WORDS[self.kind]})"
        if self.kind is Kind.CERTIFIED:
            return f"{least} to {most} ({WORDS[self.kind]})"
        if self.larger_is_safer:
            return f"at least {least} (proven lower bound)"
        return f"at most {most} ({WORDS[self.kind]})"


def _at_least(least: str) -> str:
    """Say a number that has no upper end."""
    return "no number." if least == "0" else f"at least {least}, proven."


MIN_Q = 1e-100  # below, q^2 underflows
MIN_SIGMA = 1e-6  # beyond these two, sigma^2 or e^(1/sigma^2) is no float
MAX_SIGMA = 1e9


@dataclass(frozen=True)
class Release:
    """`count` uses of the Gaussian mechanism on Poisson(q) samples.

    `q` is the chance of each record to be in a batch, in (0, 1]. `sigma` is the noise multiplier:
    the standard deviation of the noise over the L2 sensitivity, from 1e-6 to 1e9. Adjacency is
    add/remove of one record. q = 1 is the plain Gaussian mechanism. q is taken as public: both
    neighbours share it. Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1. Errors:
    ValueError for a value out of its range.

    >>> Release(q=0.01, sigma=4.0, count=3)
    Release(q=0.01, sigma=4.0, count=3)
    >>> Release(q=0.01, sigma=0)
    Traceback (most recent call last):
    ...
    ValueError: Expected sigma=0 to be above 0.
    """

    q: float
    sigma: float
    count: int = 1

    def __post_init__(self) -> None:
        check.in_range(0, 1, ends="(]", q=self.q)
        check.in_range(MIN_Q, 1, q=self.q)
        check.positive(sigma=self.sigma)
        check.in_range(MIN_SIGMA, MAX_SIGMA, sigma=self.sigma)
        check.whole(1, count=self.count)


@dataclass(frozen=True)
class Mechanism:
    """A sequence of releases; hashable, so a safe cache key.

    `steps` is the number T of all uses. `+` composes two phases on the same data, one after the
    other: all releases are counted together. Source: Dong, Roth, Su 2019, arXiv 1905.02383,
    section 3 (composition). Errors: ValueError without a release.

    >>> Mechanism.constant(q=0.01, sigma=4.0, steps=9) + Mechanism.constant(0.02, 2.0, 1)
    Mechanism(releases=(Release(q=0.01, sigma=4.0, count=9), Release(q=0.02, sigma=2.0, count=1)))
    >>> Mechanism.constant(q=0.01, sigma=4.0, steps=10_000).steps
    10000
    >>> Mechanism((Release(0.1, 2.0, 3), Release(0.1, 1.0, 2))).compositions([0, 2, 5])
    array([[0, 0],
           [2, 0],
           [3, 2]])
    """

    releases: tuple[Release, ...]

    def __post_init__(self) -> None:
        if not self.releases:
            raise ValueError("A mechanism needs at least one release; releases=() is empty.")

    @classmethod
    def constant(cls, q: float, sigma: float, steps: int) -> "Mechanism":
        """Repeat one release `steps` times."""
        check.whole(1, steps=steps)
        return cls((Release(q, sigma, steps),))

    def __add__(self, later: "Mechanism") -> "Mechanism":
        """Compose with a later phase; equal steps that meet become one release."""
        if not isinstance(later, Mechanism):
            return NotImplemented
        last = self.releases[-1]
        first = later.releases[0]
        if (last.q, last.sigma) != (first.q, first.sigma):
            return Mechanism(self.releases + later.releases)
        joined = replace(last, count=last.count + first.count)
        return Mechanism((*self.releases[:-1], joined, *later.releases[1:]))

    @cached_property
    def steps(self) -> int:
        """Total number of uses T."""
        return sum(release.count for release in self.releases)

    @property
    def least_sigma(self) -> float:
        """The smallest sigma of any release."""
        return min(release.sigma for release in self.releases)

    def compositions(self, steps: ArrayLike) -> NDArray[np.int64]:
        """Count the uses of each release within the first `steps` steps: (n,) -> (n, L)."""
        counts = np.array([release.count for release in self.releases], dtype=np.int64)  # (L,)
        starts = np.cumsum(counts) - counts
        horizon = np.atleast_1d(np.asarray(steps, dtype=np.int64))
        return np.clip(horizon[:, None] - starts, 0, counts)


def horizons(steps: int, points: int) -> NDArray[np.int64]:
    """Up to `points` evenly spaced numbers of steps that end at `steps`.

    >>> horizons(10, 4).tolist()
    [3, 5, 8, 10]
    """
    count = min(points, steps)
    return np.array([-(-steps * point // count) for point in range(1, count + 1)], dtype=np.int64)
