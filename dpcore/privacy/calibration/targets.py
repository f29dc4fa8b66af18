"""Targets of a calibration: an epsilon at a delta, an attacker's advantage or errors, or a mu."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import ClassVar, final

from scipy.special import ndtri

from dpcore import check
from dpcore.privacy.accountants import Accountant, TradeoffCurve
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import advantage, mu_above
from dpcore.privacy.selection.best_of import FIXED, NumberOfRuns, best_of
from dpcore.privacy.tradeoff import Tradeoff

ALL_PAIRS_FROM = 1e-9  # the smallest delta that can matter to an advantage


@dataclass(frozen=True)
class Target(ABC):
    """A budget; subclasses are final and frozen."""

    # The bounded quantity, and the field of the bound: epsilon, advantage, power or mu.
    word: ClassVar[str]
    # Released before, and counted in the same product; None for nothing.
    before: Mechanism | None = field(default=None, kw_only=True)

    @property
    def size(self) -> float:
        """The bound."""
        return getattr(self, self.word)

    @property
    def at(self) -> float | None:
        """The delta of the bound, if any."""
        return getattr(self, "delta", None)

    @property
    def way_out(self) -> str:
        """The advice for a target out of reach."""
        return f"raise {self.word}"

    @abstractmethod
    def spent_by(self, accountant: Accountant, mechanism: Mechanism) -> Reading:
        """The quantity after the whole mechanism, and after what was before, by this accountant."""

    def spent_before(self, accountant: Accountant) -> Reading:
        """The quantity after what was released before, which must be something."""
        assert self.before is not None
        return replace(self, before=None).spent_by(accountant, self.before)

    def after(self, mechanism: Mechanism) -> Mechanism:
        """What was released before, and then the mechanism."""
        return mechanism if self.before is None else self.before + mechanism

    def __str__(self) -> str:
        return f"{self.word}={self.size:g}"


@final
@dataclass(frozen=True)
class EpsilonTarget(Target):
    """At most this epsilon at this delta; epsilon finite and above 0, delta in (0, 1).

    >>> print(EpsilonTarget(3.0, 1e-5))
    epsilon=3
    >>> EpsilonTarget(0.0, 1e-5)
    Traceback (most recent call last):
    ...
    ValueError: Expected epsilon=0.0 to be above 0.
    """

    word: ClassVar[str] = "epsilon"
    epsilon: float
    delta: float
    runs: NumberOfRuns | None = None  # of which the best is published

    def __post_init__(self) -> None:
        check.positive(epsilon=self.epsilon)
        check.delta(delta=self.delta)
        if self.before is not None and self.runs is not None and self.runs.law != FIXED:
            raise ValueError(
                f"Expected best-of={self.runs.text} to be a fixed number of runs beside an earlier"
                " release: nothing is proven here for a secret number after another stage."
            )

    def spent_by(self, accountant: Accountant, mechanism: Mechanism) -> Reading:
        if self.runs is None:
            return accountant.spent(self.after(mechanism), self.delta)
        if self.before is None:
            return best_of(self.runs, [mechanism], accountant, self.delta)
        # Every run is counted, the earlier release once; the best may be the first of them.
        count = int(self.runs.mean)
        runs = [replace(each, count=each.count * count) for each in mechanism.releases]
        whole = accountant.spent(self.after(Mechanism(tuple(runs))), self.delta)
        return replace(whole, lower=accountant.spent(self.after(mechanism), self.delta).lower)


@final
@dataclass(frozen=True)
class AdvantageTarget(Target):
    """At most this advantage, in (0, 1): largest true-positive less false-positive rate.

    It is delta(0) of the whole mechanism, the total variation distance. The reading is infinite,
    not 1, if an accountant promises nothing.

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> whole = Mechanism.constant(1.0, 2.0, 4)  # exactly 1-GDP: 2 Phi(1/2) - 1
    >>> round(AdvantageTarget(0.1).spent_by(ACCOUNTANTS["pld"], whole).value, 2)
    0.38
    """

    word: ClassVar[str] = "advantage"
    advantage: float

    def __post_init__(self) -> None:
        check.in_range(0, 1, ends="()", advantage=self.advantage)

    def spent_by(self, accountant: Accountant, mechanism: Mechanism) -> Reading:
        found = accountant.tradeoff(self.after(mechanism), ALL_PAIRS_FROM)
        return _reading(found, advantage)


@final
@dataclass(frozen=True)
class ErrorTarget(Target):
    """At most this power, in (0, 1), at the type I error alpha, in (0, 1): 1 less the error beta.

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> whole = Mechanism.constant(1.0, 2.0, 4)  # exactly 1-GDP: beta(0.05) = 0.7405
    >>> round(ErrorTarget(0.3, alpha=0.05).spent_by(ACCOUNTANTS["pld"], whole).value, 4)
    0.2595
    """

    word: ClassVar[str] = "power"
    power: float
    alpha: float

    def __post_init__(self) -> None:
        check.in_range(0, 1, ends="()", alpha=self.alpha)
        check.in_range(0, 1, ends="()", beta=1 - self.power)
        if self.power <= self.alpha:
            raise ValueError(
                f"Expected beta={1 - self.power:g} to be below 1 - alpha = {1 - self.alpha:g}, the"
                " error of blind guessing."
            )

    @property
    def way_out(self) -> str:
        return "lower beta"

    def spent_by(self, accountant: Accountant, mechanism: Mechanism) -> Reading:
        found = accountant.tradeoff(self.after(mechanism), ALL_PAIRS_FROM)
        return _reading(found, lambda f: float(f.power(self.alpha)))

    def __str__(self) -> str:
        return f"beta={1 - self.power:g} at alpha={self.alpha:g}"


@final
@dataclass(frozen=True)
class MuTarget(Target):
    """At most this mu, above 0: f >= G_mu wherever both errors are at least delta, in (0, 1).

    >>> from dpcore.privacy.accountants import ACCOUNTANTS
    >>> whole = Mechanism.constant(1.0, 2.0, 4)  # exactly 1-GDP
    >>> round(MuTarget(1.0, 1e-5).spent_by(ACCOUNTANTS["pld"], whole).value, 2)
    1.0
    """

    word: ClassVar[str] = "mu"
    mu: float
    delta: float

    def __post_init__(self) -> None:
        check.positive(mu=self.mu)
        check.delta(delta=self.delta)
        most = -2 * float(ndtri(self.delta))
        if self.mu >= most:
            raise ValueError(
                f"Expected mu={self.mu!r} to be below {most:.3g}, "
                f"the most that errors of at least delta={self.delta:g} show."
            )

    def spent_by(self, accountant: Accountant, mechanism: Mechanism) -> Reading:
        least = max(self.delta * 1e-4, check.SMALLEST_DELTA)
        found = accountant.tradeoff(self.after(mechanism), least)
        return _reading(found, partial(mu_above, least=self.delta))


def _reading(found: TradeoffCurve, number: Callable[[Tradeoff], float]) -> Reading:
    """A number of the curve to show, infinite without one, with its proven lower bound."""
    lower = None
    if found.upper is not None:
        lower = number(found.upper)
    upper = inf
    if found.lower is not None:
        upper = number(found.lower)
    return Reading(upper, lower, found.kind, found.note)


def target_of(
    sizes: Mapping[str, float | None],
    delta: float | None,
    runs: NumberOfRuns | None = None,
    said: Callable[[str], str] = str,
) -> Target:
    """The one target that has a size, by its word; an epsilon and a mu need a delta.

    `said` writes names in errors.

    >>> print(target_of({"epsilon": 3.0, "advantage": None, "mu": None}, 1e-5))
    epsilon=3
    """
    given = {word: size for word, size in sizes.items() if size is not None}
    if len(given) != 1:
        every = ", ".join([said(f"target_{word}") for word in sizes])
        found = " and ".join([said(f"target_{word}") for word in given]) or "none"
        raise ValueError(f"Give exactly one of {every}, but found {found}.")
    word, size = given.popitem()
    if word == "advantage":
        return AdvantageTarget(size)
    if delta is None:
        raise ValueError(f"Give {said('delta')}, for example 1e-5, with {said(f'target_{word}')}.")
    if word == "mu":
        return MuTarget(size, delta)
    return EpsilonTarget(size, delta, runs)
