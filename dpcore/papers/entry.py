"""A number that a paper prints at one place, and the way to compute or train the same here."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import DIGITS
from dpcore.privacy.schedule import Recipe
from dpcore.training.config import RunConfig, idle
from dpcore.training.settings import SETTINGS

POINTS = 1.0  # percentage points of test accuracy that a training run may differ by unless its entry says otherwise
FEWER_POINTS = 0.5  # where a claim hangs on less than a point: about two standard deviations over seeds on MNIST
ROUNDING = 1e-9  # of a float's own, beside half a unit of the last digit that is printed


@dataclass(frozen=True)
class PrintedSetting:
    """A setting as the pages' controls have it, so that it can be opened there."""

    n: int
    batch: int
    sigma: float
    epochs: float
    clip_norm: float = 1.0
    optimizer: str = "sgd"
    delta: float = 1e-5
    schedule: str = "constant"
    rate: float = 0.0
    dataset: str = ""  # empty where none is meant that everybody can train on

    @property
    def q(self) -> float:
        """The sampling rate."""
        return self.batch / self.n

    @property
    def steps(self) -> float:
        """The steps of all its epochs, which need not be a whole number."""
        return self.epochs * self.n / self.batch

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of its steps, rounded up."""
        return Recipe(self.schedule, self.rate, 0).mechanism(self.q, self.sigma, math.ceil(self.steps - 1e-9))


@dataclass(frozen=True)
class PrintedClaim:
    """That a mechanism is private with a printed epsilon, at this delta. The certified bounds judge it."""

    mechanism: Mechanism
    delta: float


@dataclass(frozen=True)
class Entry:
    """A number that a paper prints."""

    place: str  # where: "Table 1, row 2"
    quantity: str  # what: "epsilon of the central limit theorem"
    printed: str  # as the paper prints it: "0.83"
    because: str = ""  # why ours differs, a whole sentence; of a run: what in it is not the paper's, said in any case
    note: str = ""  # what a reader has to know to compare the two
    setting: PrintedSetting | None = None  # what to open on the other pages
    within: float | None = None  # how far ours may lie from the printed number; None: half a unit of its last digit

    NUMBER: ClassVar[re.Pattern[str]] = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")

    @property
    def theirs(self) -> float:
        """The printed number.

        >>> Entry("Table 1", "epsilon", "0.83").theirs
        0.83
        """
        return float(self._number)

    @property
    def tolerance(self) -> float:
        """The distance that ours may have from the printed number.

        >>> round(Entry("Table 1", "epsilon", "0.83").tolerance, 6), Entry("", "", "1.2e-5").tolerance < 6e-7
        (0.005, True)
        """
        return self.half_unit if self.within is None else self.within

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit: how far the printed number may lie from the one that was meant."""
        exponent = Decimal(self._number).as_tuple().exponent
        return 0.5 * 10.0 ** int(exponent) + ROUNDING * abs(self.theirs)

    @property
    def digits(self) -> int:
        """Significant digits in which ours is shown beside theirs: one more, and three at least.

        >>> Entry("Table 1", "epsilon", "0.83").digits, Entry("Table 1", "epsilon", "31.12").digits
        (3, 5)
        """
        return max(DIGITS, len(Decimal(self._number).as_tuple().digits) + 1)

    @property
    def _number(self) -> str:
        found = self.NUMBER.search(self.printed.replace(",", ""))
        if found is None:
            raise ValueError(f"Expected printed={self.printed!r} to hold a number.")
        return found.group()


@dataclass(frozen=True, kw_only=True)
class Computed(Entry):
    """A number that follows from accounting alone."""

    ours: Callable[[], float]
    claim: PrintedClaim | None = None  # that it is an epsilon which a mechanism keeps
    bound: bool = False  # whether ours is a proven upper bound, which is rounded up wherever it is read


@dataclass(frozen=True, kw_only=True)
class Trained(Entry):
    """A test accuracy in per cent, or an error: the mean over seeds of recorded runs of `config`."""

    config: RunConfig
    within: float | None = POINTS
    seeds: int = 1  # how many are recorded: several where a claim hangs on less than a point
    watched: bool = False  # whether accuracies on the way are recorded, too, for a figure


def accuracy(
    place: str,
    quantity: str,
    printed: str,
    config: RunConfig,
    because: str = "",
    seeds: int = 1,
    *,
    note: str = "",
    within: float | None = None,
    watched: bool = False,
) -> Trained:
    """A printed test accuracy with the setting that opens its run on the other pages.

    `within` says how many points ours may differ by; None: one, or half a point where several seeds are recorded.
    """
    return Trained(
        place,
        quantity,
        printed,
        because,
        note,
        setting=setting_of(config),
        within=within or (POINTS if seeds == 1 else FEWER_POINTS),
        config=config,
        seeds=seeds,
        watched=watched,
    )


def without_privacy(config: RunConfig, **changed: Any) -> RunConfig:
    """The run without clipping and noise; what then has no say is at its default."""
    bare = replace(config, private=False, **changed)
    return replace(bare, **{name: SETTINGS[name].default for name in idle(bare)})


def setting_of(config: RunConfig) -> PrintedSetting | None:
    """A run's settings that the pages' controls have; None for one without noise, or of a length that epsilon decides.

    >>> setting_of(RunConfig(sigma=2.0, batch=100)).mechanism.steps
    500
    """
    if not (config.private and config.sigma) or config.stop_epsilon:
        return None
    return PrintedSetting(
        n=config.examples,
        batch=config.batch,
        sigma=config.sigma,
        epochs=config.epochs,
        clip_norm=config.clip_norm,
        optimizer=config.optimizer,
        delta=config.delta,
        schedule=config.schedule,
        rate=config.rate,
        dataset=config.dataset,
    )
