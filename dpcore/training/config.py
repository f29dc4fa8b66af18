"""A run's settings: flat, JSON, enough to derive its mechanism (`plan`), and free of
contradictions.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from dpcore import check
from dpcore.data.catalogue import DATASETS
from dpcore.privacy.report.numbers import value_text
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import Poisson, steps_counted
from dpcore.privacy.schedule import CONSTANT
from dpcore.training.features.kinds import KINDS
from dpcore.training.models import MODELS, models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import Settings, either, settings_of


def contradictions(run: Settings) -> Iterator[str]:
    """Contradictions between settings, each a sentence with the way out."""
    optimizer = OPTIMIZERS[run.optimizer]
    other_batches = run.sampler != Poisson.name
    releases = run.pca > 0 or optimizer.by_relevance
    if run.reading not in optimizer.readings:
        having = either(each.name for each in OPTIMIZERS.values() if run.reading in each.readings)
        yield (
            f"Choose the reading scaled: {run.reading} needs the optimizer {having}, not"
            f" {run.optimizer}."
        )
    if run.acceptance == "sa" and run.public == 0:
        yield (
            "Hold out public examples (public above 0, for example 1000): acceptance sa judges"
            " steps on them."
        )
    if other_batches and run.schedule != CONSTANT.name:
        yield (
            f"Choose the schedule constant, or the sampler poisson: {run.sampler} is proven for"
            " constant noise alone."
        )
    if other_batches and releases:
        yield (
            "Choose the sampler poisson: nothing is proven for DP-PCA or relevances with"
            f" {run.sampler}."
        )
    if other_batches and run.mean_sigma > 0:
        yield (
            "Set mean_sigma to 0, or choose the sampler poisson: nothing is proven for a mean with"
            f" {run.sampler}."
        )
    if run.mean_sigma > 0 and releases:
        yield "Set mean_sigma to 0: a private mean does not go with DP-PCA or relevances."
    if run.features != "pixels" and run.pca > 0:
        yield (
            f"Set pca to 0, or choose the features pixels: DP-PCA does not project {run.features}."
        )
    if run.views > 1 and releases:
        yield "Set views to 1: DP-PCA and relevances take one view of each example."
    if run.pca > 0 and not MODELS[run.model].dense:
        dense = either(each.name for each in MODELS.values() if each.dense)
        yield (
            f"Set pca to 0, or choose the model {dense}: {run.model} needs pixels, which a"
            " projection lacks."
        )
    yield from unmet_needs(run)


def unmet_needs(run: Settings) -> Iterator[str]:
    """A sentence for each setting that is chosen without what it needs, as far as that binds."""
    for name, setting in settings_of(type(run)).items():
        value = getattr(run, name)
        for need in setting.needs:
            if need.binding and value != setting.default and not need.holds(run):
                yield (
                    f"Leave {name} at {value_text(setting.default)}: {value_text(value)} needs"
                    f" {need.words}."
                )


def idle(run: Settings) -> dict[str, str]:
    """The settings that change nothing beside the others, each with its needs; recorded runs may
    have some.
    """
    rows = settings_of(type(run))
    return {name: setting.needed for name, setting in rows.items() if not setting.is_used(run)}


MAX_STEPS = 1_000_000  # of a run


@dataclass(frozen=True)
class RunConfig(Settings):
    """The settings of one training run; `private=False` is the baseline, without clipping and
    noise.

    The constructor checks the settings, and computes nothing else: `plan` derives the number of
    steps and all the rest. docs/settings.md has every setting with its unit, range and default.
    Source: docs/methods.md, for each method. Errors: ValueError for a value out of its range, or
    settings that contradict each other.

    >>> config = RunConfig(model="mlp", sigma=2.0, batch=250, source="sample")
    >>> config.examples, config.q
    (10000, 0.025)
    """

    def __post_init__(self) -> None:
        for name, setting in settings_of(type(self)).items():
            setting.check(name, getattr(self, name))
        dataset = DATASETS[self.dataset]
        check.one_of(dataset.sources, source=self.source)
        suited = models_for(self.dataset, self.features)  # checks the features
        of = self.dataset if self.features == "pixels" else f"{self.dataset} {self.features}"
        check.one_of(suited, **{f"{of}'s model": self.model})
        check.whole(0, dataset.examples(self.source) - 1, public=self.public)
        check.whole(0, math.prod(dataset.shape), pca=self.pca)
        for contradiction in contradictions(self):
            raise ValueError(contradiction)
        if self.batch > self.examples:
            raise ValueError(
                f"Expected batch={self.batch} to be at most the {self.examples} training examples."
            )
        steps = self.epochs * self.examples / self.batch  # may overflow to infinity
        if not (steps <= MAX_STEPS and 1 <= self.steps_of_epochs <= MAX_STEPS):
            raise ValueError(
                f"Expected epochs={self.epochs:g} to make 1 to {MAX_STEPS:,} steps; change them or"
                " batch."
            )

    @property
    def examples(self) -> int:
        """The number n of training examples, without those held out as public data."""
        return DATASETS[self.dataset].examples(self.source) - self.public

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a model's input: (channels, height, width) of an image's features, or
        (dimensions,).
        """
        if self.pca:
            return (self.pca,)
        return KINDS[self.features].shape_of(DATASETS[self.dataset].shape)

    @property
    def q(self) -> float:
        """The Poisson sampling rate."""
        return self.batch / self.examples

    @property
    def steps_of_epochs(self) -> int:
        """The epochs in steps of the expected batch, rounded up; `stop_epsilon` may end the run
        earlier.

        A sampler that goes by epochs has round(1/q) steps in each of them, and leaves out a part of
        an epoch that is less than a step.

        >>> RunConfig(epochs=20).steps_of_epochs, RunConfig(epochs=20, batch=256).steps_of_epochs
        (391, 782)
        >>> RunConfig(epochs=20, batch=256, sampler="shuffle").steps_of_epochs
        780
        """
        steps = math.ceil(self.epochs * self.examples / self.batch - 1e-9)
        return steps_counted(SAMPLERS[self.sampler], self.q, steps)

    def to_json(self) -> dict[str, Any]:
        """The settings as a flat JSON object."""
        return asdict(self)

    def chosen(self) -> dict[str, Any]:
        """The settings that are not at their default; settings of later versions do not change
        them.

        >>> RunConfig(sigma=2, seed=5).chosen()
        {'sigma': 2.0, 'seed': 5}
        """
        chosen = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                chosen[field.name] = float(value) if isinstance(field.default, float) else value
        return chosen

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RunConfig":
        """The config that `to_json` wrote. Errors: ValueError for an unknown key."""
        check.one_of([field.name for field in fields(cls)], **{f"key {key}": key for key in values})
        return cls(**values)
