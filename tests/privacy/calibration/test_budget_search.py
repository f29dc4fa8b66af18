"""The solver on made-up costs: smooth, jumping, jagged, flat, infinite on part of the range."""

import math
from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.privacy.calibration.budget_search import NARROW, Axis, bracket, scanned

RATES = Axis(1e-6, 1.0)
SIGMAS = Axis(0.01, 1000.0, rising=False)
COSTS: dict[str, Callable[[float], float]] = {
    "power": lambda value: value,
    "steep": lambda value: value**30,
    "flat": lambda value: 1 + 0.01 * math.log(value),
    "jump": lambda value: 0.0 if value < 0.1234567 else 5.0,
    "infinite": lambda value: value if value < 0.2 else math.inf,
    "jagged": lambda value: value * (1 + 0.002 * math.sin(1e5 * value)),
    "zero first": lambda value: max(0.0, value - 0.05),
    "exponential": lambda value: math.exp(50 * value) - 1,
}


def check_frontier(axis: Axis, cost: Callable[[float], float], budget: float, start: float) -> int:
    """The promises of `bracket`, and how many points it measured."""
    seen: dict[float, float] = {}

    def counted(value: float) -> float:
        seen[value] = cost(value)
        return seen[value]

    inside, outside = bracket(axis, counted, budget, start)
    if inside is not None:
        assert seen[inside.value] == inside.cost <= budget
    if outside is not None:
        assert seen[outside.value] == outside.cost > budget
    if inside is None or outside is None:
        end = axis.value(axis.ends[0 if inside is None else 1])
        assert (outside or inside).value == end  # type: ignore[union-attr]
        return len(seen)
    assert outside.x > inside.x
    if axis.whole:
        assert abs(outside.value - inside.value) == 1
    else:
        assert outside.x - inside.x <= NARROW
        assert inside.cost >= 0.999 * budget or outside.x - inside.x < 1.2e-5
    return len(seen)


def test_the_bracket_is_narrow_and_measured_in_few_points_whatever_the_cost() -> None:
    for start, budget, name in product([1e-6, 0.01, 1.0], [1e-4, 0.07, 0.15, 0.9], COSTS):
        assert check_frontier(RATES, COSTS[name], budget, start) < 80, (start, budget, name)
    for start in [0.01, 1.0, 1000.0]:
        assert check_frontier(SIGMAS, lambda sigma: 3 / sigma, 2.0, start) < 12, start
        inside, outside = bracket(SIGMAS, lambda sigma: 3 / sigma, 2.0, start)
        assert inside is not None, start
        assert outside is not None, start
        assert outside.value < 1.5 <= inside.value <= 1.5 * 1.001, start
    assert check_frontier(SIGMAS, lambda sigma: 5 / sigma**1.3, 3.0, 1.0) <= 5


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 10**9), st.integers(1, 10**9), st.floats(0.05, 3.0))
def test_whole_numbers_end_next_to_each_other(boundary: int, start: int, power: float) -> None:
    axis = Axis(1, 10**9, whole=True)
    assert check_frontier(axis, lambda value: float(value) ** power, float(boundary) ** power, start) < 90


@pytest.mark.parametrize(("cost", "inside", "outside"), [(0.5, 1.0, None), (2.0, None, 1e-6), (math.inf, None, 1e-6)])
def test_a_budget_beyond_the_range_ends_at_the_range(cost: float, inside: float | None, outside: float | None) -> None:
    found = bracket(RATES, lambda value: cost, 1.0, 0.01)
    assert (found.inside and found.inside.value, found.outside and found.outside.value) == (inside, outside)


def test_a_scan_finds_the_window_of_a_cost_that_falls_and_rises_again() -> None:
    def valley(sigma: float) -> float:
        return 1 + 50 * abs(math.log(sigma / 30)) if sigma < 90 else math.inf

    found = scanned(SIGMAS, valley, 1.5)
    assert found is not None
    assert valley(found) <= 1.5
    assert scanned(SIGMAS, valley, 0.9) is None
    assert scanned(SIGMAS, lambda sigma: math.inf, 1.0) is None
