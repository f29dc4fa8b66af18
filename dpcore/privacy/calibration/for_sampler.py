"""Calibration of sigma, or of the number of steps, for batches that are not Poisson's."""

from collections.abc import Callable
from functools import cache
from math import ceil, inf, log

from dpcore import check
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.calibration.budget_search import Axis, Bracket, Point, bracket
from dpcore.privacy.calibration.solve import MAX_SOLVED_STEPS, SIGMAS, Answer, solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.numbers import outward
from dpcore.privacy.sampling import Sampler, steps_of_epoch
from dpcore.privacy.sampling.base import Poisson

SOLVABLE_FOR_SAMPLERS = ("sigma", "steps")
MAX_MEASUREMENTS = 12  # of a slow sampler
CLOSE_ENOUGH = 0.98  # share of the target at which the search for a slow sampler ends
SLOPE = 2.0  # default of d ln epsilon / d (-ln sigma)
NEARBY = 1.1  # ratio of the two sigmas that measure this slope
FARTHEST = 1.0  # step in ln sigma


def sigma_for_sampler(sampler: Sampler, target: EpsilonTarget, q: float, steps: int) -> Answer:
    """The smallest sigma, to six digits, whose upper end of epsilon keeps the target.

    It is for `steps` steps of the sampler. **Guarantees:** as `solve`, with the upper end as the
    cost. For a slow sampler the answer is the first of a few measurements that spends from 98 % to
    100 % of the target. Errors: ValueError for bad input or a target that no sigma from 0.01 to
    1000 keeps.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> fixed_order = SAMPLERS["fixed_order"]
    >>> found = sigma_for_sampler(fixed_order, EpsilonTarget(3.0, 1e-5), q=0.1, steps=10)
    >>> round(found.value, 2), found.reading.value <= 3  # one Gaussian release: mu = 1/sigma
    (1.39, True)
    """
    check.whole(1, MAX_STEPS, steps=steps)

    @cache
    def measured(sigma: float) -> Reading:
        return sampler.curve(q, sigma, steps, target.delta).last

    def cost(sigma: float) -> float:
        return measured(sigma).value

    axis = Axis(*SIGMAS, rising=False)
    start, slope = _first_look(sampler, target, q, steps)
    search = _few_measurements if sampler.slow else bracket
    found = search(axis, cost, target.epsilon, start, slope)
    if found.inside is None:
        raise ValueError(
            f"No sigma below 1000 reaches {target} in {steps} steps; lower the steps or raise"
            " epsilon."
        )
    sigma = found.inside.value
    drawn = Mechanism.constant(q, sigma, steps)
    return Answer("sigma", sigma, target, measured(sigma), _beyond(found), sampler.name, drawn)


def steps_for_sampler(sampler: Sampler, target: EpsilonTarget, q: float, sigma: float) -> Answer:
    """The most steps, up to 10^7, whose upper end of epsilon keeps the target.

    They are whole epochs if the sampler has them. Errors: ValueError for bad input, or if the first
    step or epoch costs more than the target.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> fixed_order = SAMPLERS["fixed_order"]
    >>> steps_for_sampler(fixed_order, EpsilonTarget(4.4, 1e-5), q=0.1, sigma=2.0).value  # 4 epochs
    40
    """
    check.positive(sigma=sigma)
    check.in_range(0, 1, ends="(]", q=q)
    word = "step"
    unit = 1  # in steps
    if sampler.by_epoch:
        word = "epoch"
        unit = steps_of_epoch(q)
    axis = Axis(1, max(MAX_SOLVED_STEPS // unit, 1), whole=True)

    @cache
    def measured(count: int) -> Reading:
        return sampler.curve(q, sigma, count * unit, target.delta).last

    def cost(count: float) -> float:
        return measured(int(count)).value

    about_one_epoch = max(1.0, round(1 / q) / unit)
    found = bracket(axis, cost, target.epsilon, about_one_epoch)
    if found.inside is None:
        first = outward(measured(1).value, ceil)
        raise ValueError(
            f"The first {word} costs epsilon={first}, above {target}; raise sigma, lower q, or"
            " raise epsilon."
        )
    count = int(found.inside.value)
    steps = count * unit
    after = _beyond(found)
    if after is not None:
        after = int(after) * unit
    drawn = Mechanism.constant(q, sigma, steps)
    return Answer("steps", steps, target, measured(count), after, sampler.name, drawn)


def _first_look(
    sampler: Sampler, target: EpsilonTarget, q: float, steps: int
) -> tuple[float, float]:
    """The first sigma to measure, and d ln epsilon / d (-ln sigma) there, from Poisson batches."""
    try:
        found = solve("sigma", target, q=q, steps=steps)
    except ValueError:
        return 1.0, SLOPE
    less = Poisson().curve(q, found.value * NEARBY, steps, target.delta).last.value
    slope = SLOPE
    if less > 0:
        slope = log(found.reading.value / less) / log(NEARBY)
    # Where a record moves the sum twice as far, about twice the noise is needed.
    return min(sampler.move * found.value, SIGMAS[1]), slope


def _few_measurements(
    axis: Axis, cost: Callable[[float], float], budget: float, start: float, slope: float
) -> Bracket:
    """Find two values around the crossing, by secants that aim a little inside the budget."""
    inside: Point | None = None
    outside: Point | None = None
    x = axis.place(start)
    first, last = axis.ends
    aim = (1 + CLOSE_ENOUGH) / 2 * budget
    for _ in range(MAX_MEASUREMENTS):
        value = axis.value(min(max(x, first), last))
        point = Point(axis.place(value), value, cost(value))
        if point.cost <= budget:
            inside = point
        else:
            outside = point
        close_enough = inside is not None and inside.cost >= CLOSE_ENOUGH * budget
        out_of_reach = inside is None and point.x <= first
        if close_enough or out_of_reach:
            break
        x = _aimed(inside, outside, aim, slope)
    return Bracket(inside, outside)


def _aimed(inside: Point | None, outside: Point | None, budget: float, slope: float) -> float:
    """The x at which the cost should reach the budget."""
    if inside and outside and outside.cost < inf and inside.cost > 0:
        share = log(budget / inside.cost) / log(outside.cost / inside.cost)
        return inside.x + min(max(share, 0.1), 0.9) * (outside.x - inside.x)
    if inside and outside:
        return (inside.x + outside.x) / 2
    known = inside or outside
    assert known is not None
    if known.cost == 0:
        return known.x + FARTHEST
    if known.cost == inf:
        return known.x - FARTHEST
    return known.x + min(max(log(budget / known.cost) / slope, -FARTHEST), FARTHEST)


def _beyond(found: Bracket) -> float | None:
    """The value that was measured to overshoot; None if there is none with a finite cost."""
    if found.outside is None or found.outside.cost == inf:
        return None
    return found.outside.value
