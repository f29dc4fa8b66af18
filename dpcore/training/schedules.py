"""The learning rate, the acceptance of proposals and the average of the weights; none of them costs
privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

# Name -> part of the fall that remains, from the part done.
LR_SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda done: 1.0,
    # Abadi et al. 2016, arXiv 1607.00133, section 5.2: 0.1 to 0.052 over 10 epochs
    "linear": lambda done: 1.0 - done,
    # Loshchilov and Hutter 2017, arXiv 1608.03983
    "cosine": lambda done: (1.0 + math.cos(math.pi * done)) / 2,
}


@dataclass(frozen=True)
class LearningRate:
    """A learning rate that falls from `start` to `end` within `steps` steps; "constant" stays at
    `start`.

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


ACCEPTANCES = {  # rule for proposals -> one line on it
    "none": "Every step is taken.",
    "sa": (
        "SA-DPSGD judges proposals on held-out public examples. Charges every proposal, rejected"
        " ones too."
    ),
}


class Annealing:
    """The accept or reject test and its state.

    Each noisy step is a proposal. It is accepted with probability exp(-dE Q) if a loss J rises by
    dE, always if J falls, and always after mu0 rejections in a row. Q = Q0 tau rises with the
    number tau of accepted steps. A rejected proposal leaves weights and optimizer state as they
    were.

    Source: paper 001 (SA-DPSGD), Algorithm 1, in a sound reading. **Guarantees:** J is the loss on
    held-out public data, disjoint from training and test data, and the random numbers are its own.
    So the decision is post-processing of releases, and every proposal is charged. The paper takes J
    from the test loss and charges accepted steps only. The law of an accepted proposal depends on
    the data through the rejected ones, so that count proves nothing. In the paper Q is 0 while tau
    = 0 and accepts anything; here Q is Q0 until the first acceptance.
    """

    def __init__(self, q0: float, mu0: int, generator: np.random.Generator) -> None:
        self.accepted = 0  # tau
        self.rejected_in_a_row = 0  # mu
        self._q0 = q0
        self._mu0 = mu0
        self.generator = generator

    def accepts(self, before: float, after: float) -> bool:
        """Decide by one draw on a move of the public loss from `before` to `after`."""
        chance = acceptance_chance(after - before, self._q0 * max(1, self.accepted))
        lucky = self.generator.random() < chance
        accepted = lucky or self.rejected_in_a_row >= self._mu0
        self.accepted += accepted
        self.rejected_in_a_row = 0 if accepted else self.rejected_in_a_row + 1
        return accepted


def acceptance_chance(rise: float, q: float) -> float:
    """min(1, exp(-rise Q)); 0 if the loss is not finite.

    >>> acceptance_chance(-1.0, 10.0), round(acceptance_chance(0.1, 10.0), 4)
    (1.0, 0.3679)
    >>> acceptance_chance(math.inf, 10.0)
    0.0
    """
    if not math.isfinite(rise):
        return 0.0
    return 1.0 if rise <= 0 else math.exp(-rise * q)


class WeightAverage:
    """The average sum of d^(t-s) w_s over s <= t, over the sum of the d^(t-s), without a bias to
    the first weights.

    Source: Polyak and Juditsky 1992; for private training De et al. 2022, arXiv 2204.13650, section
    3.
    """

    def __init__(self, parameters: Tensor, decay: float) -> None:
        self.vector = parameters.clone()  # (d,)
        self.count = 0
        self._decay = decay

    def add(self, parameters: Tensor) -> None:
        """Add the weights (d,) after one more step."""
        self.count += 1
        self.vector.lerp_(parameters, (1 - self._decay) / (1 - self._decay**self.count))
