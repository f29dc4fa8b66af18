"""A printed number, and the computation or training run that gives ours."""

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

# Percentage points by which a test accuracy may differ, unless its entry says otherwise.
POINTS = 1.0
# For claims about less than a point: about two standard deviations over seeds on MNIST.
FEWER_POINTS = 0.5
ROUNDING = 1e-9  # relative, beside half a unit of the last printed digit


@dataclass(frozen=True)
class PrintedClaim:
    """A claim that a mechanism keeps a printed epsilon at this delta.

    The certified bounds judge it.
    """

    mechanism: Mechanism
    delta: float


@dataclass(frozen=True)
class PrintedSetting:
    """A setting that can be opened in the controls of the pages."""

    n: int
    batch: int
    sigma: float
    epochs: float
    clip_norm: float = 1.0
    optimizer: str = "sgd"
    delta: float = 1e-5
    schedule: str = "constant"
    rate: float = 0.0
    dataset: str = ""  # empty for data that not everybody can train on

    @property
    def q(self) -> float:
        return self.batch / self.n

    @property
    def steps(self) -> float:
        """The steps of all its epochs, maybe not a whole number."""
        return self.epochs * self.n / self.batch

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of its steps, rounded up."""
        return self.after(math.ceil(self.steps - 1e-9))

    @property
    def claim(self) -> PrintedClaim:
        """The claim that its steps, rounded up, keep an epsilon."""
        return PrintedClaim(self.mechanism, self.delta)

    def after(self, steps: int) -> Mechanism:
        """Return the mechanism of so many steps."""
        return Recipe(self.schedule, self.rate, 0).mechanism(self.q, self.sigma, steps)


@dataclass(frozen=True)
class Entry:
    """A number that a paper prints."""

    place: str  # "Table 1, row 2"
    quantity: str  # "epsilon of the central limit theorem"
    printed: str  # as the paper prints it: "0.83"
    because: str = ""  # a sentence on why ours differs; for a run, its differences from the paper's
    note: str = ""  # facts needed to compare the two
    within: float | None = None  # tolerance; None: half a unit of the last printed digit

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
        """Largest difference from the printed number that counts as reproduced.

        >>> round(Entry("Table 1", "epsilon", "0.83").tolerance, 6)
        0.005
        >>> Entry("", "", "1.2e-5").tolerance < 6e-7
        True
        """
        return self.half_unit if self.within is None else self.within

    @property
    def half_unit(self) -> float:
        """Half a unit of the last printed digit, the error of printing."""
        exponent = Decimal(self._number).as_tuple().exponent
        return 0.5 * 10.0 ** int(exponent) + ROUNDING * abs(self.theirs)

    @property
    def digits(self) -> int:
        """Significant digits of our number: one more than theirs, and at least three.

        >>> Entry("Table 1", "epsilon", "0.83").digits, Entry("Table 1", "epsilon", "31.12").digits
        (3, 5)
        """
        theirs = Decimal(self._number).as_tuple().digits
        return max(DIGITS, len(theirs) + 1)

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
    setting: PrintedSetting | None = None  # opens on the other pages
    claim: PrintedClaim | None = None  # the promise of privacy that it makes
    bound: bool = False  # True if ours is a proven upper bound, which is rounded up in writing


@dataclass(frozen=True, kw_only=True)
class Trained(Entry):
    """A test accuracy in percent, or an error: the mean over seeds of recorded runs of `config`."""

    config: RunConfig
    within: float | None = POINTS
    seeds: int = 1  # to record: several if a claim is about less than a point
    watched: bool = False  # True if a figure needs accuracies on the way

    @property
    def setting(self) -> PrintedSetting | None:
        """The run's setting, which opens on the other pages."""
        return setting_of(self.config)


Row = Computed | Trained  # of a paper's tables


def without_privacy(config: RunConfig, **changed: Any) -> RunConfig:
    """Return the run without clipping and noise; settings without effect get their defaults."""
    bare = replace(config, private=False, **changed)
    defaults = {name: SETTINGS[name].default for name in idle(bare)}
    return replace(bare, **defaults)


def setting_of(config: RunConfig) -> PrintedSetting | None:
    """Return a run's settings for the controls.

    None for a run without noise, and for one that ends at an epsilon.

    >>> setting_of(RunConfig(sigma=2.0, batch=100)).mechanism.steps
    500
    """
    noisy = config.private and config.sigma
    if not noisy or config.stop_epsilon:
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
