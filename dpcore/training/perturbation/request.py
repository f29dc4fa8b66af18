"""Request of a comparison: flat, JSON, and checked when it is made; free of torch, so that pages
may import it.
"""

from dataclasses import asdict, dataclass
from typing import Any

from dpcore import check
from dpcore.data.tabular import TABLES
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.task import Task

# The paper's lie between 0.01 and 0.25.
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MAX_EPSILONS = 50
MAX_SEEDS = 100
MAX_STEPS = 100_000
MIN_EPSILON = 1e-4
MAX_EPSILON = 1e6
MAX_REGULARISER = 1e3
MAX_RATE = 1e6


@dataclass(frozen=True)
class Request:
    """Settings of one comparison. Making one checks them, and reads no data.

    >>> Request.from_json(Request(epsilons=(1.0,)).to_json()).epsilons
    (1.0,)
    """

    dataset: str = "breast_cancer"  # a table of `dpcore/data/tabular`
    classes: tuple[str, ...] = ()  # two, the second maybe "rest"; none: the first two
    model: str = "logistic"
    methods: tuple[str, ...] = tuple(METHODS)
    epsilons: tuple[float, ...] = EPSILONS
    delta: float = 1e-5
    seeds: int = 10  # fits of each method at each epsilon, each with its own noise
    # Fixed: anybody who knows it can draw the noise again; None: a fresh secret.
    seed: int | None = None
    steps: int = 50  # T of gradient descent
    # Alpha of gradient descent; None: the largest that output perturbation allows.
    rate: float | None = None
    regulariser: float = 0.01  # Dl: the objective has (Dl / 2) |theta|^2
    clip_norm: float = 1.0  # G of a model whose gradients have no bound

    def __post_init__(self) -> None:
        for name in ("classes", "methods", "epsilons"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check.one_of(TABLES, dataset=self.dataset)
        TABLES[self.dataset].pair(self.classes)
        check.one_of(MODELS, model=self.model)
        if not self.methods:
            raise ValueError("Expected at least one method.")
        for place, name in enumerate(self.methods, 1):
            check.one_of(METHODS, **{f"method {place}": name})
        check.whole(1, MAX_EPSILONS, **{"number of epsilons": len(self.epsilons)})
        for epsilon in self.epsilons:
            check.in_range(MIN_EPSILON, MAX_EPSILON, epsilon=epsilon)
        for name in ("methods", "epsilons"):
            if len(set(getattr(self, name))) < len(getattr(self, name)):
                raise ValueError(
                    f"Expected each of {name} once: a second one would draw the same noise."
                )
        check.delta(delta=self.delta)
        check.whole(1, MAX_SEEDS, seeds=self.seeds)
        check.whole(1, MAX_STEPS, steps=self.steps)
        check.in_range(0, MAX_REGULARISER, regulariser=self.regulariser)
        check.in_range(1e-6, 1e6, clip_norm=self.clip_norm)
        if self.seed is not None:
            check.whole(0, 2**63 - 1, seed=self.seed)
        if self.rate is not None:
            check.in_range(0, MAX_RATE, ends="(]", rate=self.rate)

    @property
    def results(self) -> int:
        """Number of results: each method at each epsilon, or once if it takes none."""
        alone = sum(not METHODS[name].takes_epsilon for name in self.methods)
        return alone + (len(self.methods) - alone) * len(self.epsilons)

    def task(self, examples: int, features: int) -> Task:
        """Return the public facts of its fits on so many rows."""
        return Task(
            self.model,
            examples,
            features,
            self.delta,
            self.steps,
            self.rate,
            self.regulariser,
            self.clip_norm,
        )

    def to_json(self) -> dict[str, Any]:
        """Return a flat JSON object."""
        tuples = {name: list(getattr(self, name)) for name in ("classes", "methods", "epsilons")}
        return asdict(self) | tuples

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Request":
        """Return the request that `to_json` wrote; an unknown key is an error."""
        known = list(cls.__dataclass_fields__)
        check.one_of(known, **{f"key {key}": key for key in values})
        return cls(**values)
