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
from dpcore.privacy.sampling.replace_one import PoissonReplaceOne

SOLVABLE_FOR_SAMPLERS = ("sigma", "steps")
# Of a slow sampler: the search ends at this share of the target.
MAX_MEASUREMENTS, CLOSE_ENOUGH = 12, 0.98
# Default of d ln epsilon / d (-ln sigma), and the ratio of sigmas that measures it.
SLOPE, NEARBY = 2.0, 1.1
FARTHEST = 1.0  # step in ln sigma
FAR_APART = 2.0  # first guess over the noise of Poisson batches if a record moves the sum by 2 C


def sigma_for_sampler(sampler: Sampler, target: EpsilonTarget, q: float, steps: int) -> Answer:
    """The smallest sigma, to six digits, whose upper end of epsilon keeps the target over `steps`
    of the sampler.

    **Guarantees:** as `solve`, with the upper end as the cost. For a slow sampler the answer is the
    first of a few measurements that spends from 98 % to 100 % of the target. Errors: ValueError for
    bad input or a target that no sigma from 0.01 to 1000 keeps.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> target = EpsilonTarget(3.0, 1e-5)
    >>> found = sigma_for_sampler(SAMPLERS["fixed_order"], target, q=0.1, steps=10)
    >>> round(found.value, 2), found.reading.value <= 3  # one Gaussian release: mu = 1/sigma
    (1.39, True)
    """
    check.whole(1, MAX_STEPS, steps=steps)

    @cache
    def measured(sigma: float) -> Reading:
        return sampler.curve(q, sigma, steps, target.delta).last

    axis, search = Axis(*SIGMAS, rising=False), _few_measurements if sampler.slow else bracket
    start = _first_look(sampler, target, q, steps)
    found = search(axis, lambda sigma: measured(sigma).value, target.epsilon, *start)
    if found.inside is None:
        raise ValueError(
            f"No sigma below 1000 reaches {target} in {steps} steps; lower the steps or raise"
            " epsilon."
        )
    sigma = found.inside.value
    drawn = Mechanism.constant(q, sigma, steps)
    return Answer("sigma", sigma, target, measured(sigma), _beyond(found), sampler.name, drawn)


def steps_for_sampler(sampler: Sampler, target: EpsilonTarget, q: float, sigma: float) -> Answer:
    """The most steps, up to 10^7, whose upper end of epsilon keeps the target; whole epochs if the
    sampler has them.

    Errors: ValueError for bad input, or if the first step or epoch costs more than the target.

    >>> from dpcore.privacy.sampling import SAMPLERS
    >>> target = EpsilonTarget(4.4, 1e-5)
    >>> found = steps_for_sampler(SAMPLERS["fixed_order"], target, q=0.1, sigma=2.0)
    >>> found.value  # 4 epochs
    40
    """
    check.positive(sigma=sigma)
    check.in_range(0, 1, ends="(]", q=q)
    unit = steps_of_epoch(q) if sampler.by_epoch else 1
    axis = Axis(1, max(MAX_SOLVED_STEPS // unit, 1), whole=True)

    @cache
    def measured(count: int) -> Reading:
        return sampler.curve(q, sigma, count * unit, target.delta).last

    found = bracket(
        axis,
        lambda count: measured(int(count)).value,
        target.epsilon,
        max(1.0, round(1 / q) / unit),
    )
    if found.inside is None:
        first = (
            f"{'epoch' if sampler.by_epoch else 'step'} costs"
            f" epsilon={outward(measured(1).value, ceil)}"
        )
        raise ValueError(
            f"The first {first}, above {target}; raise sigma, lower q, or raise epsilon."
        )
    count, beyond = int(found.inside.value), _beyond(found)
    steps, after = count * unit, None if beyond is None else int(beyond) * unit
    drawn = Mechanism.constant(q, sigma, steps)
    return Answer("steps", steps, target, measured(count), after, sampler.name, drawn)


def _first_look(
    sampler: Sampler, target: EpsilonTarget, q: float, steps: int
) -> tuple[float, float]:
    """The first sigma to measure, and d ln epsilon / d (-ln sigma) there, both as for Poisson
    batches.
    """
    far = FAR_APART if sampler.adjacency == PoissonReplaceOne.adjacency else 1.0
    try:
        found = solve("sigma", target, q=q, steps=steps)
    except ValueError:
        return 1.0, SLOPE
    less = Poisson().curve(q, found.value * NEARBY, steps, target.delta).last.value
    slope = log(found.reading.value / less) / log(NEARBY) if less > 0 else SLOPE
    return min(far * found.value, SIGMAS[1]), slope


def _few_measurements(
    axis: Axis, cost: Callable[[float], float], budget: float, start: float, slope: float
) -> Bracket:
    """Find two values around the crossing, by secants in logarithms that aim a little inside the
    budget.
    """
    inside: Point | None = None
    outside: Point | None = None
    x, (first, last) = axis.place(start), axis.ends
    for _ in range(MAX_MEASUREMENTS):
        value = axis.value(min(max(x, first), last))
        point = Point(axis.place(value), value, cost(value))
        if point.cost <= budget:
            inside = point
        else:
            outside = point
        if (inside and inside.cost >= CLOSE_ENOUGH * budget) or (
            inside is None and point.x <= first
        ):
            break
        x = _aimed(inside, outside, (1 + CLOSE_ENOUGH) / 2 * budget, slope)
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
    if not 0 < known.cost < inf:
        return known.x + (FARTHEST if known is inside else -FARTHEST)
    return known.x + min(max(log(budget / known.cost) / slope, -FARTHEST), FARTHEST)


def _beyond(found: Bracket) -> float | None:
    return found.outside.value if found.outside and found.outside.cost < inf else None
