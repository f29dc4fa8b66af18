"""Requests for audits: flat, JSON, and checked when they are made; free of torch, so that pages may ask."""

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


@dataclass(frozen=True)
class AuditRequest:
    """One audit: the run is trained anew, with noise and batches of its own, and the audit's eyes on every step.

    A value: making one checks it, and reads no data. The seed is that of the settings: a fixed one makes an audit that
    can be repeated, and draws nothing that a run with this seed draws.

    >>> AuditRequest.from_json(AuditRequest(RunConfig(sigma=2.0), canaries=10).to_json()).config.sigma
    2.0
    """

    config: RunConfig = field(default_factory=RunConfig)  # the settings asked for
    trainer: str = OWN.name  # that trains by them
    confidence: float = 0.95  # of all that is found together
    canaries: int = CANARIES  # m: examples that are in the data by the flip of a coin
    torch_draws: int = 0  # of torch's float32 normal numbers on a CPU, to be counted beside the trainer's own

    def __post_init__(self) -> None:
        check.one_of(TRAINERS, trainer=self.trainer)
        check.in_range(0, MAX_CONFIDENCE, ends="(]", confidence=self.confidence)
        check.whole(0, MAX_CANARIES, canaries=self.canaries)
        if self.config.sampler != Poisson.name:
            raise ValueError(
                f"Expected sampler={self.config.sampler!r} to be 'poisson' in an audit: what it tests, and against "
                "what, is made for Poisson batches."
            )
        for name in ("features", "views", "mean_sigma"):
            value, plain = getattr(self.config, name), getattr(RunConfig(), name)
            if value != plain:
                raise ValueError(
                    f"Expected {name}={value!r} to be {plain!r} in an audit, which watches one gradient of pixels for "
                    "each example."
                )
        check.whole(0, MAX_DRAWS, torch_draws=self.torch_draws)
        if 2 * self.canaries > (most := self.trained.examples):
            raise ValueError(
                f"Expected canaries={self.canaries} to be at most half of the {most} training examples, whose places "
                "they take."
            )

    @property
    def by(self) -> Trainer:
        """The trainer."""
        return TRAINERS[self.trainer]

    @property
    def trained(self) -> RunConfig:
        """The settings that the trainer trains when it is asked for these. Errors: ValueError where it has none."""
        return self.by.trains(self.config)

    @property
    def title(self) -> str:
        """The audit in a few words.

        >>> AuditRequest(RunConfig(sigma=2.0), "half_noise").title
        'Audit of MNIST cnn, SGD, sigma 2: Half the noise'
        """
        return f"Audit of {described(self.config)}{'' if self.by is OWN else f': {self.by.title}'}"

    @property
    def seed(self) -> int | None:
        """The fixed seed; None for a secret one."""
        return self.config.seed

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object: the settings, and what is the audit's own."""
        return self.config.to_json() | {key: getattr(self, key) for key in OWN_KEYS}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "AuditRequest":
        """The request that `to_json` wrote; an unknown key is an error."""
        own = {key: value for key, value in values.items() if key in OWN_KEYS}
        settings = {key: value for key, value in values.items() if key not in OWN_KEYS}
        return cls(RunConfig.from_json(settings), **own)
