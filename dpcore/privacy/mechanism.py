"""What is released, and nothing about how: a run-length encoded sequence of sampled Gaussians."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore import check

SMALLEST_SIGMA, LARGEST_SIGMA = 1e-6, 1e9  # beyond, sigma^2 and e^(1/sigma^2) leave the floats


@dataclass(frozen=True)
class Release:
    """`count` consecutive uses of the Gaussian with noise std `sigma` times the L2 sensitivity, on Poisson(q) samples.

    Adjacency is add/remove of one record. q = 1 is the plain Gaussian mechanism.
    """

    q: float
    sigma: float
    count: int = 1

    def __post_init__(self) -> None:
        check.in_range(0, 1, ends="(]", q=self.q)
        check.in_range(1e-100, 1, q=self.q)  # below, q^2 leaves the floats
        check.positive(sigma=self.sigma)
        check.in_range(SMALLEST_SIGMA, LARGEST_SIGMA, sigma=self.sigma)
        check.whole(1, count=self.count)


@dataclass(frozen=True)
class Mechanism:
    """The releases one after another; hashable, so a safe cache key.

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
            raise ValueError("Expected releases=() to hold at least one release.")

    @classmethod
    def constant(cls, q: float, sigma: float, steps: int) -> "Mechanism":
        """The same release `steps` times."""
        check.whole(1, steps=steps)
        return cls((Release(q, sigma, steps),))

    @classmethod
    def of_sigmas(cls, q: float, sigmas: Iterable[float]) -> "Mechanism":
        """One release per noise multiplier, equal neighbours merged."""
        releases: list[Release] = []
        for sigma in sigmas:
            last = releases[-1] if releases else None
            if last and last.sigma == sigma:
                releases[-1] = Release(q, sigma, last.count + 1)
            else:
                releases.append(Release(q, float(sigma)))
        return cls(tuple(releases))

    @cached_property
    def steps(self) -> int:
        """Total number of uses T."""
        return sum(release.count for release in self.releases)

    def compositions(self, steps: ArrayLike) -> NDArray[np.int64]:
        """How often each release was used within the first `steps` steps: (n,) -> (n, L)."""
        counts = np.array([release.count for release in self.releases], dtype=np.int64)  # (L,)
        starts = np.cumsum(counts) - counts
        horizon = np.atleast_1d(np.asarray(steps, dtype=np.int64))
        return np.clip(horizon[:, None] - starts, 0, counts)

    def to_json(self) -> list[dict[str, Any]]:
        """A JSON list of {q, sigma, count}; `from_json` reads it back."""
        return [{"q": r.q, "sigma": r.sigma, "count": r.count} for r in self.releases]

    @classmethod
    def from_json(cls, releases: list[dict[str, Any]]) -> "Mechanism":
        """The mechanism that `to_json` wrote."""
        return cls(tuple(Release(r["q"], r["sigma"], r["count"]) for r in releases))
