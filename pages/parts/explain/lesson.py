"""What a guided lesson is made of: scenes that move the controls, texts that compute their numbers, and a question."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from dpcore.data.catalogue import DATASETS
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import Risks
from dpcore.privacy.report.numbers import marked, outward
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import Poisson
from dpcore.training.config import RunConfig
from dpcore.training.models import models_for
from dpcore.training.plan import plan
from dpcore.training.slider_stops import show
from pages.parts.results import cache
from pages.parts.results.odds import PEOPLE, of_hundred

DATASET, SOURCE = "mnist", "sample"  # always here, so that what a lesson shows can be trained
EXAMPLES = DATASETS[DATASET].examples(SOURCE)
ABOUT_HALF, ABOUT_A_THIRD, HARDLY = (0.4, 0.6), (0.27, 0.4), (0.9, 1.1)  # what a ratio is called in an answer


def between(ratio: float, bounds: tuple[float, float]) -> bool:
    """Whether a ratio is what the bounds call it."""
    return bounds[0] <= ratio <= bounds[1]


@dataclass(frozen=True)
class Scene:
    """What the controls are set to, and what accountants say of it."""

    batch: int = 256
    sigma: float = 1.23
    epochs: float = 5.0
    steps: int = 0  # instead of epochs, where it is not 0
    clip_norm: float = 0.1
    delta: float = 1e-5
    accountants: tuple[str, ...] = DEFAULT_ACCOUNTANTS
    sampler: str = Poisson.name

    @property
    def fields(self) -> dict[str, object]:
        """What each control of the page is set to, by its name in the address."""
        length = {"length": "steps", "steps": str(self.steps)} if self.steps else {"length": "epochs"}
        return {
            "dataset": DATASET,
            "source": SOURCE,
            "model": models_for(DATASET)[-1],
            "n": str(EXAMPLES),
            "sampling": "batch",
            "batch": str(self.batch),
            "sigma": show(self.sigma),
            "epochs": show(self.epochs),
            "clip_norm": show(self.clip_norm),
            "delta": show(self.delta),
            "optimizer": "sgd",
            "schedule": "constant",
            "sampler": self.sampler,
            "accountants": list(self.accountants),
            "against": "epoch",
            "scale": "linear",
            **length,
        }

    @cached_property
    def mechanism(self) -> Mechanism:
        """What a run of these settings is charged with: its own plan says so."""
        epochs = self.steps * self.batch / EXAMPLES if self.steps else self.epochs
        named = {"dataset": DATASET, "source": SOURCE, "batch": self.batch, "sigma": self.sigma, "epochs": epochs}
        planned = plan(RunConfig(**named, clip_norm=self.clip_norm, delta=self.delta)).mechanism
        assert planned is not None
        return planned

    @property
    def noise(self) -> float:
        """Standard deviation of the noise on the sum of gradients."""
        return self.sigma * self.clip_norm

    @property
    def risks(self) -> Risks:
        """What the certified band says about any attacker."""
        return cache.risks(self.mechanism, self.delta)

    def curve(self, name: str = CERTIFIED) -> Curve:
        """Epsilon by an accountant at the end."""
        return cache.final(name, self.mechanism, self.delta)

    def epsilon(self, name: str = CERTIFIED) -> float:
        """The number of an accountant."""
        return float(self.curve(name).epsilon[-1])

    @property
    def drawn(self) -> Reading:
        """What is proven of epsilon at the end, of batches that the sampler draws."""
        (release,) = self.mechanism.releases
        return cache.sampled_end(self.sampler, release.q, release.sigma, self.mechanism.steps, self.delta).last

    def ends(self) -> str:
        """Both ends of it, in words."""
        low, high = outward(self.drawn.lower or 0.0, math.floor), outward(self.drawn.value, math.ceil)
        return f"between **{low}** and **{high}** ({SAMPLERS[self.sampler].adjacency})"

    def relative_to(self, other: "Scene", name: str = CERTIFIED) -> float:
        """Epsilon of this scene in units of that of another."""
        return self.epsilon(name) / other.epsilon(name)

    def cost(self, name: str = CERTIFIED) -> str:
        """The same in words that say what kind of number it is."""
        return f"**{marked(self.epsilon(name), self.curve(name).kind)}**"

    def least(self) -> str:
        """The proven lower bound of epsilon, in words."""
        lower = self.curve().lower
        assert lower is not None
        return f"**{outward(float(lower[-1]), math.floor)}**"

    def people(self) -> str:
        """Of 100 people, in how many someone who was even can come to believe."""
        return f"**{of_hundred(self.risks)} of {PEOPLE}**"


@dataclass(frozen=True)
class Step:
    """A scene, and one or two sentences on what to look at."""

    scene: Scene
    look: Callable[[Scene], str]
    runs: tuple[RunConfig, ...] = ()  # queued by one click, drawn on one chart


@dataclass(frozen=True)
class Answer:
    """One of the answers to a question: whether it is right, and why or why not, are computed when it is chosen."""

    text: str
    right: Callable[[], bool]
    why: Callable[[], str]


@dataclass(frozen=True)
class Question:
    """What a lesson ends with, over a last scene."""

    scene: Scene
    asks: Callable[[], str]
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Lesson:
    """A few steps and a question."""

    name: str  # the id, in the address
    title: str
    steps: tuple[Step, ...]
    question: Question

    @property
    def length(self) -> int:
        """Steps, the question included."""
        return len(self.steps) + 1

    def scene(self, step: int) -> Scene:
        """The scene of a step, counted from 1."""
        return self.steps[step - 1].scene if step < self.length else self.question.scene
