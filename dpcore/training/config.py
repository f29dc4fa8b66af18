"""What a run is: flat, JSON, and enough to derive its mechanism without running it (`plan`)."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from dpcore import check
from dpcore.data.catalogue import DATASETS
from dpcore.training.combinations import check_combination
from dpcore.training.features.kinds import KINDS, kinds_for
from dpcore.training.models import models_for
from dpcore.training.settings import Settings, settings_of

LONGEST_RUN = 1_000_000  # steps


@dataclass(frozen=True)
class RunConfig(Settings):
    """One training run. `private=False` is the baseline: no clipping, no noise, the same batches.

    A value: making one checks that its settings go together, and computes nothing else. What follows from it, such as
    the number of steps, is its `plan`. What its settings are is the table in `settings`.
    """

    def __post_init__(self) -> None:
        for name, setting in settings_of(type(self)).items():
            setting.check(name, getattr(self, name))
        self._check_data()
        check_combination(self)
        if self.batch > self.examples:
            raise ValueError(f"Expected batch={self.batch} to be at most the data's {self.examples} examples.")
        self._check_length()

    def _check_data(self) -> None:
        dataset = DATASETS[self.dataset]
        check.one_of(dataset.sources, source=self.source)
        check.one_of(kinds_for(dataset), **{f"{self.dataset}'s features": self.features})
        suited = models_for(self.dataset, self.features)
        of = self.dataset if self.features == "pixels" else f"{self.dataset} {self.features}"
        check.one_of(suited, **{f"{of}'s model": self.model})
        check.whole(0, dataset.examples(self.source) - 1, public=self.public)
        check.whole(0, math.prod(dataset.shape), pca=self.pca)

    def _check_length(self) -> None:
        steps = self.epochs * self.examples / self.batch  # infinite where the epochs are too many for a float
        if not (steps <= LONGEST_RUN and self.steps_of_epochs >= 1):
            raise ValueError(
                f"Expected epochs={self.epochs:g} to be from 1 to {LONGEST_RUN:,} steps of batch={self.batch}."
            )

    @property
    def examples(self) -> int:
        """Training examples n: without those held out as public data."""
        return DATASETS[self.dataset].examples(self.source) - self.public

    @property
    def shape(self) -> tuple[int, ...]:
        """What the model takes: (channels, height, width) of an image's features, or the projection's dimensions."""
        return (self.pca,) if self.pca else KINDS[self.features].shape_of(DATASETS[self.dataset].shape)

    @property
    def q(self) -> float:
        """Poisson sampling rate: every example enters a step with this probability."""
        return self.batch / self.examples

    @property
    def steps_of_epochs(self) -> int:
        """The epochs in steps of the expected batch, rounded up; `stop_epsilon` may end the run before."""
        return math.ceil(self.epochs * self.examples / self.batch - 1e-9)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object."""
        return asdict(self)

    def chosen(self) -> dict[str, Any]:
        """The settings that are not at their default: what the run is, whatever settings later versions may have.

        >>> RunConfig(sigma=2, seed=5).chosen()
        {'sigma': 2.0, 'seed': 5}
        """
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {
            name: float(value) if isinstance(default, float) else value
            for name, (value, default) in values.items()
            if value != default
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RunConfig":
        """The config that `to_json` wrote; an unknown key is an error."""
        check.one_of([field.name for field in fields(cls)], **{f"key {key}": key for key in values})
        return cls(**values)
