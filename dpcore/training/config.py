"""What a run is: flat, JSON, and enough to derive its mechanism without running it (`plan`)."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from dpcore import check
from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.schedule import SCHEDULES
from dpcore.training.combinations import check_combination
from dpcore.training.descent.learning_rate import LR_SCHEDULES
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import ACTIVATIONS, MODELS, models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.readings import READINGS

DEVICES = ("auto", "cpu", "cuda", "mps")
ACCEPTANCES = ("none", "sa")
MAX_STEPS = 1_000_000
CLIP_NORMS = (1e-9, 1e9)  # float32 squares neither underflow nor overflow within


@dataclass(frozen=True)
class RunConfig:
    """One training run. `private=False` is the baseline: no clipping, no noise, the same batches.

    A value: making one checks that its settings go together, and computes nothing else. What follows from it, such as
    the number of steps, is its `plan`.
    """

    dataset: str = "mnist"
    source: str = "sample"  # "sample": bundled; "full": the data root
    model: str = "cnn"
    activation: str = "tanh"
    optimizer: str = "sgd"
    private: bool = True
    sigma: float = 1.23  # noise multiplier
    batch: int = 512  # expected batch q*n
    clip_norm: float = 0.1  # C, L2
    lr: float = 0.5
    momentum: float = 0.9
    epochs: float = 5.0
    delta: float = 1e-5  # what epsilon is shown for; training uses it with stop_epsilon only
    seed: int | None = None  # a fixed one; None: a secret that is drawn for each run and kept beside it
    device: str = "auto"
    clipping: str = "flat"  # "auto_s": C / (norm + 0.01), no minimum with 1; "per_layer": each layer to C
    reading: str = "scaled"  # of pi_*: "literal": transform per example with noisy state; "raw": un-noised, no epsilon
    schedule: str = "constant"  # of sigma, by dpcore.privacy.schedule
    rate: float = 0.0  # of that schedule
    level_steps: int = 0  # steps at one sigma; 0: an epoch
    lr_schedule: str = "constant"
    lr_end: float = 0.0  # the learning rate that "linear" and "cosine" end at
    lr_epochs: float = 0.0  # epochs until then; 0: the whole run
    ema: float = 0.0  # decay of the weights' exponential moving average, evaluated beside them; 0: off
    acceptance: str = "none"  # "sa": simulated annealing accepts or rejects each proposal
    sa_q0: float = 10.0  # Q0: the inverse temperature is Q0 times the accepted steps
    sa_mu0: int = 10  # mu0: after so many rejections in a row the next proposal is accepted
    public: int = 0  # last training examples that are held out as public data: neither trained nor tested on
    pca: int = 0  # dimensions of the DP-PCA projection; 0: off
    pca_sigma: float = 7.0  # its noise multiplier, charged once at q = 1
    relevance_sigma: float = 10.0  # of adppl's relevance sums, charged once at q = 1
    stop_epsilon: float = 0.0  # stop before the step that would exceed it; 0: off
    stop_accountant: str = CERTIFIED

    def __post_init__(self) -> None:
        self._check_names()
        self._check_numbers()
        check_combination(self)
        if self.batch > self.examples:
            raise ValueError(f"Expected batch={self.batch} to be at most the data's {self.examples} examples.")
        check.whole(1, MAX_STEPS, steps=self.steps_of_epochs)

    def _check_names(self) -> None:
        check.one_of(DATASETS, dataset=self.dataset)
        check.one_of(DATASETS[self.dataset].sources, source=self.source)
        check.one_of(MODELS, model=self.model)
        check.one_of(models_for(self.dataset), **{f"{self.dataset}'s model": self.model})
        check.one_of(ACTIVATIONS, activation=self.activation)
        check.one_of(OPTIMIZERS, optimizer=self.optimizer)
        check.one_of(DEVICES, device=self.device)
        check.one_of((True, False), private=self.private)
        check.one_of(CLIPPINGS, clipping=self.clipping)
        check.one_of(READINGS, reading=self.reading)
        check.one_of(SCHEDULES, schedule=self.schedule)
        check.one_of(LR_SCHEDULES, lr_schedule=self.lr_schedule)
        check.one_of(ACCEPTANCES, acceptance=self.acceptance)
        check.one_of(ACCOUNTANTS, stop_accountant=self.stop_accountant)

    def _check_numbers(self) -> None:
        check.in_range(0, math.inf, ends="[)", sigma=self.sigma, rate=self.rate, stop_epsilon=self.stop_epsilon)
        check.in_range(0, math.inf, ends="[)", lr_end=self.lr_end, lr_epochs=self.lr_epochs, sa_q0=self.sa_q0)
        check.in_range(*CLIP_NORMS, clip_norm=self.clip_norm)
        check.positive(lr=self.lr, epochs=self.epochs, pca_sigma=self.pca_sigma, relevance_sigma=self.relevance_sigma)
        check.in_range(0, 1, ends="[)", momentum=self.momentum, ema=self.ema)
        check.delta(delta=self.delta)
        if self.seed is not None:
            check.whole(0, 2**63 - 1, seed=self.seed)
        check.whole(1, batch=self.batch)
        check.whole(0, level_steps=self.level_steps, sa_mu0=self.sa_mu0)
        dataset = DATASETS[self.dataset]
        check.whole(0, dataset.examples(self.source) - 1, public=self.public)
        check.whole(0, math.prod(dataset.shape), pca=self.pca)

    @property
    def examples(self) -> int:
        """Training examples n: without those held out as public data."""
        return DATASETS[self.dataset].examples(self.source) - self.public

    @property
    def shape(self) -> tuple[int, ...]:
        """What the model takes: (channels, height, width) of an image, or the projection's dimensions."""
        return (self.pca,) if self.pca else DATASETS[self.dataset].shape

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
