"""A run's settings: flat, JSON, and enough to derive its mechanism without running it (`plan`).

Settings that do not go together are refused, each named with what it contradicts, as are those that would change
nothing.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from dpcore import check
from dpcore.data.catalogue import DATASETS
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.schedule import CONSTANT
from dpcore.training.features.kinds import KINDS, kinds_for
from dpcore.training.models import MODELS, models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import Settings, either, settings_of


def contradictions(run: Settings) -> Iterator[str]:
    """Contradictions between settings, a sentence for each."""
    optimizer, other_batches = OPTIMIZERS[run.optimizer], run.sampler != Poisson.name
    releases = run.pca > 0 or optimizer.by_relevance
    if run.reading not in optimizer.readings:
        having = either(each.name for each in OPTIMIZERS.values() if run.reading in each.readings)
        yield f"Expected reading={run.reading!r} only with {having}, not with optimizer={run.optimizer!r}."
    if run.acceptance == "sa" and run.public == 0:
        yield "Expected public above 0 with acceptance='sa': it judges proposals on a held-out public split."
    if other_batches and run.schedule != CONSTANT.name:
        yield (
            f"Expected schedule={run.schedule!r} only with sampler='poisson', not {run.sampler!r}: what is proven of "
            "other batches is proven for constant noise."
        )
    if other_batches and releases:
        yield f"Expected no DP-PCA and no relevances with sampler={run.sampler!r}: nothing is proven of them together."
    if other_batches and run.mean_sigma > 0:
        yield f"Expected no private mean with sampler={run.sampler!r}: nothing is proven of them together."
    if run.mean_sigma > 0 and releases:
        yield f"Expected no DP-PCA and no relevances with mean_sigma={run.mean_sigma:g}: each is of all that is seen."
    if run.features != "pixels" and run.pca > 0:
        yield f"Expected no pca={run.pca} with features={run.features!r}: it projects pixels."
    if run.views > 1 and releases:
        yield f"Expected no DP-PCA and no relevances with views={run.views}: their noise is meant for one view each."
    if run.pca > 0 and not MODELS[run.model].dense:
        dense = either(each.name for each in MODELS.values() if each.dense)
        yield f"Expected pca={run.pca} only with model {dense}, not {run.model!r}: a projection has no pixels."
    for name, setting in settings_of(type(run)).items():
        value = getattr(run, name)
        for need in setting.needs:
            if need.binding and value != setting.default and not need.holds(run):
                shown = repr(value) if isinstance(value, str) else f"{value:g}"
                yield f"Expected no {name}={shown} without {need.words}."


def idle(run: Settings) -> dict[str, str]:
    """The settings that change nothing beside the others, each with what it would take.

    Runs of before may have them; where somebody asks for one, it is better to say so.
    """
    rows = settings_of(type(run))
    return {name: setting.needed for name, setting in rows.items() if not setting.is_used(run)}


MAX_STEPS = 1_000_000  # of a run


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
        for contradiction in contradictions(self):
            raise ValueError(contradiction)
        if self.batch > self.examples:
            raise ValueError(f"Expected batch={self.batch} to be at most the data's {self.examples} examples.")
        steps = self.epochs * self.examples / self.batch  # infinite where the epochs are too many for a float
        if not (steps <= MAX_STEPS and self.steps_of_epochs >= 1):
            raise ValueError(
                f"Expected epochs={self.epochs:g} to be from 1 to {MAX_STEPS:,} steps of batch={self.batch}."
            )

    def _check_data(self) -> None:
        dataset = DATASETS[self.dataset]
        check.one_of(dataset.sources, source=self.source)
        check.one_of(kinds_for(dataset), **{f"{self.dataset}'s features": self.features})
        suited = models_for(self.dataset, self.features)
        of = self.dataset if self.features == "pixels" else f"{self.dataset} {self.features}"
        check.one_of(suited, **{f"{of}'s model": self.model})
        check.whole(0, dataset.examples(self.source) - 1, public=self.public)
        check.whole(0, math.prod(dataset.shape), pca=self.pca)

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
