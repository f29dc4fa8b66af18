"""What a calibration aims at: an epsilon at a delta, an attacker's advantage, or a mu; and how much of it is spent."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, final

from dpcore import check
from dpcore.privacy.accountants.base import Accountant, Kind
from dpcore.privacy.mechanism import Mechanism


class Reading(NamedTuple):
    """What a mechanism spends of a target: a number, with its proven lower bound if it is certified."""

    value: float  # never too small where the kind is upper or certified
    lower: float | None
    kind: Kind
    note: str = ""


class Target(ABC):
    """A budget; subclasses are final and frozen."""

    @property
    @abstractmethod
    def word(self) -> str:
        """What is bounded: epsilon, advantage or mu."""

    @property
    @abstractmethod
    def size(self) -> float:
        """The number that must not be exceeded."""

    @abstractmethod
    def reading(self, accountant: Accountant, mechanism: Mechanism) -> Reading:
        """What the whole mechanism spends, by this accountant."""

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
    ValueError: Expected epsilon=0.0 to be finite and above 0.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check.positive(epsilon=self.epsilon)
        check.in_range(0, 1, ends="()", delta=self.delta)

    @property
    def word(self) -> str:
        return "epsilon"

    @property
    def size(self) -> float:
        return self.epsilon

    def reading(self, accountant: Accountant, mechanism: Mechanism) -> Reading:
        curve = accountant.curve(mechanism, mechanism.steps, self.delta)
        lower = None if curve.lower is None else float(curve.lower[0])
        return Reading(float(curve.epsilon[0]), lower, curve.kind, curve.note)
