"""Calibration: never past the budget, and as near to it as promised, by every accountant and every
sampler.
"""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.calibration.budget_search import NARROW, Axis, bracket, scanned
from dpcore.privacy.calibration.for_sampler import (
    CLOSE_ENOUGH,
    sigma_for_sampler,
    steps_for_sampler,
)
from dpcore.privacy.calibration.solve import SIGMAS, Answer, solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS, Sampler, steps_of_epoch
from dpcore.privacy.schedule import Recipe
from tests.reference import gaussian_delta

BUDGET = EpsilonTarget(3.0, 1e-5)
NAMES = list(ACCOUNTANTS)
CHEAP = [name for name in NAMES if name != "pld"]


def spent(name: str, mechanism: Mechanism, delta: float) -> float:
    return float(ACCOUNTANTS[name].curve(mechanism, mechanism.steps, delta).epsilon[0])


def check_answer(answer: Answer, beyond: Mechanism | None) -> None:
    """The answer's own mechanism, counted again, keeps the budget; the next one breaks it and is
    next indeed.
    """
    target = answer.target
    assert isinstance(target, EpsilonTarget)
    assert spent(answer.accountant, answer.mechanism, target.delta) == answer.reading.value
    assert 0 <= answer.reading.value <= target.epsilon
    if beyond is None:
        assert answer.beyond is None
        return
    assert spent(answer.accountant, beyond, target.delta) > target.epsilon
    if answer.solved in ("steps", "batch"):
        assert isinstance(answer.value, int)
        assert answer.beyond == answer.value + 1
        return
    apart = abs(math.log(answer.beyond / answer.value))
    assert apart <= 1.001e-3
    assert answer.reading.value >= 0.999 * target.epsilon or apart <= 1.2e-5


def check_sigma(target: EpsilonTarget, q: float, steps: int, name: str) -> Answer:
    answer = solve("sigma", target, q=q, steps=steps, accountant=name)
    check_answer(answer, answer.beyond and Mechanism.constant(q, answer.beyond, steps))
    assert answer.mechanism == Mechanism.constant(q, answer.value, steps)
    return answer


@pytest.mark.parametrize("name", NAMES)
def test_each_quantity_is_the_best_that_keeps_the_budget(name: str) -> None:
    answer = check_sigma(BUDGET, 0.01, 10_000, name)
    assert answer.accountant == name
    assert answer.reading.kind == ACCOUNTANTS[name].curve(answer.mechanism, 10_000, 1e-5).kind
    assert (answer.reading.lower is not None) == (name == "pld")
    answer = solve("steps", BUDGET, q=0.01, sigma=2.0, accountant=name)
    check_answer(answer, Mechanism.constant(0.01, 2.0, int(answer.value) + 1))
    answer = solve("q", BUDGET, sigma=4.0, steps=1000, accountant=name)
    check_answer(answer, Mechanism.constant(answer.beyond, 4.0, 1000))
    answer = solve("batch", BUDGET, examples=60_000, sigma=4.0, steps=1000, accountant=name)
    check_answer(answer, Mechanism.constant((answer.value + 1) / 60_000, 4.0, 1000))
    assert answer.mechanism.releases[0].q == answer.value / 60_000


@pytest.mark.long
def test_the_first_sigma_of_a_schedule_is_solved() -> None:
    for recipe, name in product(
        [Recipe("exponential", 0.02, 100), Recipe("step", 0.7), Recipe("time", 0.05)],
        ["pld", "rdp", "moments", "gdp"],
    ):
        answer = solve("sigma", BUDGET, q=0.01, steps=2000, accountant=name, recipe=recipe)
        assert answer.mechanism == recipe.mechanism(0.01, answer.value, 2000), (recipe, name)
        check_answer(answer, recipe.mechanism(0.01, answer.beyond, 2000))
        assert answer.value > solve("sigma", BUDGET, q=0.01, steps=2000, accountant=name).value, (
            recipe,
            name,
        )


@settings(max_examples=60, deadline=None)
@given(
    target=st.builds(
        EpsilonTarget,
        epsilon=st.floats(math.log(0.01), math.log(50)).map(math.exp),
        delta=st.floats(math.log(1e-12), math.log(1e-2)).map(math.exp),
    ),
    q=st.floats(math.log(1e-5), 0).map(math.exp),
    sigma=st.floats(math.log(0.3), math.log(50)).map(math.exp),
    steps=st.floats(0, math.log(1e5)).map(lambda each: round(math.exp(each))),
    name=st.sampled_from(CHEAP),
)
@pytest.mark.long
def test_no_answer_overshoots_over_the_whole_box(
    target: EpsilonTarget, q: float, sigma: float, steps: int, name: str
) -> None:
    check_all(target, q, sigma, steps, name)


def check_all(target: EpsilonTarget, q: float, sigma: float, steps: int, name: str) -> None:
    """All three answers at one point of the box; a refusal must be true."""
    try:
        check_sigma(target, q, steps, name)
    except ValueError:
        assert spent(name, Mechanism.constant(q, SIGMAS[1], steps), target.delta) > target.epsilon
    try:
        most = solve("steps", target, q=q, sigma=sigma, accountant=name)
    except ValueError:
        assert spent(name, Mechanism.constant(q, sigma, 1), target.delta) > target.epsilon
    else:
        check_answer(most, most.beyond and Mechanism.constant(q, sigma, int(most.beyond)))
    check_rate(target, sigma, steps, name)


def check_rate(target: EpsilonTarget, sigma: float, steps: int, name: str) -> None:
    try:
        rate = solve("q", target, sigma=sigma, steps=steps, accountant=name)
    except ValueError:
        assert spent(name, Mechanism.constant(1e-9, sigma, steps), target.delta) > target.epsilon
    else:
        check_answer(rate, rate.beyond and Mechanism.constant(rate.beyond, sigma, steps))


@settings(max_examples=12, deadline=None)
@given(
    target=st.builds(
        EpsilonTarget,
        epsilon=st.floats(math.log(0.01), math.log(50)).map(math.exp),
        delta=st.floats(math.log(1e-12), math.log(1e-2)).map(math.exp),
    ),
    q=st.floats(math.log(1e-5), 0).map(math.exp),
    sigma=st.floats(math.log(0.3), math.log(50)).map(math.exp),
    steps=st.floats(0, math.log(1e5)).map(lambda each: round(math.exp(each))),
)
@pytest.mark.long
def test_no_certified_answer_overshoots_over_the_whole_box(
    target: EpsilonTarget, q: float, sigma: float, steps: int
) -> None:
    check_rate(target, sigma, steps, "pld")
    try:
        answer = check_sigma(target, q, steps, "pld")
    except ValueError:
        assert spent("pld", Mechanism.constant(q, SIGMAS[1], steps), target.delta) > target.epsilon
    else:
        assert answer.reading.kind is Kind.CERTIFIED
        assert answer.reading.lower <= answer.reading.value


@pytest.mark.parametrize(
    ("epsilon", "delta", "steps"), [(1.0, 1e-5, 1), (3.0, 1e-6, 100), (10.0, 1e-3, 10)]
)
def test_without_sampling_sigma_is_that_of_the_closed_form(
    epsilon: float, delta: float, steps: int
) -> None:
    mu = brentq(lambda each: gaussian_delta(epsilon, each) - delta, 1e-3, 100)
    exact = math.sqrt(steps) / mu
    certified = solve("sigma", EpsilonTarget(epsilon, delta), q=1.0, steps=steps).value
    # The band is 0.25 % wide, and the answer within 0.1 % of it.
    assert exact <= certified <= exact * 1.006
    if steps == 1:
        naive = solve(
            "sigma", EpsilonTarget(epsilon, delta), q=1.0, steps=1, accountant="naive"
        ).value
        assert exact * (1 - 1e-9) <= naive <= exact * 1.001


Q, TARGET = 0.1, EpsilonTarget(3.0, 1e-5)
ALL = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


@ALL
def test_the_noise_keeps_the_target_and_is_near_to_it(sampler: Sampler) -> None:
    found = sigma_for_sampler(sampler, TARGET, Q, 20)
    again = sampler.curve(Q, found.value, 20, 1e-5).last
    assert again == found.reading
    assert CLOSE_ENOUGH * TARGET.epsilon <= again.value <= TARGET.epsilon
    if found.beyond is not None:
        assert sampler.curve(Q, found.beyond, 20, 1e-5).last.value > TARGET.epsilon
        assert found.beyond < found.value


@ALL
def test_the_length_is_the_longest(sampler: Sampler) -> None:
    found = steps_for_sampler(sampler, TARGET, Q, 3.0)
    unit = steps_of_epoch(Q) if sampler.by_epoch else 1
    assert found.value % unit == 0
    assert found.beyond == found.value + unit
    assert sampler.curve(Q, 3.0, found.value, 1e-5).last.value <= TARGET.epsilon
    assert sampler.curve(Q, 3.0, found.value + unit, 1e-5).last.value > TARGET.epsilon


def test_orders_and_poisson_batches_need_what_closed_form_and_certified_accountant_say() -> None:
    exact = brentq(lambda sigma: gaussian_delta(3.0, np.sqrt(2) / sigma) - 1e-5, 0.5, 20)
    found = sigma_for_sampler(SAMPLERS["fixed_order"], TARGET, Q, 20)
    assert exact <= found.value <= 1.001 * exact
    exact = solve("sigma", TARGET, q=Q, steps=20).value
    assert sigma_for_sampler(SAMPLERS["poisson"], TARGET, Q, 20).value == pytest.approx(
        exact, rel=2e-3
    )
    assert ACCOUNTANTS["pld"].kind == SAMPLERS["poisson"].curve(Q, exact, 20, 1e-5).kind


def test_nonsense_and_a_target_out_of_reach_are_sentences() -> None:
    with pytest.raises(
        ValueError, match=r"The first epoch costs epsilon=4.3[0-9], above epsilon=1; raise sigma"
    ):
        steps_for_sampler(SAMPLERS["shuffle"], EpsilonTarget(1.0, 1e-5), Q, 1.0)
    with pytest.raises(ValueError, match="No sigma below 1000 reaches epsilon=1e-05"):
        sigma_for_sampler(SAMPLERS["fixed_order"], EpsilonTarget(1e-5, 1e-9), 1.0, 10_000)
    for steps, q in [(0, 0.1), (10, 0.0), (10, 1.5)]:
        with pytest.raises(ValueError, match="Expected"):
            sigma_for_sampler(SAMPLERS["shuffle"], TARGET, q, steps)


RATES = Axis(1e-6, 1.0)
FALLING = Axis(0.01, 1000.0, rising=False)
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
        assert check_frontier(FALLING, lambda sigma: 3 / sigma, 2.0, start) < 12, start
        inside, outside = bracket(FALLING, lambda sigma: 3 / sigma, 2.0, start)
        assert inside is not None, start
        assert outside is not None, start
        assert outside.value < 1.5 <= inside.value <= 1.5 * 1.001, start
    assert check_frontier(FALLING, lambda sigma: 5 / sigma**1.3, 3.0, 1.0) <= 5


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 10**9), st.integers(1, 10**9), st.floats(0.05, 3.0))
def test_whole_numbers_end_next_to_each_other(boundary: int, start: int, power: float) -> None:
    axis = Axis(1, 10**9, whole=True)
    assert (
        check_frontier(axis, lambda value: float(value) ** power, float(boundary) ** power, start)
        < 90
    )


@pytest.mark.parametrize(
    ("cost", "inside", "outside"), [(0.5, 1.0, None), (2.0, None, 1e-6), (math.inf, None, 1e-6)]
)
def test_a_budget_beyond_the_range_ends_at_the_range(
    cost: float, inside: float | None, outside: float | None
) -> None:
    found = bracket(RATES, lambda value: cost, 1.0, 0.01)
    assert (found.inside and found.inside.value, found.outside and found.outside.value) == (
        inside,
        outside,
    )


def test_a_scan_finds_the_window_of_a_cost_that_falls_and_rises_again() -> None:
    def valley(sigma: float) -> float:
        return 1 + 50 * abs(math.log(sigma / 30)) if sigma < 90 else math.inf

    found = scanned(FALLING, valley, 1.5)
    assert found is not None
    assert valley(found) <= 1.5
    assert scanned(FALLING, valley, 0.9) is None
    assert scanned(FALLING, lambda sigma: math.inf, 1.0) is None
