"""Requests for audits: flat values with JSON, checked when made, without torch for the pages."""

from dataclasses import dataclass, field
from typing import Any

from dpcore import check
from dpcore.audit.broken_trainers import OWN, TRAINERS, Trainer
from dpcore.privacy.sampling.base import Poisson
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described

CANARIES = 1000
MAX_CANARIES = 20_000
MAX_CONFIDENCE = 1 - 1e-9
MAX_DRAWS = 4 * 10**9
OWN_KEYS = ("trainer", "confidence", "canaries", "torch_draws")
FIXED = ("features", "views", "mean_sigma")  # settings that an audit leaves at their defaults


@dataclass(frozen=True)
class AuditRequest:
    """One audit: a run is trained again with fresh noise and batches, and watched step by step.

    A fixed seed of the settings makes the audit repeatable; it draws nothing that a run with this
    seed draws.

    >>> request = AuditRequest(RunConfig(sigma=2.0), canaries=10)
    >>> AuditRequest.from_json(request.to_json()).config.sigma
    2.0
    """

    config: RunConfig = field(default_factory=RunConfig)
    trainer: str = OWN.name
    confidence: float = 0.95  # of all tests together
    canaries: int = CANARIES  # m, each in the data by the flip of a coin
    # Of torch's float32 normal numbers on a CPU, counted beside the trainer's own.
    torch_draws: int = 0

    def __post_init__(self) -> None:
        check.one_of(TRAINERS, trainer=self.trainer)
        check.in_range(0, MAX_CONFIDENCE, ends="(]", confidence=self.confidence)
        check.whole(0, MAX_CANARIES, canaries=self.canaries)
        if self.config.sampler != Poisson.name:
            raise ValueError(
                "An audit tests Poisson batches: choose sampler='poisson', not"
                f" {self.config.sampler!r}."
            )
        for name in FIXED:
            value = getattr(self.config, name)
            plain = getattr(RunConfig(), name)
            if value != plain:
                raise ValueError(
                    "An audit watches one gradient of pixels for each example: set"
                    f" {name} to {plain!r}, not {value!r}."
                )
        check.whole(0, MAX_DRAWS, torch_draws=self.torch_draws)
        most = self.trained.examples // 2
        if self.canaries > most:
            raise ValueError(
                f"canaries={self.canaries} is too many: write at most {most}, half of the examples."
            )

    @property
    def by(self) -> Trainer:
        return TRAINERS[self.trainer]

    @property
    def trained(self) -> RunConfig:
        """The settings that this trainer trains instead. Errors: ValueError if it has none."""
        return self.by.trains(self.config)

    @property
    def title(self) -> str:
        """The title of the audit.

        >>> AuditRequest(RunConfig(sigma=2.0), "half_noise").title
        'Audit of MNIST cnn, SGD, sigma 2: Half the noise'
        """
        title = f"Audit of {described(self.config)}"
        return title if self.by is OWN else f"{title}: {self.by.title}"

    @property
    def seed(self) -> int | None:
        """The fixed seed; None for a secret one."""
        return self.config.seed

    def to_json(self) -> dict[str, Any]:
        """Return a flat JSON object: the settings and the audit's own keys."""
        return self.config.to_json() | {key: getattr(self, key) for key in OWN_KEYS}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "AuditRequest":
        """Return the request that `to_json` wrote. Errors: ValueError for an unknown key."""
        settings = dict(values)
        own = {key: settings.pop(key) for key in OWN_KEYS if key in settings}
        return cls(RunConfig.from_json(settings), **own)
