"""One paper: its numbers, its figures drawn again, its claims and what holds of them, the gaps in its proofs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from dpcore.papers.entry import Computed, Entry, Trained
from dpcore.privacy.types import FloatArray


@dataclass(frozen=True)
class Line:
    """One curve of a figure."""

    name: str
    x: FloatArray
    y: FloatArray
    accountant: str = ""  # whose colour and dash it takes; "" for any other


@dataclass(frozen=True)
class Drawing:
    """A figure of a paper, drawn again from what is computed here."""

    place: str  # "Figure 2"
    title: str
    x: str  # titles of the axes
    y: str
    lines: Callable[[], tuple[Line, ...]]
    log_x: bool = False
    log_y: bool = False
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """A claim of the paper in one line, and what holds of it, told with numbers that are computed."""

    claim: str
    holds: Callable[[], str]


@dataclass(frozen=True)
class Remark:
    """A gap in a proof or a silence of the text, named at its place."""

    place: str
    text: str


@dataclass(frozen=True)
class Paper:
    """What one of the five papers says that can be computed or trained here."""

    id: str  # "004"
    short: str  # "Gaussian DP"
    title: str
    authors: str
    published: str  # year, journal, and arXiv number where there is one
    about: str  # what it brings, in one or two sentences
    entries: tuple[Entry, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    findings: tuple[Finding, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @cached_property
    def computed(self) -> tuple[Computed, ...]:
        """The numbers that follow from accounting."""
        return tuple(each for each in self.entries if isinstance(each, Computed))

    @cached_property
    def trained(self) -> tuple[Trained, ...]:
        """The accuracies."""
        return tuple(each for each in self.entries if isinstance(each, Trained))
