"""What a setting of a run is: its default, its range, its words, what it needs beside it, and its control on a page."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, final

from dpcore import check

# Of a configuration: whether it has what the setting needs; that in words, which may follow a registry.
Needs = tuple[Callable[[Any], bool], str | Callable[[], str]]


@dataclass(frozen=True)
class Slider:
    """A number's control: where its slider ends, and what it means to go left and right."""

    low: float
    high: float
    left: str = ""
    right: str = ""
    help: str = ""
    stops: tuple[float, ...] = ()  # where round numbers from low to high do not suit
    coarse: bool = False


@dataclass(frozen=True, kw_only=True)
class Setting(ABC):
    """One row of the table of settings."""

    default: Any
    help: str  # of its option and its line in the documentation
    label: str  # of its control
    short: Callable[[Any], str] | None = None  # its value in the label of a run; None: its name and value
    rank: int = 99  # the lower, the sooner it is named where runs differ in several settings
    unusual: bool = False  # named in every description of a run that does not have the default
    of_noise: bool = False  # says nothing of a run without clipping and noise
    shared: bool = False  # a baseline has it as a private run has
    needs: Needs | None = None  # without which it changes nothing
    since: str = "1"  # the version that it came with

    @abstractmethod
    def check(self, name: str, value: Any) -> None:
        """Raise ValueError unless the value is one that the setting can have, whatever the others are."""

    @property
    @abstractmethod
    def range(self) -> str:
        """What it can be, in words."""

    def is_used(self, run: Any) -> bool:
        """Whether it changes anything of the run, beside the run's other settings."""
        return self.needs is None or self.needs[0](run)

    @property
    def needed(self) -> str:
        """What it needs, in words; empty where it needs nothing."""
        words = self.needs[1] if self.needs else ""
        return words if isinstance(words, str) else words()


@final
@dataclass(frozen=True, kw_only=True)
class Number(Setting):
    """A number in a range."""

    low: float
    high: float = math.inf
    ends: str = "[)"
    rule: Callable[..., None] | None = None  # of dpcore.check, in place of the range's, which then only describes it
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
    none: str = ""  # what None means; empty where it cannot be
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
    """One of several, by its id; `choices` may be a registry, and then what is registered later counts too."""

    choices: Collection[Any]

    def check(self, name: str, value: Any) -> None:
        check.one_of(self.choices, **{name: value})

    @property
    def range(self) -> str:
        return f"one of {', '.join(str(each) for each in self.choices)}"


def either(names: Iterable[str]) -> str:
    """The names as a list in a sentence.

    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def row(setting: Setting) -> Any:
    """The field of a dataclass that the setting describes."""
    return field(default=setting.default, metadata={"setting": setting})
