"""A scene of a lesson: settings of the controls, and their numbers in sentences."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from dpcore.data.catalogue import DATASETS
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.papers.entry import PrintedSetting
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import Risks
from dpcore.privacy.report.numbers import marked, outward, percent
from dpcore.privacy.report.ruler import range_of
from dpcore.privacy.sampling import SAMPLERS, steps_of_epoch
from dpcore.privacy.sampling.base import Poisson
from dpcore.training.config import RunConfig
from dpcore.training.defaults import suited_features
from dpcore.training.models import models_for
from dpcore.training.plan import plan
from pages.parts.papers.opening import fields_of
from pages.parts.results import cache
from pages.parts.results.odds import PEOPLE, of_hundred
from pages.parts.results.sampled import sampled_end

# Always here, so that what a lesson shows can be trained.
DATASET = "mnist"
SOURCE = "sample"
# Of a page that was just opened.
FEATURES = suited_features(DATASET)[0]
MODEL = models_for(DATASET, FEATURES)[-1]


@dataclass(frozen=True)
class Scene:
    """Settings of the controls with their numbers, bare and as words for sentences."""

    batch: int = 256
    sigma: float = 1.23
    epochs: float = 5.0
    steps: int = 0  # instead of epochs, where it is not 0
    clip_norm: float = 0.1
    delta: float = 1e-5
    accountants: tuple[str, ...] = DEFAULT_ACCOUNTANTS
    sampler: str = Poisson.name

    examples: ClassVar[int] = DATASETS[DATASET].examples(SOURCE)

    @property
    def fields(self) -> dict[str, object]:
        """The value of each control by its name in the address."""
        printed = PrintedSetting(
            n=self.examples,
            batch=self.batch,
            sigma=self.sigma,
            epochs=self.epochs,
            clip_norm=self.clip_norm,
            delta=self.delta,
            dataset=DATASET,
        )
        fields = {
            **fields_of(printed),
            "features": FEATURES,
            "model": MODEL,
            "sampler": self.sampler,
            "accountants": [*self.accountants],
            "against": "epoch",
            "scale": "log",
        }
        if self.steps:
            fields |= {"length": "steps", "steps": str(self.steps)}
        return fields

    def run(self, **recipe: Any) -> RunConfig:
        """A run of these settings by a training recipe."""
        epochs = self.epochs
        if self.steps:
            epochs = self.steps * self.batch / self.examples
        return RunConfig(
            dataset=DATASET,
            source=SOURCE,
            batch=self.batch,
            sigma=self.sigma,
            epochs=epochs,
            clip_norm=self.clip_norm,
            delta=self.delta,
            **recipe,
        )

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism in the plan of a run of these settings."""
        planned = plan(self.run()).mechanism
        assert planned is not None
        return planned

    @property
    def noise(self) -> float:
        """The standard deviation of the noise on the sum of gradients."""
        return self.sigma * self.clip_norm

    @property
    def share_of_epoch(self) -> str:
        """The share of examples in an epoch of Poisson batches."""
        q = self.mechanism.releases[0].q
        return percent(1 - (1 - q) ** steps_of_epoch(q), 0)

    def curve(self, accountant: str) -> Curve:
        return cache.final(accountant, self.mechanism, self.delta)

    def epsilon_by(self, accountant: str) -> float:
        return float(self.curve(accountant).epsilon[-1])

    def cost_by(self, accountant: str) -> str:
        return f"**{marked(self.epsilon_by(accountant), self.curve(accountant).kind)}**"

    @property
    def epsilon(self) -> float:
        """The certified number."""
        return self.epsilon_by(CERTIFIED)

    @property
    def cost(self) -> str:
        return self.cost_by(CERTIFIED)

    @property
    def costs(self) -> dict[str, str]:
        """The number of each accountant on the chart, with its mark."""
        return {name: self.cost_by(name) for name in self.accountants}

    @property
    def tier(self) -> str:
        """The word for the certified number."""
        return f"**{range_of(self.epsilon).name}**"

    @property
    def lower(self) -> float:
        found = self.curve(CERTIFIED).lower
        assert found is not None
        return float(found[-1])

    @property
    def least(self) -> str:
        """The proven lower bound in bold."""
        return _at_least(self.lower)

    @property
    def sampled(self) -> Reading:
        """Both proven bounds of the final epsilon for the sampler."""
        return sampled_end(self.sampler, self.mechanism, self.delta).last

    @property
    def sampler_least(self) -> str:
        return _at_least(self.sampled.lower or 0.0)

    @property
    def ends(self) -> str:
        """Both bounds for the sampler in words."""
        high = _at_most(self.sampled.value)
        return f"between {self.sampler_least} and {high} ({SAMPLERS[self.sampler].adjacency})"

    @property
    def risks(self) -> Risks:
        return cache.risks(self.mechanism, self.delta)

    @property
    def people(self) -> str:
        """The number of right guesses of an attacker about 100 people."""
        return f"**{of_hundred(self.risks)} of {PEOPLE}**"

    @property
    def factor(self) -> str:
        """The factor by which epsilon lets the odds grow."""
        return _at_most(math.exp(self.epsilon))

    @property
    def doubt(self) -> float:
        """The certified chance that an attacker who starts at 50 % is still wrong."""
        return 1 - self.risks.sure

    @property
    def doubt_left(self) -> str:
        return f"**{outward(100 * self.doubt, math.floor)} %**"

    @property
    def advantage(self) -> str:
        return _at_most(self.risks.advantage.upper)


def _at_least(bound: float) -> str:
    return f"**{outward(bound, math.floor)}**"


def _at_most(bound: float) -> str:
    return f"**{outward(bound, math.ceil)}**"


def scene_of(settings: Mapping[str, Any]) -> Scene:
    """A scene of these settings; a file writes 1.0 as 1, and a tuple as a list."""
    values = {}
    for name, value in settings.items():
        kind = type(getattr(Scene, name))
        values[name] = kind(value)
    return Scene(**values)
