"""A guided lesson: scenes that move the controls, computed sentences, and a question.

A lesson is written in a file of its own, without Python; docs/adding.md says how.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from dpcore.data.catalogue import DATASETS
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.papers.entry import PrintedSetting
from dpcore.privacy import words_in
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.attack_risk import Risks
from dpcore.privacy.report.numbers import marked, outward, percent
from dpcore.privacy.sampling import SAMPLERS, steps_of_epoch
from dpcore.privacy.sampling.base import Poisson
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from pages.parts.papers.opening import fields_of
from pages.parts.results import cache
from pages.parts.results.odds import PEOPLE, of_hundred
from pages.parts.results.sampled import sampled_end

# Always here, so that what a lesson shows can be trained.
DATASET = "mnist"
SOURCE = "sample"


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
            "sampler": self.sampler,
            "accountants": [*self.accountants],
            "against": "epoch",
            "scale": "linear",
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


@dataclass(frozen=True)
class Lesson:
    """A few scenes with sentences; the last scene is a question."""

    name: str  # the id, in the address
    title: str
    scenes: SimpleNamespace  # by their names in the lesson
    steps: tuple[tuple[Scene, str], ...]
    # Text, why, and right: a number's name -> its value, or its two ends.
    answers: tuple[Mapping[str, Any], ...]
    recipes: tuple[Mapping[str, Any], ...]  # of the runs that one click queues
    ratios: Mapping[str, tuple[str, str]]  # a name -> numerator and denominator: "scene.number"
    # Computes numbers that only this lesson has, from its scenes.
    numbers: Callable[[SimpleNamespace], Mapping[str, Any]] | None

    @property
    def length(self) -> int:
        """The number of steps, with the question."""
        return len(self.steps)

    def scene(self, step: int) -> Scene:
        """The scene of a step, counted from 1."""
        return self.steps[step - 1][0]

    def look(self, step: int) -> str:
        """The sentences of a step."""
        scene, text = self.steps[step - 1]
        return self.fill(text, scene)

    def runs(self, step: int) -> tuple[RunConfig, ...]:
        """The runs that a step offers; none beside the question."""
        if step == self.length:
            return ()
        return tuple(self.scene(step).run(**recipe) for recipe in self.recipes)

    def is_right(self, answer: Mapping[str, Any]) -> bool:
        """True if the numbers meet all conditions of an answer."""
        for name, right in answer["right"].items():
            ends = right if isinstance(right, list) else [right]
            if not ends[0] <= self.number(name) <= ends[-1]:
                return False
        return True

    def number(self, name: str) -> Any:
        """A ratio, or a number (or text) of the lesson."""
        if name in self.ratios:
            over, under = self.ratios[name]
            return attrgetter(over)(self.scenes) / attrgetter(under)(self.scenes)
        return self.own[name]

    @cached_property
    def own(self) -> Mapping[str, Any]:
        """The numbers that only this lesson has, computed once."""
        return self.numbers(self.scenes) if self.numbers else {}

    def fill(self, text: str, scene: Scene) -> str:
        """A text with its names in braces filled in.

        {number} is one of this scene or lesson, {scene.number} one of another scene.
        """
        return text.format_map(_Names(self, scene))


@dataclass(frozen=True)
class _Names:
    lesson: Lesson
    scene: Scene

    def __getitem__(self, name: str) -> Any:
        if hasattr(Scene, name):
            return getattr(self.scene, name)
        return getattr(self.lesson.scenes, name, None) or self.lesson.number(name)


def read(
    file: Path, numbers: Callable[[SimpleNamespace], Mapping[str, Any]] | None = None
) -> Lesson:
    """The lesson in a file; `every_answer` ends the reason of each answer."""
    found = words_in(file)
    scenes = {name: _scene(settings) for name, settings in found["scenes"].items()}
    shared = ""
    if "every_answer" in found:
        shared = f" {found['every_answer']}"
    return Lesson(
        name=file.stem,
        title=found["title"],
        scenes=SimpleNamespace(**scenes),
        steps=tuple((scenes[step["scene"]], step["text"]) for step in found["steps"]),
        answers=tuple({**each, "why": each["why"] + shared} for each in found["answers"]),
        recipes=tuple(found.get("runs", ())),
        ratios=found.get("ratios", {}),
        numbers=numbers,
    )


def _scene(settings: Mapping[str, Any]) -> Scene:
    """A scene of these settings; a file writes 1.0 as 1, and a tuple as a list."""
    values = {}
    for name, value in settings.items():
        kind = type(getattr(Scene, name))
        values[name] = kind(value)
    return Scene(**values)
