"""What a comparison says while it goes: plain values that cross processes as JSON."""

from dataclasses import dataclass
from typing import get_args


@dataclass(frozen=True)
class Prepared:
    """The data is read and the minimiser without noise is known."""

    examples: int  # rows to learn from, n
    tests: int
    features: int  # d, the intercept's among them
    parameters: int  # p
    best_loss: float  # L*: the smallest loss on the rows to learn from
    best_accuracy: float  # on the tests, of the parameters that have it
    majority: float  # share of the larger class among the tests: what blind guessing reaches
    notes: tuple[str, ...] = ()  # sentences about the data and the request


@dataclass(frozen=True)
class Measured:
    """One method at one epsilon, over all seeds. Where there is an obstacle, epsilon is asked for and not kept."""

    method: str
    epsilon: float | None  # None: the method takes none
    noise: float  # standard deviation of its noise, in the method's own unit
    accuracies: tuple[float, ...]  # on the tests, one for each seed
    gaps: tuple[float, ...]  # L(theta) - L* on the rows to learn from
    obstacles: tuple[str, ...] = ()  # sentences: why the method is not private here

    @property
    def private(self) -> bool:
        """Whether epsilon may be shown: every condition of the method's theorem holds."""
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
KINDS: dict[str, type] = {kind.__name__.lower(): kind for kind in get_args(Event)}  # by their names in the store
