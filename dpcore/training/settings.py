"""The table of a run's settings: each row has the default, range and needs of a setting;
settings.toml has the rest.

The checks, the options of `train`, the refusals of idle settings, the controls of the page, the
labels of runs and docs/settings.md follow from it.

A default never changes, because the seed of a run's noise leaves out settings at their defaults.
`defaults` has the settings to start from.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, final

from dpcore import check
from dpcore.data.catalogue import DATASETS, SOURCES, dataset_of
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import MAX_SIGMA, MIN_SIGMA
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.schedule import SCHEDULES
from dpcore.training.features.kinds import KINDS
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import ACTIVATIONS, MODELS, WIDTH
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.pi import READINGS
from dpcore.training.schedules import ACCEPTANCES, LR_SCHEDULES

TEXTS = Path(__file__).with_name("settings.toml")


class Needs(NamedTuple):
    """A condition on the other settings, without which a setting changes nothing."""

    holds: Callable[[Any], bool]  # of a configuration
    words: str
    binding: bool = False  # true if any value but the default is refused without it
    ids: Callable[[], Iterable[str]] | None = None  # the members of a registry that satisfy it


def of_registry(
    setting: str, registry: Mapping[str, Any], has: str, words: str, *, binding: bool = False
) -> Needs:
    """The need of a choice from a registry with a true attribute `has`."""
    return Needs(
        lambda run: getattr(registry[getattr(run, setting)], has),
        words,
        binding,
        ids=lambda: [name for name, each in registry.items() if getattr(each, has)],
    )


@dataclass(frozen=True)
class Slider:
    """A number's control: the ends of its slider, and the meaning of left and right."""

    low: float
    high: float
    left: str = ""
    right: str = ""
    help: str = ""
    stops: tuple[float, ...] = ()  # in place of round numbers from low to high
    coarse: bool = False


@dataclass(frozen=True, kw_only=True)
class Setting(ABC):
    """One row of the table of settings."""

    default: Any
    help: str = ""  # of its option and its line in the documentation
    label: str = ""  # of its control
    # Its value in the label of a run, as "sigma {:g}" or "{of.title}"; empty: its name and value.
    short: str = ""
    off: str = ""  # the same for its default, if that has words of its own
    rank: int = 99  # lower ranks are named first if runs differ in several settings
    unusual: bool = False  # true if every description of a run names another value than the default
    of_noise: bool = False  # true if it means nothing without clipping and noise
    shared: bool = False  # true if a baseline has the value of its private run
    unit: str = ""  # empty for a choice, and for a number without a dimension
    needs: tuple[Needs, ...] = ()  # without which it changes nothing
    since: str = "1"  # the first version with it

    @abstractmethod
    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the setting can have the value, whatever the others are."""

    @property
    @abstractmethod
    def range(self) -> str:
        """Its possible values, in words."""

    def is_used(self, run: Any) -> bool:
        """True if it changes anything, given the run's other settings."""
        return all(need.holds(run) for need in self.needs)

    @property
    def needed(self) -> str:
        """Its needs in words; empty if it has none."""
        found = (
            (need.words, f" ({either(need.ids())})" if need.ids else "") for need in self.needs
        )
        return " and ".join(f"{words}{ids}" for words, ids in found)

    @property
    def unit_said(self) -> str:
        """Its unit as a sentence beside its control; empty if the label has it."""
        return f"In {self.unit}." if self.unit and self.unit not in self.label.lower() else ""


@final
@dataclass(frozen=True, kw_only=True)
class Number(Setting):
    """A number in a range."""

    low: float
    high: float = math.inf
    ends: str = "[)"
    # A check of dpcore.check; the range then only describes it.
    rule: Callable[..., None] | None = None
    slider: Slider | None = None

    def check(self, name: str, value: Any) -> None:
        if self.rule:
            self.rule(**{name: value})
        else:
            check.in_range(self.low, self.high, ends=self.ends, **{name: value})

    @property
    def range(self) -> str:
        if self.high == math.inf:
            return f"{'at least' if self.ends[0] == '[' else 'above'} {self.low:g}"
        return f"in {self.ends[0]}{self.low:g}, {self.high:g}{self.ends[1]}"


@final
@dataclass(frozen=True, kw_only=True)
class Count(Setting):
    """A whole number in a range."""

    low: int = 0
    high: int | None = None
    none: str = ""  # the meaning of None; empty if it cannot be None
    slider: Slider | None = None

    def check(self, name: str, value: Any) -> None:
        if value is not None or not self.none:
            check.whole(self.low, self.high, **{name: value})

    @property
    def range(self) -> str:
        most = f", at most {self.high}" if self.high is not None else ""
        return (
            f"a whole number of at least {self.low}{most}{', or ' + self.none if self.none else ''}"
        )


@final
@dataclass(frozen=True, kw_only=True)
class Choice(Setting):
    """One of several, by its id; `choices` may be a registry, whose later members count too."""

    choices: Collection[Any]
    among: str = ""  # the contents and the file of a registry, in words; empty for other choices
    rule: Callable[..., Any] | None = None  # a check in place of `check.one_of`

    def check(self, name: str, value: Any) -> None:
        if self.rule:
            self.rule(**{name: value})
        else:
            check.one_of(self.choices, **{name: value})

    @property
    def range(self) -> str:
        return self.among or f"one of {', '.join(str(each) for each in self.choices)}"


def either(names: Iterable[str]) -> str:
    """Join the names to a list in a sentence.

    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def row(setting: Setting) -> Any:
    """The field of a dataclass for the setting."""
    return field(default=setting.default, metadata={"setting": setting})


DEVICES = ("auto", "cpu", "cuda", "mps")
NOISE_GENERATORS = {  # name -> the generator on CUDA; elsewhere both are AES
    "auto": (
        "CUDA's own generator, Philox. It is fast but not cryptographic, and keeps 63 bits of a"
        " seed."
    ),
    "secure": (
        "AES on the CPU, a cryptographic generator. The noise is sent to the GPU, and no step is"
        " recorded."
    ),
}
DRAWN = {name: each for name, each in SAMPLERS.items() if each.draw is not None}
PRIVACY = Needs(lambda run: run.private, "privacy")
NOT_ON_CPU = Needs(lambda run: run.device != "cpu", "a device that is not the CPU")
PCA = Needs(lambda run: run.pca > 0, "pca")
STOP = Needs(lambda run: run.stop_epsilon > 0, "stop_epsilon")
ANNEALED = Needs(lambda run: run.acceptance == "sa", "acceptance sa")
NOISE_CHANGES = Needs(
    lambda run: run.schedule == "constant" or SCHEDULES[run.schedule].changes_sigma(run.rate),
    "a rate that changes sigma",
)
DECAY = Needs(
    lambda run: run.schedule != "constant", "a schedule that is not constant", binding=True
)
LR_DECAY = Needs(
    lambda run: run.lr_schedule != "constant", "an lr_schedule that is not constant", binding=True
)
MOMENTUM = of_registry("optimizer", OPTIMIZERS, "momentum", "an optimizer that has momentum")
RELEVANCES = of_registry(
    "optimizer", OPTIMIZERS, "by_relevance", "an optimizer that goes by relevances"
)
HIDDEN = of_registry("model", MODELS, "hidden", "a model with a hidden layer")
WIDE = of_registry("model", MODELS, "wide", "a model whose width can be chosen")
IMAGES = of_registry("dataset", DATASETS, "images", "a data set of images", binding=True)
GREY = of_registry("dataset", DATASETS, "grey", "the pixels of a grey data set", binding=True)
GREY_PIXELS = GREY._replace(holds=lambda run: run.features == "pixels" and GREY.holds(run))
MAX_LR = 1e38  # a float32 holds it
MAX_WIDTH = 10_000
MAX_VIEWS = 16
SCALES = ("unit", "centred")


def off_or_noise(**sigma: float) -> None:
    """Raise ValueError unless it is 0 (off) or a sigma that a release may have.

    >>> off_or_noise(mean_sigma=0)
    """
    if any(value != 0 for value in sigma.values()):
        check.in_range(MIN_SIGMA, MAX_SIGMA, ends="[]", **sigma)


@dataclass(frozen=True)
class Settings:
    """The values of one run's settings, unchecked."""

    dataset: str = row(Choice(default="mnist", choices=DATASETS, rule=dataset_of))
    source: str = row(Choice(default="sample", choices=SOURCES))
    model: str = row(Choice(default="cnn", choices=MODELS))
    activation: str = row(Choice(default="tanh", choices=ACTIVATIONS, needs=(HIDDEN,)))
    optimizer: str = row(Choice(default="sgd", choices=OPTIMIZERS))
    private: bool = row(Choice(default=True, choices=(True, False)))
    sigma: float = row(Number(default=1.23, low=0, needs=(PRIVACY,)))
    batch: int = row(Count(default=512, low=1))
    sampler: str = row(Choice(default=Poisson.name, choices=DRAWN))
    # within these ends float32 squares neither underflow nor overflow
    clip_norm: float = row(Number(default=0.1, low=1e-9, high=1e9, ends="[]", needs=(PRIVACY,)))
    lr: float = row(Number(default=0.5, low=0, high=MAX_LR, ends="(]"))
    momentum: float = row(Number(default=0.9, low=0, high=1, needs=(MOMENTUM,)))
    epochs: float = row(Number(default=5.0, low=0, ends="()", rule=check.positive))
    delta: float = row(Number(default=1e-5, low=check.SMALLEST_DELTA, high=1, rule=check.delta))
    seed: int | None = row(Count(default=None, high=2**63 - 1))
    device: str = row(Choice(default="auto", choices=DEVICES))
    noise_generator: str = row(
        Choice(default="auto", choices=NOISE_GENERATORS, needs=(PRIVACY, NOT_ON_CPU))
    )
    clipping: str = row(Choice(default="flat", choices=CLIPPINGS, needs=(PRIVACY,)))
    reading: str = row(Choice(default="scaled", choices=READINGS))
    schedule: str = row(
        Choice(default="constant", choices=SCHEDULES, needs=(PRIVACY, NOISE_CHANGES))
    )
    rate: float = row(Number(default=0.0, low=0, needs=(PRIVACY, DECAY)))
    level_steps: int = row(Count(default=0, needs=(PRIVACY, DECAY)))
    lr_schedule: str = row(Choice(default="constant", choices=LR_SCHEDULES))
    lr_end: float = row(Number(default=0.0, low=0, high=MAX_LR, ends="[]", needs=(LR_DECAY,)))
    lr_epochs: float = row(Number(default=0.0, low=0, needs=(LR_DECAY,)))
    ema: float = row(Number(default=0.0, low=0, high=1))
    acceptance: str = row(Choice(default="none", choices=ACCEPTANCES))
    sa_q0: float = row(Number(default=10.0, low=0, needs=(ANNEALED,)))
    sa_mu0: int = row(Count(default=10, needs=(ANNEALED,)))
    public: int = row(
        Count(default=0, needs=(ANNEALED._replace(words="acceptance sa, which judges on it"),))
    )
    pca: int = row(Count(default=0))
    pca_sigma: float = row(
        Number(default=7.0, low=MIN_SIGMA, high=MAX_SIGMA, ends="[]", needs=(PCA,))
    )
    relevance_sigma: float = row(
        Number(default=10.0, low=MIN_SIGMA, high=MAX_SIGMA, ends="[]", needs=(RELEVANCES,))
    )
    stop_epsilon: float = row(Number(default=0.0, low=0, needs=(PRIVACY,)))
    stop_accountant: str = row(Choice(default=CERTIFIED, choices=ACCOUNTANTS, needs=(STOP,)))
    width: int = row(Count(default=WIDTH, low=1, high=MAX_WIDTH, needs=(WIDE,)))
    features: str = row(Choice(default="pixels", choices=KINDS))
    views: int = row(Count(default=1, low=1, high=MAX_VIEWS, needs=(IMAGES,)))
    mean_sigma: float = row(
        Number(default=0.0, low=0, high=MAX_SIGMA, ends="[]", rule=off_or_noise, needs=(IMAGES,))
    )
    pixel_scale: str = row(Choice(default="unit", choices=SCALES, needs=(GREY_PIXELS,)))


@cache
def settings_of(kind: type[Settings]) -> dict[str, Setting]:
    """The rows of a configuration by name, each with its words in settings.toml."""
    words = words_in(TEXTS)
    return {
        each.name: worded(each.metadata["setting"], words.get(each.name, {}))
        for each in fields(kind)
    }


def worded(setting: Setting, words: dict[str, Any]) -> Setting:
    """The setting with words; a slider without an end of its own ends with the range."""
    if "slider" in words:
        slider = {
            "high": getattr(setting, "high", None),
            "terms": (),
            "stops": (),
            **words["slider"],
        }
        about = help_on(*slider.pop("terms"))
        stops = tuple(slider.pop("stops"))
        words = words | {"slider": Slider(**slider, help=about, stops=stops)}
    return replace(setting, **words)


SETTINGS = settings_of(Settings)
