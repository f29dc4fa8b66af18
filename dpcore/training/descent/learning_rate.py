"""Learning rates over a run. They depend on nothing but the step, so they cost no privacy."""

import math
from collections.abc import Callable
from dataclasses import dataclass

LR_SCHEDULES: dict[str, Callable[[float], float]] = {  # name -> how much of the way down is left, of the part done
    "constant": lambda done: 1.0,
    # Abadi et al. 2016, arXiv 1607.00133, section 5.2: 0.1 to 0.052 over 10 epochs
    "linear": lambda done: 1.0 - done,
    # Loshchilov and Hutter 2017, arXiv 1608.03983
    "cosine": lambda done: (1.0 + math.cos(math.pi * done)) / 2,
}


@dataclass(frozen=True)
class LearningRate:
    """From `start` to `end` within so many steps by a schedule, and `end` from then on; "constant" stays at `start`.

    >>> LearningRate("linear", 1.0, 0.5, steps=100).at(51)
    0.75
    """

    schedule: str
    start: float
    end: float
    steps: float

    def at(self, step: int) -> float:
        """The learning rate of a step, from 1."""
        left = LR_SCHEDULES[self.schedule](min(1.0, (step - 1) / self.steps))
        return self.end + (self.start - self.end) * left
