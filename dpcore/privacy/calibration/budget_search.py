"""A search for the last value of one argument within a budget; both ends are measured."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, floor, inf, log
from typing import NamedTuple

NARROW = 1e-3  # final width of the bracket, in ln of the argument
NEAR = 0.999  # least part of the budget that the answer spends, unless the cost jumps
OFFSET = 3e-4  # distance from the predicted crossing to the next measurement
DIGITS = 6  # of an answer that is not whole, so that the printed value is the measured one
FINEST = 1e-5  # the smallest step: a smaller one could be lost in rounding to six digits
PATIENCE = 8  # rounds after which every third halves the bracket
MAX_POINTS = 400  # never reached
SCAN = 96  # points of a scan for a cost that falls and rises again


@dataclass(frozen=True)
class Axis:
    """A range of one argument, in which the cost rises with x.

    x is ln value if the cost rises with the value, and -ln value if it falls.
    """

    low: float
    high: float
    rising: bool = True
    whole: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The cheapest and the dearest x."""
        if self.rising:
            return self.place(self.low), self.place(self.high)
        return self.place(self.high), self.place(self.low)

    def place(self, value: float) -> float:
        """The x of a value."""
        return log(value) if self.rising else -log(value)

    def value(self, x: float) -> float:
        """The value nearest to an x within the range, a whole number or one of six digits."""
        exact = exp(x if self.rising else -x)
        near = float(f"{exact:.{DIGITS}g}")
        if self.whole:
            near = floor(exact + 0.5)
        return min(max(near, self.low), self.high)

    def between(self, inside: float, outside: float, x: float) -> float | None:
        """A value at x, or next to it, strictly between two values; None if there is none."""
        low = min(inside, outside)
        high = max(inside, outside)
        if self.whole:
            if high - low <= 1:
                return None
            return min(max(self.value(x), low + 1), high - 1)
        middle = (self.place(low) + self.place(high)) / 2
        for candidate in (x, middle):
            value = self.value(candidate)
            if low < value < high:
                return value
        return None


class Point(NamedTuple):
    """A measured value of the argument."""

    x: float
    value: float
    cost: float


class Bracket(NamedTuple):
    """The last point within the budget and the first beyond it; None if the range ends before."""

    inside: Point | None
    outside: Point | None

    @property
    def slope(self) -> float:
        """d ln cost / dx across it; 1 if unknown."""
        if self.outside is None:
            return 1.0
        return _slope(self.inside, self.outside, 1.0)


def bracket(
    axis: Axis, cost: Callable[[float], float], budget: float, start: float, slope: float = 1.0
) -> Bracket:
    """Find two neighbouring values between which the cost crosses the budget.

    `cost` rises with x, at first guess like e^(slope x); the first measurement is at the value
    `start`. **Guarantees:** cost(inside) <= budget < cost(outside), both measured. Whole values are
    neighbours; others are within 0.1 % of each other and cost(inside) >= 0.999 budget, unless the
    cost jumps between neighbours of six digits.

    >>> found = bracket(Axis(1, 1000, whole=True), lambda value: value**2, 50.0, start=100)
    >>> found.inside.value, found.outside.value
    (7, 8)
    """
    inside: Point | None = None
    outside: Point | None = None
    before: Point | None = None
    value: float | None = axis.value(axis.place(start))
    for count in range(MAX_POINTS):
        if value is None:
            break
        point = Point(axis.place(value), value, cost(value))
        if point.cost <= budget:
            inside = point
        else:
            outside = point
        slope = _slope(before, point, slope)
        if _settled(axis, inside, outside, budget):
            break
        # Predicted by the slope if the cost is finite and above 0.
        crossing = -inf if point.cost else inf
        if 0 < point.cost < inf:
            crossing = point.x + log(budget / point.cost) / slope
        value = _next(axis, Bracket(inside, outside), crossing, slope, count)
        before = point
    else:
        raise RuntimeError(
            f"The search for cost {budget:g} did not end after {MAX_POINTS} points; this is a"
            " defect."
        )
    return Bracket(inside, outside)


def scanned(axis: Axis, cost: Callable[[float], float], budget: float) -> float | None:
    """The last value of a scan within the budget; None if there is none.

    For costs that fall and rise again.

    >>> scanned(Axis(1, 100), lambda value: abs(value - 50), 1.0)
    50.9877
    """
    first, last = axis.ends
    for _ in range(2):
        xs = [first + (last - first) * i / SCAN for i in range(SCAN + 1)]
        costs = [cost(axis.value(x)) for x in xs]
        fitting = [i for i, each in enumerate(costs) if each <= budget]
        if fitting:
            return axis.value(xs[fitting[-1]])
        least = costs.index(min(costs))
        first = xs[max(least - 1, 0)]
        last = xs[min(least + 1, SCAN)]
    return None


def _slope(before: Point | None, point: Point, known: float) -> float:
    """d ln cost / dx between two points; `known` if they do not show it."""
    if before is None or before.x == point.x:
        return known
    both_finite = 0 < before.cost < inf and 0 < point.cost < inf
    if not both_finite:
        return known
    found = log(point.cost / before.cost) / (point.x - before.x)
    if not found > 0:
        return known
    return min(max(found, 0.02), 200.0)


def _settled(axis: Axis, inside: Point | None, outside: Point | None, budget: float) -> bool:
    """True if the answer is good enough, or the range has no better one."""
    first, last = axis.ends
    if inside is None:
        return outside is not None and outside.value == axis.value(first)
    if outside is None:
        return inside.value == axis.value(last)
    narrow = outside.x - inside.x <= NARROW
    near = inside.cost >= NEAR * budget
    return not axis.whole and narrow and near


def _next(axis: Axis, found: Bracket, crossing: float, slope: float, count: int) -> float | None:
    """The value to measure next, at the round `count`; None if there is none inside the bracket."""
    inside, outside = found
    offset = max(OFFSET / max(slope, 1.0), FINEST)
    nearest = 2 * offset * 4.0**count
    farthest = 2.0 ** (count / 2)
    if outside is None:
        assert inside is not None
        distance = min(max(crossing + offset - inside.x, nearest), farthest)
        return _away(axis, inside, distance)
    if inside is None:
        distance = min(max(outside.x - crossing + offset, nearest), farthest)
        return _away(axis, outside, -distance)
    halve = count >= PATIENCE and count % 3 == 0
    if halve or not inside.x < crossing < outside.x:
        x = (inside.x + outside.x) / 2
    elif axis.whole:
        x = crossing
    elif crossing - inside.x <= 1.5 * offset:
        x = crossing + offset
    else:
        x = crossing - offset
    return axis.between(inside.value, outside.value, x)


def _away(axis: Axis, point: Point, distance: float) -> float:
    """The value at this distance from a point, below it if negative; whole numbers differ."""
    first, last = axis.ends
    value = axis.value(min(max(point.x + distance, first), last))
    if not axis.whole:
        return value
    if distance > 0:
        return max(value, point.value + 1)
    return min(value, point.value - 1)
