"""One paper: its numbers, its figures drawn again, its claims and what holds of them, the gaps in its proofs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from dpcore.papers.entry import Computed, Entry, Trained
from dpcore.privacy.mechanism import FloatArray, IntArray
from dpcore.training.config import RunConfig
from dpcore.training.perturbation.request import Request

TextRows = tuple[tuple[str, ...], ...]  # a text for each column
SEEDS = 3  # of each run whose claim hangs on less than a point, which seeds differ by as well


@dataclass(frozen=True)
class Rung:
    """A recipe at each epsilon."""

    name: str
    configs: tuple[tuple[float, RunConfig], ...]  # (epsilon, the run whose certified epsilon is at most that)
    plain: RunConfig  # without privacy: what is between the two is the price of it

    def at(self, epsilon: float) -> RunConfig:
        """The run at this epsilon. Errors: KeyError for an epsilon that it is not trained at."""
        return dict(self.configs)[epsilon]


@dataclass(frozen=True)
class Ladder:
    """A figure of accuracy against epsilon, a curve for each rung."""

    place: str
    title: str
    rungs: tuple[Rung, ...]  # the plainest first
    note: str = ""

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Those that every rung is trained at."""
        return tuple(epsilon for epsilon, _ in self.rungs[0].configs)

    @property
    def runs(self) -> tuple[tuple[str, RunConfig], ...]:
        """Every run with what it is called, those without privacy last."""
        private = [
            (f"{rung.name}, epsilon {epsilon:g}", config) for rung in self.rungs for epsilon, config in rung.configs
        ]
        return (*private, *((f"{rung.name}, without privacy", rung.plain) for rung in self.rungs))


@dataclass(frozen=True)
class Line:
    """One curve of a figure."""

    name: str
    x: FloatArray
    y: FloatArray
    accountant: str = ""  # whose colour and dash it takes; "" for any other
    lower: bool = False  # whether it is a proven lower bound, of the line before it


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
    from_zero: bool = True  # whether a linear y axis begins at 0
    note: str = ""


@dataclass(frozen=True)
class Area:
    """One of the kinds of cells that a map has."""

    word: str  # "below the band"
    text: str  # what it means, a sentence


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a map."""

    x: FloatArray  # (X,) increasing
    y: FloatArray  # (Y,) increasing
    area: IntArray  # (Y, X) which of the map's areas it belongs to
    said: tuple[tuple[str, ...], ...]  # (Y, X) what it is, in words and with its numbers


@dataclass(frozen=True)
class Map:
    """Where in a plane of settings something holds: each cell belongs to one area and says in words what it is."""

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
    usual: float  # what it is unless somebody says otherwise
    low: float
    high: float
    whole: bool = False


@dataclass(frozen=True)
class Calculator:
    """A table of formulas of the paper, filled in for the numbers that somebody asks about."""

    place: str  # "Table 1"
    title: str
    asks: tuple[Quantity, ...]
    columns: tuple[str, ...]
    rows: Callable[[Mapping[str, float]], TextRows]  # of values by name; ValueError for bad ones
    note: str = ""

    @property
    def usual(self) -> dict[str, float]:
        """The values that it is filled in for unless somebody says otherwise."""
        return {each.name: each.usual for each in self.asks}


@dataclass(frozen=True)
class Sweep:
    """A figure of accuracies of runs that differ in one setting and in what follows it; few of them are printed."""

    place: str  # "Figure 7(b)"
    title: str
    setting: str  # the row of `Settings` that changes
    configs: tuple[RunConfig, ...]  # in the order of its values
    note: str = ""  # what the paper says of it, and which values are ours
    along: tuple[str, ...] = ()  # settings that follow the one that changes, as the paper has them


@dataclass(frozen=True)
class CheckedClaim:
    """A claim of the paper in one line, and what holds of it, told with numbers that are computed."""

    claim: str
    holds: Callable[[], str]


@dataclass(frozen=True)
class Remark:
    """A gap in a proof or a silence of the text, named at its place."""

    place: str
    text: str


@dataclass(frozen=True)
class Experiment:
    """A figure that compares places of the noise: its values are not printed, but the comparison can be made here."""

    place: str  # "Figure 4 (a, d)"
    title: str  # what is compared
    request: Request


@dataclass(frozen=True)
class Paper:
    """A paper: its numbers that can be computed or trained here, and what is said of it."""

    id: str  # "004"
    short: str  # "Gaussian DP"
    title: str
    authors: str
    published: str  # year, journal, and arXiv number where there is one
    about: str  # what it brings, in one or two sentences
    entries: tuple[Entry, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    maps: tuple[Map, ...] = ()
    calculators: tuple[Calculator, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    ladders: tuple[Ladder, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    findings: tuple[CheckedClaim, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @cached_property
    def computed(self) -> tuple[Computed, ...]:
        """The numbers that follow from accounting."""
        return tuple(each for each in self.entries if isinstance(each, Computed))

    @cached_property
    def trained(self) -> tuple[Trained, ...]:
        """The accuracies."""
        return tuple(each for each in self.entries if isinstance(each, Trained))
