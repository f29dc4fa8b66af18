"""What a setting of a run is: its default, its range, its words, what it needs beside it, and its control on a page."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

from dpcore import check


class Needs(NamedTuple):
    """What a setting needs of the others to change anything."""

    holds: Callable[[Any], bool]  # of a configuration
    words: str
    binding: bool = False  # without it the setting must be at its default: any other value contradicts
    ids: Callable[[], Iterable[str]] | None = None  # what of a registry has it


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
    unit: str = ""  # what it counts; empty for a choice, and a number without a dimension
    needs: tuple[Needs, ...] = ()  # without which it changes nothing
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
        return all(need.holds(run) for need in self.needs)

    @property
    def needed(self) -> str:
        """What it needs, in words; empty where it needs nothing."""
        found = ((need.words, f" ({either(need.ids())})" if need.ids else "") for need in self.needs)
        return " and ".join(f"{words}{ids}" for words, ids in found)

    @property
    def unit_said(self) -> str:
        """Its unit as a sentence beside its control; empty where the label says it already."""
        return f"In {self.unit}." if self.unit and self.unit not in self.label.lower() else ""


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
    among: str = ""  # what a registry holds, in words, and where it stands; empty where the choices are the table's own

    def check(self, name: str, value: Any) -> None:
        check.one_of(self.choices, **{name: value})

    @property
    def range(self) -> str:
        return self.among or f"one of {', '.join(str(each) for each in self.choices)}"


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
