"""A guided lesson: scenes that move the controls, computed sentences, and a question.

A lesson is written in a file of its own, without Python; docs/adding.md says how.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from dpcore import check
from dpcore.audit.broken_trainers import BROKEN
from dpcore.privacy import words_in
from dpcore.training.config import RunConfig
from pages.parts.explain.scene import Scene, scene_of

# A lesson's scenes, by their names -> the numbers that only this lesson has.
Numbers = Callable[[SimpleNamespace], Mapping[str, Any]]
LEVELS = ("everyone", "student", "expert")
TARGETS = words_in(Path(__file__).with_name("targets.toml"))


class Step(NamedTuple):
    """A scene, a text with names in braces, and what to look at: names of `TARGETS`."""

    scene: Scene
    text: str
    points: tuple[str, ...] = ()
    fault: str = ""  # the broken trainer whose code is read here


@dataclass(frozen=True)
class Lesson:
    """A few scenes with sentences; where there are answers, the last scene is a question."""

    name: str  # the id, in the address
    title: str
    minutes: int
    level: str  # one of `LEVELS`
    scenes: SimpleNamespace  # by their names in the lesson
    steps: tuple[Step, ...]
    # Text, why, and right: a number's name -> its value, or its two ends.
    answers: tuple[Mapping[str, Any], ...]
    recipes: tuple[Mapping[str, Any], ...]  # of the runs that one click queues
    ratios: Mapping[str, tuple[str, str]]  # a name -> numerator and denominator: "scene.number"
    numbers: Numbers | None  # None: all its numbers are those of scenes, and ratios

    @property
    def length(self) -> int:
        """The number of steps, with the question."""
        return len(self.steps)

    def scene(self, step: int) -> Scene:
        """The scene of a step, counted from 1."""
        return self.steps[step - 1].scene

    def asks(self, step: int) -> bool:
        """True if a step is the question."""
        return bool(self.answers) and step == self.length

    def targets(self, step: int) -> list[str]:
        """The names of what a step points at: controls that have just moved, and more."""
        scene = self.scene(step)
        moved = []
        if step > 1:
            before = self.scene(step - 1)
            for field in fields(Scene):
                if getattr(before, field.name) != getattr(scene, field.name):
                    moved.append(field.name)
        return list(dict.fromkeys([*moved, *self.steps[step - 1].points]))

    def look(self, step: int) -> str:
        """The sentences of a step."""
        found = self.steps[step - 1]
        return self.fill(found.text, found.scene)

    def runs(self, step: int) -> tuple[RunConfig, ...]:
        """The runs that a step offers; none beside the question."""
        if self.asks(step):
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


def read(file: Path, numbers: Numbers | None) -> Lesson:
    """The lesson in a file; `every_answer` ends the reason of each answer.

    Errors: ValueError for a level or a target that is not known.
    """
    found = words_in(file)
    check.one_of(LEVELS, level=found["level"])
    scenes = {name: scene_of(settings) for name, settings in found["scenes"].items()}
    shared = ""
    if "every_answer" in found:
        shared = f" {found['every_answer']}"
    return Lesson(
        name=file.stem,
        title=found["title"],
        minutes=found["minutes"],
        level=found["level"],
        scenes=SimpleNamespace(**scenes),
        steps=tuple(_step(step, scenes) for step in found["steps"]),
        answers=tuple({**each, "why": each["why"] + shared} for each in found.get("answers", ())),
        recipes=tuple(found.get("runs", ())),
        ratios=found.get("ratios", {}),
        numbers=numbers,
    )


def _step(found: Mapping[str, Any], scenes: Mapping[str, Scene]) -> Step:
    for name in found["points"]:
        check.one_of(TARGETS, points=name)
    text = found["text"]
    if "head" in found:
        text = f"**{found['head']}** {text}"
    fault = found.get("fault", "")
    if fault:
        check.one_of(BROKEN, fault=fault)
    return Step(scenes[found["scene"]], text, tuple(found["points"]), fault)
