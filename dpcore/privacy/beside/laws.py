"""Releases that are not Gaussian, each with the law of its privacy loss on a lattice.

README.md has the statements and their proofs. A law is symmetric: it is that of both neighbours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, exp, log, sqrt
from typing import ClassVar, NamedTuple, final

import numpy as np

from dpcore import check
from dpcore.privacy.mechanism import FloatArray, Mechanism
from dpcore.privacy.tradeoff import hull

MARGIN = 1e-12  # relative: above the rounding of a mass
MAX_LOSS = 100.0  # of one release: beyond, nothing useful is promised
MAX_COUNT = 10_000
TAIL = 1e-40  # mass of a discrete Gaussian that counts as certain loss
ORDERS = 1 + np.geomspace(1e-3, 1e4, 400)  # of a Renyi divergence
POINTS = 400  # of a privacy profile


class Law(NamedTuple):
    """Masses of the loss at -K, .., K times the mesh, (2 K + 1,), and of an infinite loss."""

    mass: FloatArray
    infinite: float


class Other(ABC):
    """A release, or `count` equal ones, that is not Gaussian; subclasses are final and frozen."""

    count: int

    # The honest looser way, where no dominating pair is known; "" where one is.
    looser: ClassVar[str] = ""

    def __radd__(self, steps: Mechanism) -> Pipeline:
        """Beside these steps, on the same data."""
        if isinstance(steps, Mechanism):
            return Pipeline(steps, (self,))
        return NotImplemented

    @property
    @abstractmethod
    def most(self) -> float:
        """The largest finite loss of one release."""

    @abstractmethod
    def above(self, mesh: float) -> Law:
        """The law of one release, with losses rounded up to multiples of the mesh."""

    @abstractmethod
    def below(self, mesh: float) -> Law | None:
        """The law with losses rounded down; None if the release is not known well enough."""


@final
@dataclass(frozen=True)
class Laplace(Other):
    """`count` releases of one number each with Laplace noise.

    `scale` is the scale b of the noise over the sensitivity of the number, so that one release is
    1/scale-DP, from 0.01 on. Source: Dwork, McSherry, Nissim, Smith 2006, Proposition 1; its loss
    is a clipped exponential. Errors: ValueError for a value out of its range.

    >>> Laplace(scale=2.0).most
    0.5
    """

    scale: float
    count: int = 1

    def __post_init__(self) -> None:
        check.positive(scale=self.scale)
        check.in_range(1 / MAX_LOSS, 1e9, scale=self.scale)
        check.whole(1, MAX_COUNT, count=self.count)

    @property
    def most(self) -> float:
        return 1 / self.scale

    def above(self, mesh: float) -> Law:
        places = _places(self.most, mesh)
        return Law(np.diff(self._reached(places * mesh), prepend=0.0) * (1 + MARGIN), 0.0)

    def below(self, mesh: float) -> Law:
        places = _places(self.most, mesh)
        # The mass from one place to the next stays at the lower one.
        reached = self._under(np.append(places, places[-1] + 1) * mesh)
        return Law(np.diff(reached) * (1 - MARGIN), 0.0)

    def _reached(self, loss: FloatArray) -> FloatArray:
        """The chance of a loss of at most this."""
        inner = 0.5 * np.exp(-(self.most - np.minimum(loss, self.most)) / 2)
        return np.where(loss >= self.most, 1.0, np.where(loss < -self.most, 0.0, inner))

    def _under(self, loss: FloatArray) -> FloatArray:
        """The chance of a loss below this."""
        inner = 0.5 * np.exp(-(self.most - np.minimum(loss, self.most)) / 2)
        return np.where(loss > self.most, 1.0, np.where(loss <= -self.most, 0.0, inner))


@final
@dataclass(frozen=True)
class DiscreteGaussian(Other):
    """`count` releases of one whole number each with discrete Gaussian noise.

    The number changes by at most 1 with a record, and `sigma`, from 0.2 to 1000, is the parameter
    of the noise, whose chances are in proportion to exp(-x^2 / (2 sigma^2)). Source: Canonne,
    Kamath, Steinke 2020, arXiv 2004.00010, Theorem 7. Errors: ValueError for a value out of range.

    >>> round(DiscreteGaussian(sigma=2.0).most, 1)
    7.6
    """

    sigma: float
    count: int = 1

    def __post_init__(self) -> None:
        check.positive(sigma=self.sigma)
        check.in_range(0.2, 1000, sigma=self.sigma)
        check.whole(1, MAX_COUNT, count=self.count)

    @property
    def most(self) -> float:
        return (1 + 2 * self._farthest) / (2 * self.sigma**2)

    @property
    def _farthest(self) -> int:
        """The largest |x| that is counted one by one: what lies beyond has less mass than TAIL."""
        return ceil(self.sigma * sqrt(2 * log(1 / TAIL))) + 2

    def above(self, mesh: float) -> Law:
        return Law(self._rounded(np.ceil, mesh) * (1 + MARGIN), TAIL)

    def below(self, mesh: float) -> Law:
        return Law(self._rounded(np.floor, mesh) * (1 - MARGIN), 0.0)

    def _rounded(self, towards: np.ufunc, mesh: float) -> FloatArray:
        x = np.arange(-self._farthest, self._farthest + 1)
        weight = np.exp(-(x**2) / (2 * self.sigma**2))
        loss = (1 - 2 * x) / (2 * self.sigma**2)
        middle = _places(self.most, mesh)[-1]
        mass = np.zeros(2 * middle + 1)
        np.add.at(mass, towards(loss / mesh).astype(np.int64) + middle, weight / weight.sum())
        return mass


@final
@dataclass(frozen=True)
class Guarantee(Other):
    """`count` releases of which only a bare (epsilon, delta) is known.

    Its dominating pair is randomized response that tells all with chance delta. Source: Kairouz,
    Oh, Viswanath 2015, arXiv 1311.0776, Theorem 3.4. Nothing of it is in a lower bound. Errors:
    ValueError for a value out of its range.

    >>> Guarantee(epsilon=1.0, delta=1e-6).most
    1.0
    """

    epsilon: float
    delta: float = 0.0
    count: int = 1

    def __post_init__(self) -> None:
        check.positive(epsilon=self.epsilon)
        check.in_range(0, MAX_LOSS, epsilon=self.epsilon)
        check.in_range(0, 1, ends="[)", delta=self.delta)
        check.whole(1, MAX_COUNT, count=self.count)

    @property
    def most(self) -> float:
        return self.epsilon

    def above(self, mesh: float) -> Law:
        places = _places(self.most, mesh)
        mass = np.zeros(places.size)
        highest = ceil(self.epsilon / mesh) - int(places[0])
        lowest = ceil(-self.epsilon / mesh) - int(places[0])
        mass[highest] += (1 - self.delta) / (1 + exp(-self.epsilon)) * (1 + MARGIN)
        mass[lowest] += (1 - self.delta) / (1 + exp(self.epsilon)) * (1 + MARGIN)
        return Law(mass, self.delta)

    def below(self, mesh: float) -> None:
        return None


@final
@dataclass(frozen=True)
class Concentrated(Other):
    """`count` releases of which only a bare rho of zCDP is known, from 1e-6 to 10.

    No dominating pair is known. It counts as the pairs (epsilon, delta) that its Renyi divergences
    prove, which is looser. Source: Bun, Steinke 2016, arXiv 1605.02065, Definition 1.1; converted
    by Canonne, Kamath, Steinke 2020, arXiv 2004.00010, Proposition 12. Nothing of it is in a lower
    bound. Errors: ValueError for a value out of its range.

    >>> 20 < Concentrated(rho=1.0).most < 30
    True
    """

    rho: float
    count: int = 1

    looser: ClassVar[str] = (
        "A bare rho counts as the pairs (epsilon, delta) that its Rényi divergences prove."
    )

    def __post_init__(self) -> None:
        check.in_range(1e-6, 10, rho=self.rho)
        check.whole(1, MAX_COUNT, count=self.count)

    @property
    def most(self) -> float:
        return self.rho + 2 * sqrt(self.rho * log(1 / TAIL)) + 1e-3

    def above(self, mesh: float) -> Law:
        return law_of_profile(*self._profile(), mesh, _places(self.most, mesh))

    def below(self, mesh: float) -> None:
        return None

    def _profile(self) -> tuple[FloatArray, FloatArray]:
        """Epsilons (n,), and a delta that is proven at each."""
        epsilon = np.linspace(0, self.most, POINTS)
        order = ORDERS[:, None]
        log_delta = (order - 1) * (order * self.rho - epsilon) + (order - 1) * np.log1p(-1 / order)
        log_delta = log_delta - np.log(order)
        return epsilon, np.minimum(np.exp(log_delta.min(axis=0)) * (1 + 1e-9), 1.0)


def law_of_profile(epsilon: FloatArray, delta: FloatArray, mesh: float, places: np.ndarray) -> Law:
    """The law of the pair whose privacy profile joins (n,) proven points by chords.

    H(t) of the release is convex in t = e^epsilon, 1 at t = 0, and 1 - t + t H(1/t) below t = 1, so
    that it lies below the convex hull of the points. The mass under Q at a corner is the change of
    its slope, under P that times t.
    """
    t = np.exp(epsilon)
    mirrored = 1 - 1 / t + delta / t
    x, minus = hull(np.concatenate([[0.0], 1 / t, t]), np.concatenate([[-1.0], -mirrored, -delta]))
    slope = np.diff(-minus) / np.diff(x)
    change = np.diff(slope, append=0.0)  # at x[1:], beyond the last H stays as it is
    mass = np.zeros(places.size)
    corner = np.ceil(np.log(x[1:]) / mesh + 1e-9).astype(np.int64) - places[0]
    np.add.at(mass, np.clip(corner, 0, places.size - 1), x[1:] * np.maximum(change, 0.0))
    return Law(mass * (1 + MARGIN), float(delta.min()))


def _places(most: float, mesh: float) -> np.ndarray:
    """The multiples of the mesh that hold all losses."""
    middle = ceil(most / mesh) + 1
    return np.arange(-middle, middle + 1)


@final
@dataclass(frozen=True)
class Pipeline:
    """Gaussian steps, and other releases beside them on the same data; `+` adds more of either.

    >>> whole = Mechanism.constant(q=0.01, sigma=4.0, steps=10) + Laplace(scale=2.0)
    >>> whole.mechanism.steps, whole.others
    (10, (Laplace(scale=2.0, count=1),))
    """

    mechanism: Mechanism
    others: tuple[Other, ...]

    def __add__(self, more: Mechanism | Other | Pipeline) -> Pipeline:
        if isinstance(more, Mechanism):
            return Pipeline(self.mechanism + more, self.others)
        if isinstance(more, Other):
            return Pipeline(self.mechanism, (*self.others, more))
        if isinstance(more, Pipeline):
            return Pipeline(self.mechanism + more.mechanism, self.others + more.others)
        return NotImplemented

    def __radd__(self, earlier: Mechanism) -> Pipeline:
        if isinstance(earlier, Mechanism):
            return Pipeline(earlier + self.mechanism, self.others)
        return NotImplemented
