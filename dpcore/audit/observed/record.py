"""What is kept of a run that is watched."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore.audit.observed.look import Look, divided
from dpcore.audit.observed.observer import Seen
from dpcore.privacy.types import FloatArray, IntArray
from dpcore.training.config import RunConfig

PROJECTIONS = 200_000  # of the noise, over all steps
FEWEST_DIRECTIONS = 32
TOGETHER = 4_000_000  # pairs of tracked examples in one batch, over all steps


class Record:
    """Grows by a step at a time."""

    def __init__(self, config: RunConfig, steps: int, parameters: int, rng: np.random.Generator) -> None:
        self._config = config
        count = min(parameters, max(PROJECTIONS // steps, FEWEST_DIRECTIONS))
        self._directions = torch.as_tensor(np.sort(rng.choice(parameters, count, replace=False)))  # coordinates
        self._tracked = min(config.examples, int(math.sqrt(2 * TOGETHER / steps) / config.q) + 1)
        self._noise: list[FloatArray] = []
        self._inclusions: list[NDArray[np.bool_]] = []
        self._sizes: list[int] = []
        self._sigmas: list[float] = []
        self.looks: list[Look] = []

    def add(self, seen: Seen, drawn: NDArray[np.int64], sigma: float) -> None:
        """Take in a step: what was seen, which positions were drawn, and the sigma that is charged for."""
        noise = self._at(seen.released) - self._at(seen.clipped)
        scale = None if seen.scale is None else self._at(seen.scale)
        self._noise.append(divided(noise, scale).numpy() / self._config.clip_norm)
        included = np.zeros(self._config.examples, dtype=np.bool_)
        included[drawn] = True
        self._inclusions.append(included[: self._tracked])
        self._sizes.append(len(drawn))
        self._sigmas.append(sigma)

    def _at(self, vector: Tensor) -> Tensor:
        """The vector's coordinates that are kept, in float64."""
        return vector[self._directions.to(vector.device)].cpu().double()

    @property
    def steps(self) -> int:
        """How many steps were watched."""
        return len(self._sizes)

    @property
    def noise(self) -> FloatArray:
        """What was released less the clipped sum, over C D: (steps, k)."""
        return np.array(self._noise)

    @property
    def sigmas(self) -> FloatArray:
        """The sigma charged for each step: (steps,)."""
        return np.array(self._sigmas)

    @property
    def inclusions(self) -> NDArray[np.bool_]:
        """Which examples each batch had, of those that are tracked: (steps, k)."""
        return np.array(self._inclusions)

    @property
    def sizes(self) -> IntArray:
        """How many examples each batch had, of all: (steps,)."""
        return np.array(self._sizes, dtype=np.int64)

    def noise_factor(self) -> float | None:
        """Root mean square of the noise over that charged; None where none is charged, or no number was seen."""
        sigmas = self.sigmas
        if not len(sigmas) or not sigmas.all():
            return None
        factor = math.sqrt(np.mean((self.noise / sigmas[:, None]) ** 2))
        return factor if math.isfinite(factor) else None
