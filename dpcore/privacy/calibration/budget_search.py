"""A search for the last value of one argument within a budget, which measures both ends of its
bracket.
"""

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
    """A range of one argument; x is ln value if the cost rises with the value, and -ln value if it
    falls.
    """

    low: float
    high: float
    rising: bool = True
    whole: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The cheapest and the dearest x."""
        ends = self.place(self.low), self.place(self.high)
        return min(ends), max(ends)

    def place(self, value: float) -> float:
        """The x of a value."""
        return log(value) if self.rising else -log(value)

    def value(self, x: float) -> float:
        """The value nearest to x within the range, rounded to a whole number or to six digits."""
        exact = exp(x if self.rising else -x)
        near = floor(exact + 0.5) if self.whole else float(f"{exact:.{DIGITS}g}")
        return min(max(near, self.low), self.high)

    def between(self, inside: float, outside: float, x: float) -> float | None:
        """A value at x, or next to it, strictly between two values; None if there is none."""
        low, high = min(inside, outside), max(inside, outside)
        if self.whole:
            return min(max(self.value(x), low + 1), high - 1) if high - low > 1 else None
        for candidate in (x, (self.place(low) + self.place(high)) / 2):
            if low < self.value(candidate) < high:
                return self.value(candidate)
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
        return 1.0 if self.outside is None else _slope(self.inside, self.outside, 1.0)


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
    inside = outside = None
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
        value = _next(axis, Bracket(inside, outside), crossing, (slope, count))
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
        least = min(range(SCAN + 1), key=costs.__getitem__)
        first, last = xs[max(least - 1, 0)], xs[min(least + 1, SCAN)]
    return None


def _slope(before: Point | None, point: Point, known: float) -> float:
    """d ln cost / dx between two points; `known` if they do not tell."""
    if (
        before is None
        or before.x == point.x
        or not (0 < before.cost < inf and 0 < point.cost < inf)
    ):
        return known
    found = log(point.cost / before.cost) / (point.x - before.x)
    return min(max(found, 0.02), 200.0) if found > 0 else known


def _settled(axis: Axis, inside: Point | None, outside: Point | None, budget: float) -> bool:
    """True if the answer is good enough, or the range has no better one."""
    first, last = axis.ends
    if inside is None or outside is None:
        end = axis.value(first) if inside is None else axis.value(last)
        point = outside if inside is None else inside
        return point is not None and point.value == end
    return not axis.whole and outside.x - inside.x <= NARROW and inside.cost >= NEAR * budget


def _next(axis: Axis, found: Bracket, crossing: float, state: tuple[float, int]) -> float | None:
    """The value to measure next; None if the bracket has none between its ends."""
    inside, outside = found
    slope, count = state
    offset = max(OFFSET / max(slope, 1.0), FINEST)
    if inside is None or outside is None:
        return _onward(axis, found, crossing, (offset, count))
    if (count >= PATIENCE and count % 3 == 0) or not inside.x < crossing < outside.x:
        x = (inside.x + outside.x) / 2
    elif axis.whole:
        x = crossing
    else:
        x = crossing + offset if crossing - inside.x <= 1.5 * offset else crossing - offset
    return axis.between(inside.value, outside.value, x)


def _onward(axis: Axis, found: Bracket, crossing: float, state: tuple[float, int]) -> float:
    """The value to measure next for the other end of the bracket, near the predicted crossing but
    not too far off.
    """
    offset, count = state
    first, last = axis.ends
    nearest, farthest, one = 2 * offset * 4.0**count, 2.0 ** (count / 2), float(axis.whole)
    if found.inside is not None:
        x = found.inside.x + min(max(crossing + offset - found.inside.x, nearest), farthest)
        return (
            max(axis.value(min(x, last)), found.inside.value + one)
            if axis.rising
            else axis.value(min(x, last))
        )
    assert found.outside is not None
    x = found.outside.x - min(max(found.outside.x - crossing + offset, nearest), farthest)
    return (
        min(axis.value(max(x, first)), found.outside.value - one)
        if axis.rising
        else axis.value(max(x, first))
    )
