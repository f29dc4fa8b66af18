"""What is public of a fit, and all that noise and conditions may depend on."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from dpcore.privacy.certified.rounding import RESERVED
from dpcore.privacy.gaussian import mu_of
from dpcore.privacy.mechanism import MIN_SIGMA, Release
from dpcore.training.perturbation.models import MODELS, RowModel
from dpcore.training.randomness.missing_mass import RADIUS, added_delta

if TYPE_CHECKING:
    from dpcore.training.perturbation import noise

Draws: TypeAlias = "noise.Stream"  # random numbers of one fit; in words, for it loads torch
ROUNDING = 1 + 1e-9  # of a sensitivity: that sums of float64 err by less is taken on trust, README.md, section 5
ADJACENCY = "replace-one"
NEIGHBOURS = "neighbours differ in one replaced row"  # the same in words


@lru_cache(maxsize=4096)
def mu_within(epsilon: float, delta: float) -> float:
    """The largest mu that keeps (epsilon, delta), with what no generator returns paid from delta before.

    >>> round(1 / mu_within(1.0, 1e-5), 3)
    3.731
    """
    return float(mu_of(epsilon, delta * (1 - RESERVED)))


@dataclass(frozen=True)
class Task:
    """Model, sizes and settings of a fit. The number of examples is public, as replacing one does not change it."""

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
        """The model of that name."""
        return MODELS[self.model_name]

    @property
    def parameters(self) -> int:
        """Parameters p."""
        return self.model.parameters(self.features)

    @property
    def lipschitz(self) -> float:
        """G: how long the gradient of one row's loss can be, clipped where the model has no bound of its own."""
        return self.clip_norm if self.model.lipschitz is None else self.model.lipschitz

    @property
    def clipping(self) -> float | None:
        """The norm that gradients must be clipped to; None where they are shorter anyway."""
        return self.clip_norm if self.model.lipschitz is None else None

    @property
    def sensitivity(self) -> float:
        """How far replacing one row moves the mean gradient: 2 G / n. The regulariser's gradient stays."""
        return 2 * self.lipschitz / self.examples * ROUNDING

    @property
    def smoothness(self) -> float:
        """Lsm of the objective: of mean loss and regulariser. Without a bound that of a convex loss stands in."""
        own = 0.25 if self.model.smoothness is None else self.model.smoothness
        return own + self.regulariser

    @property
    def most_rate(self) -> float:
        """Up to here a step of gradient descent brings two runs together: 2 / (Lsm + Dl)."""
        return 2 / (self.smoothness + self.regulariser)

    @property
    def rate(self) -> float:
        """Step size of gradient descent."""
        return self.most_rate if self.given_rate is None else self.given_rate

    def mu(self, epsilon: float) -> float:
        """The largest mu at which a Gaussian mechanism keeps this epsilon and the task's delta."""
        return mu_within(epsilon, self.delta)

    def missing(self, mu: float, count: int = 1) -> str:
        """Why noise that no generator returns lets no epsilon be given, as a sentence; empty where it is paid for.

        `count` releases, each of a value that one row moves by mu standard deviations of its noise.
        """
        enough = mu < 1 / MIN_SIGMA and added_delta([Release(1.0, 1 / mu, count)], RADIUS["AES"]) <= (
            RESERVED * self.delta
        )
        if enough:
            return ""
        return (
            f"Noise is drawn up to {RADIUS['AES']:.3g} standard deviations, and one row moves what is released by "
            f"{mu:.3g} of them: what is cut off may show it more often than delta allows for."
        )
