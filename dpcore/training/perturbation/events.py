"""Events of a comparison: plain values that cross processes as JSON."""

from dataclasses import dataclass
from typing import get_args


@dataclass(frozen=True)
class Prepared:
    """The data is read and the minimiser without noise is known."""

    examples: int  # training rows n
    tests: int  # test rows
    features: int  # d, the intercept's included
    parameters: int  # p
    best_loss: float  # L*: the smallest training loss
    best_accuracy: float  # test accuracy of the minimiser
    majority: float  # share of the larger class among the test rows: the accuracy of blind guessing
    notes: tuple[str, ...] = ()  # sentences about the data and the request


@dataclass(frozen=True)
class Measured:
    """One method at one epsilon, over all seeds.

    With an obstacle, nothing proves the epsilon requested.
    """

    method: str
    epsilon: float | None  # None: the method takes none
    noise: float  # standard deviation of its noise, in the method's own unit
    accuracies: tuple[float, ...]  # on the test rows, one for each seed
    gaps: tuple[float, ...]  # L(theta) - L* on the training rows
    obstacles: tuple[str, ...] = ()  # sentences: why the method is not private here

    @property
    def private(self) -> bool:
        """True if every condition of the method's theorem holds, so that epsilon may be shown."""
        return not self.obstacles


@dataclass(frozen=True)
class Skipped:
    """One method at one epsilon could not be fitted."""

    method: str
    epsilon: float | None
    reason: str  # a sentence


@dataclass(frozen=True)
class Finished:
    """All methods are done."""

    seconds: float


Event = Prepared | Measured | Skipped | Finished
# By their names in the store.
KINDS: dict[str, type] = {kind.__name__.lower(): kind for kind in get_args(Event)}
