"""Noise schedules: what each does to sigma, the paper's budgets, and that accountants and solvers take them."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.calibration.solve import batch_for, sigma_for, steps_for
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.schedule import HOLD, MAX_LEVELS, POLYNOMIAL_END, POLYNOMIAL_PERIOD, SCHEDULES, Recipe, scheduled
from tests import golden

BUDGET = EpsilonTarget(2.0, 1e-5)
ANY_RATE = 0.05  # one that every schedule takes, for a hundred levels but `linear`


def sigmas(name: str, rate: float, levels: int, first: float = 10.0) -> list[float]:
    """The noise multiplier of each level."""
    releases = scheduled(name, 1.0, first, levels, rate=rate, level_steps=1).releases
    return [release.sigma for release in releases for _ in range(release.count)]


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_makes_exactly_the_steps_it_was_asked_for(name: str) -> None:
    mechanism = scheduled(name, 0.01, 8.0, 1234, rate=ANY_RATE, level_steps=100)
    assert mechanism.steps == 1234
    assert mechanism.releases[0].sigma == 8.0
    assert all(release.q == 0.01 for release in mechanism.releases)


def test_sigma_changes_once_an_epoch_unless_told_otherwise() -> None:
    assert [r.count for r in scheduled("time", 0.25, 8.0, 10, rate=0.1).releases] == [4, 4, 2]


@pytest.mark.parametrize(("name", "rate_and_epochs"), golden.SCHEDULE_EPOCHS.items())
def test_published_rates_spend_their_budget_in_the_published_epochs(
    name: str, rate_and_epochs: tuple[float, int]
) -> None:
    rate, epochs = rate_and_epochs
    spent = np.cumsum([1 / (2 * sigma**2) for sigma in sigmas(name, rate, 120)])
    assert np.count_nonzero(spent <= golden.SCHEDULE_BUDGET) == epochs


def test_the_paper_s_budget_is_a_hundred_epochs_of_sigma_eight() -> None:
    assert sum(1 / (2 * sigma**2) for sigma in sigmas("constant", 0.0, 100, 8.0)) == golden.SCHEDULE_BUDGET


def test_polynomial_falls_from_ten_to_two_in_a_hundred_epochs_and_stays_there() -> None:
    found = sigmas("polynomial", 3.5277, 120)
    assert found[:100] == pytest.approx([8 * (1 - e / 100) ** 3.5277 + 2 for e in range(100)])
    assert found[100:] == pytest.approx([2.0] * 20)


def test_polynomial_of_rate_nought_holds_sigma_and_then_drops() -> None:
    found = sigmas("polynomial", 0.0, POLYNOMIAL_PERIOD + 2, 1.0)
    assert found == pytest.approx([1.0] * POLYNOMIAL_PERIOD + [POLYNOMIAL_END] * 2)


@pytest.mark.parametrize("rate", [0.0, 1e-9, 1e3, 1e300])
def test_polynomial_keeps_sigma_above_nought_at_any_rate(rate: float) -> None:
    found = sigmas("polynomial", rate, 200, 1.0)
    assert min(found) == pytest.approx(POLYNOMIAL_END)
    assert all(a >= b for a, b in itertools.pairwise(found))


def test_delayed_holds_sigma_and_then_falls_as_exponential_does() -> None:
    found = sigmas("delayed", 0.05, 60)
    assert found[:HOLD] == [10.0] * HOLD
    assert found[HOLD:] == sigmas("exponential", 0.05, 60 - HOLD)


def test_linear_and_step_do_what_their_names_say() -> None:
    assert sigmas("linear", 0.01, 3) == pytest.approx([10.0, 9.9, 9.8])
    assert sigmas("step", 0.5, 21) == [10.0] * 10 + [5.0] * 10 + [2.5]


@pytest.mark.parametrize("accountant", ACCOUNTANTS)
@pytest.mark.parametrize(("name", "rate"), [("polynomial", 3.5277), ("delayed", 0.1)])
def test_less_noise_later_costs_more_by_every_accountant(accountant: str, name: str, rate: float) -> None:
    account = ACCOUNTANTS[accountant]
    falling, same = scheduled(name, 0.02, 4.0, 1000, rate=rate), Mechanism.constant(0.02, 4.0, 1000)
    spent = account.curve(falling, [50, 1000], 1e-5).epsilon
    alone = account.curve(same, [50, 1000], 1e-5).epsilon
    assert spent[0] == pytest.approx(alone[0], rel=0.05)  # the first epoch is the same
    assert math.isfinite(spent[1])
    assert spent[1] > alone[1]


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe("delayed", 0.3),
        Recipe("step", 0.5),
        Recipe("polynomial", 0.0),
        Recipe("exponential", 0.0),
        Recipe("polynomial", 3.5277, 1000),
    ],
    ids=str,
)
def test_a_schedule_that_never_changes_within_the_run_is_solved_as_the_constant_one(recipe: Recipe) -> None:
    steps = 1000  # ten epochs
    plain, found = (sigma_for(BUDGET, 0.01, steps, recipe=each) for each in (Recipe(), recipe))
    assert found.mechanism == plain.mechanism == Mechanism.constant(0.01, found.value, steps)
    assert found.reading == plain.reading


@pytest.mark.parametrize("recipe", [Recipe("polynomial", 3.5277), Recipe("delayed", 0.1)], ids=str)
@pytest.mark.parametrize(
    ("solve", "at"),
    [
        (lambda how: sigma_for(BUDGET, 0.02, 1500, **how), lambda sigma: (0.02, sigma, 1500)),
        (lambda how: steps_for(BUDGET, 0.02, 5.0, **how), lambda steps: (0.02, 5.0, int(steps))),
        (lambda how: batch_for(BUDGET, 10_000, 5.0, 1500, **how), lambda batch: (batch / 10_000, 5.0, 1500)),
    ],
    ids=["sigma", "steps", "batch"],
)
def test_answers_keep_the_budget_and_the_next_value_overshoots(recipe: Recipe, solve: Callable, at: Callable) -> None:
    answer = solve({"accountant": "rdp", "recipe": recipe})
    assert answer.reading.value <= BUDGET.epsilon
    assert len(answer.mechanism.releases) > 1
    past = recipe.mechanism(*at(answer.beyond))
    assert ACCOUNTANTS["rdp"].curve(past, [past.steps], BUDGET.delta).epsilon[0] > BUDGET.epsilon


def test_the_certified_answer_of_a_schedule_is_no_larger_than_a_proven_bound_s() -> None:
    recipe = Recipe("delayed", 0.1)
    certified, bound = (sigma_for(BUDGET, 0.02, 1000, accountant=name, recipe=recipe) for name in ("pld", "rdp"))
    assert certified.reading.value <= BUDGET.epsilon
    assert certified.value < bound.value


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "cosine"}, "schedule='cosine'"),
        ({"name": "linear", "rate": 0.5}, "rate=0.5"),
        ({"name": "exponential", "rate": -1.0}, "rate=-1.0"),
        ({"name": "polynomial", "rate": -1.0}, "rate=-1.0"),
        ({"name": "delayed", "rate": 1e3, "steps": 300}, "rate=1000.0"),
        ({"name": "time", "level_steps": -1}, "level_steps=-1"),
        ({"name": "time", "steps": 10 * MAX_LEVELS, "level_steps": 1}, "level_steps=1"),
        ({"name": "time", "q": 0.0}, "q=0.0"),
    ],
)
def test_a_bad_schedule_is_named(arguments: dict, named: str) -> None:
    good = {"name": "time", "q": 0.1, "sigma": 2.0, "steps": 100, "rate": 0.1, "level_steps": 10}
    with pytest.raises(ValueError, match=f"Expected {named}"):
        scheduled(**{**good, **arguments})


def test_a_schedule_that_leaves_the_range_of_sigma_names_its_rate_and_not_a_sigma_that_nobody_typed() -> None:
    message = r"Expected rate=1\.0 to keep sigma from 1e-06 to 1e\+09; at step 15 it is 6\.1\d*e-07"
    with pytest.raises(ValueError, match=message):
        scheduled("exponential", 0.1, 2.0, 30, rate=1.0, level_steps=1)
    for rate in (10.0, 1e200):  # the second is past any float after twenty levels
        with pytest.raises(ValueError, match=r"Expected rate=\S+ to keep sigma from"):
            scheduled("step", 0.1, 2.0, 1000, rate=rate, level_steps=1)


def test_a_first_sigma_out_of_range_is_named_itself() -> None:
    with pytest.raises(ValueError, match=r"Expected sigma=1e-07"):
        scheduled("exponential", 0.1, 1e-7, 30, rate=0.1, level_steps=1)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_says_what_it_does_and_where_it_comes_from(name: str) -> None:
    schedule = SCHEDULES[name]
    assert schedule.name == name
    assert schedule.title
    assert schedule.note.startswith("sigma ")
    assert "arXiv" in schedule.source or schedule.source.startswith("ours") or name == "constant"
    assert (schedule.rate is None) == (name == "constant")


def test_the_smallest_rates_do_not_overflow_an_epoch() -> None:
    assert scheduled("time", 1e-100, 2.0, 10, rate=0.1).steps == 10
