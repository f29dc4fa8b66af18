"""Gradient canaries: examples with a chosen gradient, put in or out of the data by the flip of a
coin.

They replace the first m training examples, so they are sampled, clipped, counted and charged like
these. Each gradient is longer than C and lies along its own coordinate of the parameters, so no
canary hides another. A canary that is out contributes nothing, as if it were absent.

Source: gradient canaries, Nasr et al. 2023, arXiv 2302.07956; many in one run, Steinke, Nasr,
Jagielski 2023, arXiv 2305.08846.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpcore.audit.bounds.finding import Flags
from dpcore.audit.bounds.score_laws import step_score
from dpcore.audit.broken_trainers import Wrapper
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.gradients.clipped_sum import ClippedSum
from dpcore.training.gradients.clipping import Clipping

LENGTH = 10.0  # of a canary's gradient, in units of C
MAX_SCORES_OUT = 20_000  # of single steps, for canaries outside the batch


@dataclass(frozen=True, eq=False)
class Canaries:
    inside: Flags  # (m,) membership in the data
    coordinates: Tensor  # (m,) of their gradients
    length: float  # of their gradients before clipping

    def __len__(self) -> int:
        return len(self.inside)


def flip_coins(
    count: int, parameters: Tensor, clip_norm: float, rng: np.random.Generator
) -> Canaries:
    """Make canaries for parameters (d,), each in with probability one half.

    Errors: ValueError for more than d.
    """
    if count > len(parameters):
        raise ValueError(
            f"Expected canaries={count} to be at most {len(parameters)}, the number of parameters."
        )
    chosen = np.sort(rng.choice(len(parameters), count, replace=False))
    coordinates = torch.as_tensor(chosen, device=parameters.device)
    return Canaries(rng.random(count) < 0.5, coordinates, LENGTH * clip_norm)


class WithCanaries(Wrapper):
    """An engine that gives canaries, examples whose labels are no class, their chosen gradients."""

    def __init__(self, engine: Any, canaries: Canaries, classes: int) -> None:
        super().__init__(engine)
        self._canaries = canaries
        self._classes = classes
        # The others' last sum in these coordinates.
        self.others = engine.parameters.new_zeros(len(canaries))

    def clipped_sum(
        self, x: Tensor, y: Tensor, clipping: Clipping, inverse: Tensor | None = None, *others: Any
    ) -> ClippedSum:
        """Return the engine's sum over examples plus the canaries' clipped gradients; norms are of
        examples alone.
        """
        is_canary = y >= self._classes
        found = self._part.clipped_sum(x[~is_canary], y[~is_canary], clipping, inverse, *others)
        self.others = found.total[self._canaries.coordinates]
        at = self._canaries.coordinates[y[is_canary] - self._classes]
        # In one group of parameters.
        squares = torch.full((1, len(at)), self._canaries.length**2, device=x.device)
        if inverse is not None:
            squares *= inverse[at]
        factors = clipping.factors(squares)
        found.shares[0].index_add_(0, at, self._canaries.length * factors[0])
        return found


class CanaryScores:
    """Scores of each canary, summed by `step_score` over the steps of a run.

    A step shows s, the release's coordinate less the other examples' part, in units of C D:
    Normal(b, sigma^2), where b is 1 if the canary was in the batch. README.md says why the attacker
    may know the others' part.
    """

    def __init__(self, count: int, steps: int) -> None:
        self.sums = np.zeros(count)  # (m,)
        self._kept = max(1, MAX_SCORES_OUT // steps)  # of the canaries outside each batch
        self._sampled: list[FloatArray] = []
        self._others: list[FloatArray] = []

    def add(self, projections: FloatArray, sampled: Flags, q: float, sigma: float) -> None:
        """Take in a step's s and its batch's canaries, both (m,)."""
        self.sums += step_score(projections, q, sigma)
        self._sampled.append(projections[sampled] / sigma)
        self._others.append(projections[~sampled][: self._kept] / sigma)

    @property
    def of_steps(self) -> tuple[FloatArray, FloatArray]:
        """Return s / sigma of canaries in the batch, and of some outside it."""
        none = np.zeros(0)
        return np.concatenate([none, *self._sampled]), np.concatenate([none, *self._others])
