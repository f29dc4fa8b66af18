"""Noise schedules: recipes from a first sigma to one sigma per level, and to a mechanism."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpcore import check
from dpcore.privacy.mechanism import MAX_SIGMA, MIN_SIGMA, Mechanism, Release

MAX_LEVELS = 2000
STEP_PERIOD = 10  # levels between two falls of `step`, as in the paper's MNIST code
POLYNOMIAL_PERIOD = 100  # levels until `polynomial` stops falling, as in that code
POLYNOMIAL_END = 0.2  # share of the first sigma that remains: in that code 10 falls to 2
# Levels that `delayed` keeps the first sigma; ours, since the paper's cancer code keeps it for 300
# steps.
HOLD = 10


@dataclass(frozen=True)
class Rate:
    """The default rate k of a schedule, and the ends of its slider."""

    default: float
    low: float
    high: float


@dataclass(frozen=True)
class Schedule:
    """A rule by which sigma changes from level to level."""

    name: str  # the id, as on the command line
    title: str  # as on a page
    note: str  # one line on sigma, with the rate k and the level e, from 0
    source: str
    factor: Callable[[float, int], float]  # (k, e) -> sigma of level e >= 1 over the first sigma
    rate: Rate | None  # None: sigma is constant

    def changes_sigma(self, rate: float) -> bool:
        """True if sigma differs from the first one in any level, at that rate.

        >>> [SCHEDULES["step"].changes_sigma(rate) for rate in (0.6, 1.0)]
        [True, False]
        """
        return any(self.factor(rate, level) != 1 for level in range(1, MAX_LEVELS))


def _constant(rate: float, level: int) -> float:
    return 1.0


def _exponential(rate: float, level: int) -> float:
    return math.exp(-rate * level)


def _time(rate: float, level: int) -> float:
    return 1.0 / (1.0 + rate * level)


def _step(rate: float, level: int) -> float:
    return rate ** (level // STEP_PERIOD)


def _polynomial(rate: float, level: int) -> float:
    if level >= POLYNOMIAL_PERIOD:
        return POLYNOMIAL_END
    return (1 - POLYNOMIAL_END) * (1 - level / POLYNOMIAL_PERIOD) ** rate + POLYNOMIAL_END


def _delayed(rate: float, level: int) -> float:
    return math.exp(-rate * max(0, level - HOLD))


def _linear(rate: float, level: int) -> float:
    return 1.0 - rate * level


YU = (
    "Yu et al. 2019, Differentially private model publishing for deep learning, arXiv 1904.02200,"
    " section 5"
)
ALL = (
    Schedule(
        name="constant",
        title="Constant",
        note="sigma stays as it is",
        source="the plain method",
        factor=_constant,
        rate=None,
    ),
    Schedule(
        name="exponential",
        title="Exponential decay",
        note="sigma falls to sigma·exp(-k·e) in epoch e",
        source=YU,
        factor=_exponential,
        rate=Rate(0.0138, 1e-4, 1.0),
    ),
    Schedule(
        name="time",
        title="Time-based decay",
        note="sigma falls to sigma / (1 + k·e) in epoch e",
        source=YU,
        factor=_time,
        rate=Rate(0.05, 1e-4, 1.0),
    ),
    Schedule(
        name="step",
        title="Step decay",
        note="sigma is multiplied by k every 10 epochs",
        source=YU,
        factor=_step,
        rate=Rate(0.6, 0.01, 2.0),
    ),
    Schedule(
        name="polynomial",
        title="Polynomial decay",
        note=(
            "sigma falls to sigma·(0.8·(1 - e/100)^k + 0.2) in epoch e, and stays from epoch 100 on"
        ),
        source=YU,
        factor=_polynomial,
        rate=Rate(3.5277, 0.1, 20.0),
    ),
    Schedule(
        name="delayed",
        title="Delayed exponential decay",
        note="sigma stays for 10 epochs, then falls to sigma·exp(-k·(e - 10)) in epoch e",
        source=YU + ": its constant-then-exponential for the cancer data",
        factor=_delayed,
        rate=Rate(0.05, 1e-4, 1.0),
    ),
    Schedule(
        name="linear",
        title="Linear decay",
        note="sigma falls to sigma·(1 - k·e) in epoch e (ours, from no paper)",
        source="ours, from no paper",
        factor=_linear,
        rate=Rate(0.01, 1e-5, 0.5),
    ),
)
SCHEDULES: dict[str, Schedule] = {each.name: each for each in ALL}


def _sigma_at(start: int, first: float, schedule: Schedule, rate: float, level: int) -> float:
    """The sigma of the level that begins at step `start`.

    Errors: ValueError outside the range of a release.
    """
    try:
        sigma = first * schedule.factor(rate, level)
    except OverflowError:
        sigma = math.inf
    if not MIN_SIGMA <= sigma <= MAX_SIGMA:
        raise ValueError(
            f"Expected rate={rate!r} to keep sigma from {MIN_SIGMA:g} to {MAX_SIGMA:g}; "
            f"at step {start} it is {sigma:g}."
        )
    return sigma


@dataclass(frozen=True)
class Recipe:
    """A schedule with its rate and the length of its levels: sigma from step to step.

    `name` is an id of docs/settings.md's noise schedules, `rate` its k (each has its own unit),
    `level_steps` the number of steps in a level, 0 for an epoch of round(1/q) steps. Source: Yu et
    al. 2019, arXiv 1904.02200, section 5. Errors: ValueError that names the argument.

    >>> recipe = Recipe("exponential", rate=0.1, level_steps=2)
    >>> [round(each.sigma, 3) for each in recipe.mechanism(q=0.5, sigma=10.0, steps=5).releases]
    [10.0, 9.048, 8.187]
    """

    name: str = "constant"
    rate: float = 0.0
    level_steps: int = 0  # steps of a level; 0: one epoch, round(1/q)

    def __post_init__(self) -> None:
        check.one_of(SCHEDULES, schedule=self.name)
        check.in_range(0, math.inf, ends="[)", rate=self.rate)
        check.whole(0, level_steps=self.level_steps)

    def mechanism(self, q: float, sigma: float, steps: int) -> Mechanism:
        """The mechanism of `steps` steps that begins at `sigma`.

        Errors: ValueError that names the argument at fault; the rate, if sigma would leave the
        range of a release.

        >>> mechanism = Recipe("exponential", 0.1, level_steps=2).mechanism(0.5, 10.0, 5)
        >>> [round(release.sigma, 3) for release in mechanism.releases]
        [10.0, 9.048, 8.187]
        """
        check.in_range(0, 1, ends="(]", q=q)
        check.positive(sigma=sigma)
        check.whole(1, steps=steps)
        schedule = SCHEDULES[self.name]
        if schedule.rate is None:
            return Mechanism.constant(q, sigma, steps)
        length = self.level_steps or max(1, round(min(1 / q, steps)))
        if steps > MAX_LEVELS * length:
            raise ValueError(
                f"Expected level_steps={length} to cut steps={steps} into at most {MAX_LEVELS}"
                f" levels. Write {-(-steps // MAX_LEVELS)} or more."
            )
        releases = [Release(q, sigma, min(length, steps))]
        for level, start in enumerate(range(length, steps, length), 1):
            value = _sigma_at(start, sigma, schedule, self.rate, level)
            count = min(length, steps - start)
            if releases[-1].sigma == value:
                releases[-1] = Release(q, value, releases[-1].count + count)
            else:
                releases.append(Release(q, value, count))
        return Mechanism(tuple(releases))


CONSTANT = Recipe()
