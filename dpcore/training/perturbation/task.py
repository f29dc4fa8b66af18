"""Public facts of a fit: noise and conditions depend on nothing else."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpcore.privacy.certified.rounding import RESERVED
from dpcore.privacy.gaussian import mu_of
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.perturbation.models import MODELS, RowModel

if TYPE_CHECKING:
    from dpcore.training.perturbation import noise

# Random numbers of one fit; a string, since the module loads torch.
Draws: TypeAlias = "noise.Stream"
# Of a sensitivity: we trust that sums of float64 err by less, README.md, section 5.
ROUNDING = 1 + 1e-9
ADJACENCY = "replace-one"
NEIGHBOURS = "neighbours differ in one replaced row"


@lru_cache(maxsize=4096)
def mu_within(epsilon: float, delta: float) -> float:
    """Return the largest mu that keeps (epsilon, delta), after a reserve of delta for noise that is
    never drawn.

    >>> round(1 / mu_within(1.0, 1e-5), 3)
    3.731
    """
    return float(mu_of(epsilon, delta * (1 - RESERVED)))


@dataclass(frozen=True)
class Task:
    """Model, sizes and settings of a fit.

    The number of examples is public, as replacing one does not change it.
    """

    model_name: str
    examples: int  # n
    features: int  # d
    delta: float
    steps: int  # T
    given_rate: float | None
    regulariser: float  # Dl
    clip_norm: float

    @cached_property
    def model(self) -> RowModel:
        return MODELS[self.model_name]

    @property
    def parameters(self) -> int:
        """Number of parameters p."""
        return self.model.parameters(self.features)

    @property
    def lipschitz(self) -> float:
        """G: largest gradient norm of one row's loss, by clipping if the model has no bound."""
        return self.clip_norm if self.model.lipschitz is None else self.model.lipschitz

    @property
    def clipping(self) -> float | None:
        """Norm to clip gradients to; None if the model bounds them."""
        return self.clip_norm if self.model.lipschitz is None else None

    @property
    def sensitivity(self) -> float:
        """Distance by which replacing one row can move the mean gradient: 2 G / n.

        The regulariser adds nothing.
        """
        return 2 * self.lipschitz / self.examples * ROUNDING

    @property
    def smoothness(self) -> float:
        """Lsm of the objective: mean loss and regulariser.

        A model without a bound gets that of a convex loss.
        """
        own = 0.25 if self.model.smoothness is None else self.model.smoothness
        return own + self.regulariser

    @property
    def most_rate(self) -> float:
        """Largest step size at which gradient descent contracts: 2 / (Lsm + Dl)."""
        return 2 / (self.smoothness + self.regulariser)

    @property
    def rate(self) -> float:
        """Step size of gradient descent."""
        return self.most_rate if self.given_rate is None else self.given_rate

    def mu(self, epsilon: float) -> float:
        """Return the largest mu at which a Gaussian mechanism keeps this epsilon and the task's
        delta.
        """
        return mu_within(epsilon, self.delta)


def released(numbers: FloatArray) -> FloatArray:
    """Round noisy numbers to float32 for release: last digits of float64 may tell sums apart."""
    return numbers.astype(np.float32).astype(np.float64)
