"""The table of a run's settings: each row has the default, range, words and control of a setting.

The checks, the options of `train`, the refusals of idle settings, the controls of the page, the labels of runs and
docs/settings.md follow from it.

A default never changes, because the seed of a run's noise leaves out settings at their defaults. `defaults` has the
settings to start from.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, final

from dpcore import check
from dpcore.data.catalogue import DATASETS, SOURCES, dataset_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import MAX_SIGMA, MIN_SIGMA
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.sampling.orders import Shuffle
from dpcore.privacy.sampling.random_allocation import RandomAllocation
from dpcore.privacy.schedule import SCHEDULES
from dpcore.training.features.kinds import KINDS
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import ACTIVATIONS, MODELS, WIDTH
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.pi import READINGS
from dpcore.training.schedules import ACCEPTANCES, LR_SCHEDULES


class Needs(NamedTuple):
    """A condition on the other settings, without which a setting changes nothing."""

    holds: Callable[[Any], bool]  # of a configuration
    words: str
    binding: bool = False  # true if any value but the default is refused without it
    ids: Callable[[], Iterable[str]] | None = None  # the members of a registry that satisfy it


def of_registry(setting: str, registry: Mapping[str, Any], has: str, words: str, *, binding: bool = False) -> Needs:
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
    help: str  # of its option and its line in the documentation
    label: str  # of its control
    short: Callable[[Any], str] | None = None  # its value in the label of a run; None: its name and value
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
        found = ((need.words, f" ({either(need.ids())})" if need.ids else "") for need in self.needs)
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
    rule: Callable[..., None] | None = None  # a check of dpcore.check; the range then only describes it
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
        return f"a whole number of at least {self.low}{most}{', or ' + self.none if self.none else ''}"


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
    "auto": "CUDA's own generator, Philox. It is fast but not cryptographic, and keeps 63 bits of a seed.",
    "secure": "AES on the CPU, a cryptographic generator. The noise is sent to the GPU, and no step is recorded.",
}
DRAWN = (Poisson.name, RandomAllocation.name, Shuffle.name)
PRIVACY = Needs(lambda run: run.private, "privacy")
NOT_ON_CPU = Needs(lambda run: run.device != "cpu", "a device that is not the CPU")
ANNEALED = Needs(lambda run: run.acceptance == "sa", "acceptance sa")
NOISE_CHANGES = Needs(
    lambda run: run.schedule == "constant" or SCHEDULES[run.schedule].changes_sigma(run.rate),
    "a rate that changes sigma",
)
DECAY = Needs(lambda run: run.schedule != "constant", "a schedule that is not constant", binding=True)
LR_DECAY = Needs(lambda run: run.lr_schedule != "constant", "an lr_schedule that is not constant", binding=True)
MOMENTUM = of_registry("optimizer", OPTIMIZERS, "momentum", "an optimizer that has momentum")
RELEVANCES = of_registry("optimizer", OPTIMIZERS, "by_relevance", "an optimizer that goes by relevances")
HIDDEN = of_registry("model", MODELS, "hidden", "a model with a hidden layer")
WIDE = of_registry("model", MODELS, "wide", "a model whose width can be chosen")
IMAGES = of_registry("dataset", DATASETS, "images", "a data set of images", binding=True)
GREY = of_registry("dataset", DATASETS, "grey", "the pixels of a grey data set", binding=True)
GREY_PIXELS = GREY._replace(holds=lambda run: run.features == "pixels" and GREY.holds(run))
MAX_LR = 1e38  # a float32 holds it
MAX_WIDTH = 10_000
MAX_VIEWS = 16
SCALES = ("unit", "centred")
NOISIER = Slider(0.5, 100, "more exact", "more private")


def off_or_noise(**sigma: float) -> None:
    """Raise ValueError unless it is 0 (off) or a sigma that a release may have.

    >>> off_or_noise(mean_sigma=0)
    """
    if any(value != 0 for value in sigma.values()):
        check.in_range(MIN_SIGMA, MAX_SIGMA, ends="[]", **sigma)


# fmt: off
@dataclass(frozen=True)
class Settings:
    """The values of one run's settings, unchecked."""

    dataset: str = row(Choice(
        default="mnist", choices=DATASETS, among="a data set of `dpcore/data/catalogue.py`, or imported images",
        label="Dataset", help="the data set", rule=dataset_of,
        short=lambda value: DATASETS[value].title, rank=1, shared=True))
    source: str = row(Choice(
        default="sample", choices=SOURCES, label="Examples", shared=True,
        help="sample: bundled; full: from the data root"))
    model: str = row(Choice(
        default="cnn", choices=MODELS, among="a model of `dpcore/training/models.py`",
        label="Model", help="the network", short=str, rank=10, shared=True))
    activation: str = row(Choice(
        default="tanh", choices=ACTIVATIONS, label="Activation", help="behind each hidden layer", short=str, rank=17,
        shared=True, needs=(HIDDEN,)))
    optimizer: str = row(Choice(
        default="sgd", choices=OPTIMIZERS, among="an optimizer of `dpcore/training/optimizers/`",
        label="Optimizer", help="the rule that moves the weights",
        short=lambda value: OPTIMIZERS[value].title, rank=2, shared=True))
    private: bool = row(Choice(
        default=True, choices=(True, False), label="Private", help="False: the baseline, without clipping and noise"))
    sigma: float = row(Number(
        default=1.23, low=0, label="Noise multiplier sigma", help="noise std / clipping norm",
        short=lambda value: f"sigma {value:g}", rank=4, of_noise=True, needs=(PRIVACY,),
        slider=Slider(0.3, 100, "more accurate", "more private", help=help_on("sigma"))))
    batch: int = row(Count(
        default=512, unit="examples", low=1, label="Expected batch", help="average examples in a step, q n",
        short=lambda value: f"batch {value}", rank=12,
        slider=Slider(1, 65536, "more private", "steadier", help=help_on("batch", "poisson"))))
    sampler: str = row(Choice(
        default=Poisson.name, choices=DRAWN, label="How batches are drawn", unusual=True, of_noise=True, rank=12,
        help="for batches that hold each example once an epoch, the accountants of Poisson batches do not hold",
        short=lambda value: SAMPLERS[value].title, since="2"))
    clip_norm: float = row(Number(  # within these ends float32 squares neither underflow nor overflow
        default=0.1, low=1e-9, high=1e9, ends="[]", label="Clipping norm C", of_noise=True, needs=(PRIVACY,),
        help="the bound on each example's gradient norm", short=lambda value: f"C {value:g}", rank=14,
        slider=Slider(0.01, 100, "clips more", "clips less", coarse=True, help=help_on("clip_norm"))))
    lr: float = row(Number(
        default=0.5, low=0, high=MAX_LR, ends="(]", label="Learning rate", help="length of a step",
        short=lambda value: f"lr {value:g}", rank=13,
        slider=Slider(1e-4, 100, "slower", "less stable", help=help_on("learning_rate"))))
    momentum: float = row(Number(
        default=0.9, low=0, high=1, label="Momentum", help="for the optimizers that have one",
        short=lambda value: f"momentum {value:g}", rank=16, needs=(MOMENTUM,),
        slider=Slider(0.1, 0.99, stops=(0, 0.5, 0.8, 0.9, 0.95, 0.99))))
    epochs: float = row(Number(
        default=5.0, unit="epochs", low=0, ends="()", rule=check.positive, label="Epochs",
        help="times that each example is drawn on average",
        short=lambda value: f"{value:g} epochs", rank=18,
        slider=Slider(0.1, 1000, "more private", "more accurate", help=help_on("epoch"))))
    delta: float = row(Number(
        default=1e-5, low=check.SMALLEST_DELTA, high=1, ends="[)", rule=check.delta, label="Delta",
        help="the delta of the epsilon shown, and of stop_epsilon", of_noise=True,
        slider=Slider(1e-12, 0.1, "stricter", "laxer", coarse=True, help=help_on("delta"))))
    seed: int | None = row(Count(
        default=None, high=2**63 - 1, none="a secret one", label="Fixed seed (empty: a secret one)",
        help="a fixed seed: epsilon holds only for those who do not know it (default: a fresh secret)",
        short=lambda value: "secret seed" if value is None else f"seed {value}", rank=21, unusual=True, shared=True))
    device: str = row(Choice(
        default="auto", choices=DEVICES, label="Device", help="where to train"))
    noise_generator: str = row(Choice(
        default="auto", choices=NOISE_GENERATORS, label="Noise generator", unusual=True, of_noise=True,
        needs=(PRIVACY, NOT_ON_CPU),
        help="secure: AES on every device, without recorded steps on CUDA; on a CPU both are AES",
        short=lambda value: f"{value} noise generator", rank=22))
    clipping: str = row(Choice(
        default="flat", choices=CLIPPINGS, among="a clipping of `dpcore/training/gradients/clipping.py`",
        label="Clipping", help="the way of shortening gradients",
        short=lambda value: CLIPPINGS[value].title, rank=5, unusual=True, of_noise=True, needs=(PRIVACY,)))
    reading: str = row(Choice(
        default="scaled", choices=READINGS, label="Reading", help="of the pi_* optimizers", short=str, rank=3,
        unusual=True, of_noise=True))
    schedule: str = row(Choice(
        default="constant", choices=SCHEDULES, among="a schedule of `dpcore/privacy/schedule.py`",
        label="Noise schedule", help="how sigma changes",
        short=lambda value: f"{value} noise", rank=8, unusual=True, of_noise=True,
        needs=(PRIVACY, NOISE_CHANGES)))
    rate: float = row(Number(
        default=0.0, low=0, label="Rate k", help="of the noise schedule", short=lambda value: f"k {value:g}", rank=9,
        of_noise=True, needs=(PRIVACY, DECAY)))
    level_steps: int = row(Count(
        default=0, unit="steps", label="Steps at one sigma (0: an epoch)", help="steps at one sigma (0: an epoch)",
        of_noise=True, needs=(PRIVACY, DECAY), slider=Slider(1, 10000, coarse=True)))
    lr_schedule: str = row(Choice(
        default="constant", choices=LR_SCHEDULES, label="Learning-rate schedule", help="how the learning rate changes",
        short=lambda value: f"{value} lr", rank=15, unusual=True))
    lr_end: float = row(Number(
        default=0.0, low=0, high=MAX_LR, ends="[]", label="Learning rate at the end",
        help="learning rate that linear and cosine end at", needs=(LR_DECAY,), slider=Slider(1e-4, 10)))
    lr_epochs: float = row(Number(
        default=0.0, unit="epochs", low=0, label="Epochs until then (0: the whole run)",
        help="epochs until then (0: the whole run)", needs=(LR_DECAY,), slider=Slider(0.1, 1000, coarse=True)))
    ema: float = row(Number(
        default=0.0, low=0, high=1, label="Moving average of the weights, decay",
        help="decay of the weights' moving average, evaluated beside them; 0: off", rank=20, unusual=True,
        short=lambda value: f"EMA {value:g}" if value else "no EMA",
        slider=Slider(0.5, 0.9999, "off", "longer", stops=(0, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999),
                      help=help_on("weight_average"))))
    acceptance: str = row(Choice(
        default="none", choices=ACCEPTANCES, label="Acceptance of steps", rank=6, unusual=True,
        help="sa: simulated annealing accepts or rejects each proposal",
        short=lambda value: "SA-DPSGD" if value == "sa" else "accepts all"))
    sa_q0: float = row(Number(
        default=10.0, low=0, label="Q0", help="of sa: inverse temperature per accepted step", needs=(ANNEALED,),
        slider=Slider(0.1, 1000, "accepts more", "accepts less", coarse=True)))
    sa_mu0: int = row(Count(
        default=10, unit="rejections", label="mu0, rejections in a row", needs=(ANNEALED,),
        slider=Slider(1, 1000, coarse=True), help="of sa: rejections in a row after which a proposal is accepted"))
    public: int = row(Count(
        default=0, unit="examples", label="Public examples held out",
        help="last training examples held out as public data",
        short=lambda value: f"{value} public", rank=7, unusual=True,
        needs=(ANNEALED._replace(words="acceptance sa, which judges on it"),),
        slider=Slider(10, 30000, "judges worse", "trains on less", coarse=True, help=help_on("public"))))
    pca: int = row(Count(
        default=0, unit="dimensions", label="DP-PCA dimensions", rank=11, unusual=True,
        help="dimensions of the DP-PCA projection, for models that take vectors; 0: off",
        short=lambda value: f"PCA {value}" if value else "no PCA",
        slider=Slider(1, 784, "off", stops=(0, 10, 20, 40, 60, 100, 200, 400))))
    pca_sigma: float = row(Number(
        default=7.0, low=MIN_SIGMA, high=MAX_SIGMA, ends="[]", label="Sigma of DP-PCA",
        help="noise multiplier of DP-PCA, charged once",
        of_noise=True, needs=(Needs(lambda run: run.pca > 0, "pca"),), slider=NOISIER))
    relevance_sigma: float = row(Number(
        default=10.0, low=MIN_SIGMA, high=MAX_SIGMA, ends="[]", label="Sigma of the relevances", of_noise=True,
        help="noise multiplier of adppl's relevances, charged once",
        needs=(RELEVANCES,), slider=NOISIER))
    stop_epsilon: float = row(Number(
        default=0.0, low=0, label="Stop at epsilon", rank=19, of_noise=True, needs=(PRIVACY,),
        help="stop before the step that would exceed it; 0: off",
        short=lambda value: f"to epsilon {value:g}" if value else "no stop",
        slider=Slider(0.1, 100, "off", "later", stops=(0, 0.5, 1, 2, 3, 4, 5, 8, 10, 20, 50))))
    stop_accountant: str = row(Choice(
        default=CERTIFIED, choices=ACCOUNTANTS, among="an accountant of `dpcore/privacy/accountants/`",
        label="Stop by", help="the accountant whose epsilon stops the run", of_noise=True,
        needs=(Needs(lambda run: run.stop_epsilon > 0, "stop_epsilon"),)))
    width: int = row(Count(
        default=WIDTH, unit="units", low=1, high=MAX_WIDTH, label="Hidden units", shared=True, unusual=True,
        help="units of the hidden layer", short=lambda value: f"{value} hidden units", rank=10, needs=(WIDE,),
        slider=Slider(10, MAX_WIDTH, "faster", "larger", coarse=True)))
    features: str = row(Choice(
        default="pixels", choices=KINDS, among="features of `dpcore/training/features/kinds.py`",
        label="Features", help="the network's input, a fixed function of each image that costs no privacy",
        short=lambda value: KINDS[value].title, rank=10, unusual=True, shared=True, since="2"))
    views: int = row(Count(
        default=1, unit="views", low=1, high=MAX_VIEWS, label="Views of each image", shared=True, unusual=True,
        help="fixed affine views of each image; gradients before clipping, and answers, are averaged over them",
        short=lambda value: f"{value} views", rank=11, needs=(IMAGES,), since="2",
        slider=Slider(1, MAX_VIEWS, "faster", "more accurate", stops=(1, 2, 3, 4, 6, 8, 12, 16))))
    mean_sigma: float = row(Number(
        default=0.0, low=0, high=MAX_SIGMA, ends="[]", label="Sigma of the private mean (0: none is taken off)",
        of_noise=True, unusual=True, shared=True, needs=(IMAGES,), since="2",
        help="noise multiplier of the mean that is taken off every example, charged once; 0: off", rule=off_or_noise,
        short=lambda value: f"mean off at sigma {value:g}" if value else "no mean off", rank=11,
        slider=Slider(1, 1000, "off", stops=(0, 2, 5, 10, 20, 50, 100))))
    pixel_scale: str = row(Choice(
        default="unit", choices=SCALES, label="Scale of grey pixels", shared=True, unusual=True,
        help="unit: from 0 to 1; centred: from -1 to 1", short=lambda value: f"{value} pixels", rank=17,
        needs=(GREY_PIXELS,), since="2"))

# fmt: on


def settings_of(kind: type[Settings]) -> dict[str, Setting]:
    """The rows of a configuration, by name."""
    return {each.name: each.metadata["setting"] for each in fields(kind)}


SETTINGS = settings_of(Settings)
