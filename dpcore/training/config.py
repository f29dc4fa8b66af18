"""What a run is: flat, JSON, and enough to derive its mechanism without running it."""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from dpcore import check
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.optimizers import OPTIMIZERS

EXAMPLES = {  # training examples of each (dataset, source); tests check it against the data
    ("mnist", "sample"): 10_000,
    ("mnist", "full"): 60_000,
    ("fashion_mnist", "sample"): 10_000,
    ("fashion_mnist", "full"): 60_000,
}
MODELS = ("mlp", "cnn")
ACTIVATIONS = ("tanh", "relu")
DEVICES = ("auto", "cpu", "cuda", "mps")
MAX_STEPS = 1_000_000
CLIP_NORMS = (1e-9, 1e9)  # float32 squares neither underflow nor overflow within


@dataclass(frozen=True)
class RunConfig:
    """One training run. `private=False` is the baseline: no clipping, no noise, the same batches."""

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
    delta: float = 1e-5  # only for showing epsilon; training does not use it
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        check.one_of(dict.fromkeys(dataset for dataset, _ in EXAMPLES), dataset=self.dataset)
        check.one_of(("sample", "full"), source=self.source)
        check.one_of(MODELS, model=self.model)
        check.one_of(ACTIVATIONS, activation=self.activation)
        check.one_of(OPTIMIZERS, optimizer=self.optimizer)
        check.one_of(DEVICES, device=self.device)
        check.one_of((True, False), private=self.private)
        check.in_range(0, math.inf, ends="[)", sigma=self.sigma)
        check.in_range(*CLIP_NORMS, clip_norm=self.clip_norm)
        check.positive(lr=self.lr, epochs=self.epochs)
        check.in_range(0, 1, ends="[)", momentum=self.momentum)
        check.in_range(0, 1, ends="()", delta=self.delta)
        check.whole(0, 2**63 - 1, seed=self.seed)
        check.whole(1, batch=self.batch)
        if self.batch > self.examples:
            raise ValueError(f"Expected batch={self.batch} to be at most the data's {self.examples} examples.")
        check.whole(1, MAX_STEPS, steps=self.steps)

    @property
    def examples(self) -> int:
        """Training examples n."""
        return EXAMPLES[self.dataset, self.source]

    @property
    def q(self) -> float:
        """Poisson sampling rate: every example enters a step with this probability."""
        return self.batch / self.examples

    @property
    def steps(self) -> int:
        """T: the epochs in steps of the expected batch, rounded up."""
        return math.ceil(self.epochs * self.examples / self.batch - 1e-9)

    def to_json(self) -> dict[str, Any]:
        """A flat JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RunConfig":
        """The config that `to_json` wrote; an unknown key is an error."""
        check.one_of([field.name for field in fields(cls)], **{f"key {key}": key for key in values})
        return cls(**values)


def mechanism_of(config: RunConfig) -> Mechanism | None:
    """What the run releases: exactly the sigma and q that the engine draws. None where nothing is private."""
    if not config.private or config.sigma == 0:
        return None
    return Mechanism.constant(config.q, config.sigma, config.steps)
