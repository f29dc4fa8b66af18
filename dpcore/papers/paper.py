"""A paper: its numbers, figures and claims, what holds of them, and the gaps in its proofs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dpcore.papers.entry import Row, Trained
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.privacy.report.numbers import value_text
from dpcore.training.config import RunConfig
from dpcore.training.perturbation.request import Request

TextRows = tuple[tuple[str, ...], ...]  # a text for each column
SEEDS = 3  # of each run whose claim is about less than a point, by which seeds differ too


@dataclass(frozen=True)
class Line:
    """One curve of a figure."""

    name: str
    x: FloatArray
    y: FloatArray
    accountant: str = ""  # gives the colour and dash; "" for any other line
    lower: bool = False  # True for a proven lower bound of the line before it


Lines = Sequence[Line]


@dataclass(frozen=True)
class Drawing:
    """A figure of a paper, computed and drawn again."""

    place: str  # "Figure 2"
    title: str
    x: str  # titles of the axes
    y: str
    lines: Callable[[], Lines]
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = True  # True if a linear y axis begins at 0
    note: str = ""


@dataclass(frozen=True)
class Area:
    """A kind of cells of a map."""

    word: str  # "below the band"
    text: str  # its meaning, a sentence


@dataclass(frozen=True, eq=False)
class Cells:
    x: FloatArray  # (X,) increasing
    y: FloatArray  # (Y,) increasing
    area: IntArray  # (Y, X) number of the map's area
    said: tuple[tuple[str, ...], ...]  # (Y, X) in words, with its numbers


@dataclass(frozen=True)
class Map:
    """A map of a plane of settings: each cell belongs to one area and has a text."""

    place: str  # "Theorem 3"
    title: str
    x: str  # titles of the axes
    y: str
    areas: tuple[Area, ...]  # the worst first
    cells: Callable[[], Cells]
    log_x: bool = False
    log_y: bool = False
    note: str = ""


@dataclass(frozen=True)
class Quantity:
    """A number that a calculator asks for."""

    name: str  # "epsilon"
    label: str  # "privacy loss epsilon"
    usual: float  # the default
    low: float
    high: float
    whole: bool = False


@dataclass(frozen=True)
class Calculator:
    """A table of the paper's formulas, filled in with the reader's numbers."""

    place: str  # "Table 1"
    title: str
    asks: tuple[Quantity, ...]
    columns: tuple[str, ...]
    rows: Callable[[Mapping[str, float]], TextRows]  # of values by name; ValueError for bad ones
    note: str = ""

    @property
    def usual(self) -> dict[str, float]:
        return {each.name: each.usual for each in self.asks}


@dataclass(frozen=True)
class Curve:
    """Runs at each value of a grid."""

    configs: tuple[RunConfig, ...]
    recipe: str = ""  # what they have in common; "" for the only curve of a figure
    plain: RunConfig | None = None  # without privacy: the difference is the price of privacy


@dataclass(frozen=True)
class Grid:
    """A figure of accuracies of runs, a curve for each recipe; few of its numbers are printed."""

    place: str  # "Figure 7(b)"
    title: str
    setting: str  # that changes along a curve; or "epsilon", which the runs spend
    values: tuple[float, ...]
    curves: tuple[Curve, ...]  # the plainest first
    note: str = ""  # the paper's words on it, and the values that are ours
    along: tuple[str, ...] = ()  # settings that follow the one that changes, as the paper has them
    seeds: int = 1  # to record

    @property
    def of_recipes(self) -> bool:
        """True if its curves are recipes at several epsilons."""
        return bool(self.curves[0].recipe)

    @property
    def runs(self) -> tuple[tuple[str, RunConfig], ...]:
        """Every run with its name, those without privacy last."""
        found = []
        plain = []
        for curve in self.curves:
            name = f"{curve.recipe}, epsilon" if curve.recipe else f"{self.title},"
            for value, config in zip(self.values, curve.configs, strict=True):
                found.append((f"{name} {value_text(value)}", config))
            if curve.plain:
                plain.append((f"{curve.recipe}, without privacy", curve.plain))
        return (*found, *plain)


@dataclass(frozen=True)
class CheckedClaim:
    """A claim of the paper in one line, and what holds of it, with computed numbers."""

    claim: str
    holds: Callable[[], str]


@dataclass(frozen=True)
class Remark:
    """A gap in a proof or an omission of the text, with its place."""

    place: str
    text: str


@dataclass(frozen=True)
class Experiment:
    """A figure that compares places of the noise; it prints no values, and can be drawn here."""

    place: str  # "Figure 4 (a, d)"
    title: str
    request: Request


@dataclass(frozen=True)
class Run:
    """A run that a paper asks for."""

    label: str  # "Table 1, row 1: test accuracy"
    config: RunConfig
    seeds: int  # to record


@dataclass(frozen=True)
class Paper:
    """A paper, with its numbers that can be computed or trained here."""

    id: str  # "004"
    short: str  # "Gaussian DP"
    title: str
    authors: str
    published: str  # year, journal, and arXiv number where there is one
    about: str  # its contribution, in one or two sentences
    entries: tuple[Row, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    maps: tuple[Map, ...] = ()
    calculators: tuple[Calculator, ...] = ()
    grids: tuple[Grid, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    findings: tuple[CheckedClaim, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @cached_property
    def trained(self) -> tuple[Trained, ...]:
        """The accuracies."""
        return tuple(each for each in self.entries if isinstance(each, Trained))

    @property
    def printed_runs(self) -> list[Run]:
        """The runs of its accuracies."""
        return [
            Run(f"{each.place}: {each.quantity}", each.config, each.seeds) for each in self.trained
        ]

    @property
    def figure_runs(self) -> list[Run]:
        """The runs of the points of its figures."""
        found = []
        for grid in self.grids:
            for name, config in grid.runs:
                found.append(Run(f"{grid.place}: {name}", config, grid.seeds))
        return found
