"""Releases, and the effect of noise schedules on sigma, budgets, accountants and solvers."""

import itertools
import math
from itertools import product

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.schedule import (
    HOLD,
    MAX_LEVELS,
    POLYNOMIAL_END,
    POLYNOMIAL_PERIOD,
    SCHEDULES,
    Recipe,
)
from tests import golden


def test_a_bad_release_is_named() -> None:
    for arguments, named in [
        ((0.0, 1.0, 1), "q=0.0"),
        ((1.1, 1.0, 1), "q=1.1"),
        ((math.nan, 1.0, 1), "q=nan"),
        ((0.1, 0.0, 1), "sigma=0.0"),
        ((0.1, math.inf, 1), "sigma=inf"),
        ((0.1, 1e-9, 1), "sigma=1e-09"),
        ((0.1, "1", 1), "sigma='1'"),
        ((0.1, 1.0, 0), "count=0"),
        ((0.1, 1.0, 1.5), "count=1.5"),
    ]:
        with pytest.raises(ValueError, match=f"Expected {named}"):
            Release(*arguments)
    with pytest.raises(ValueError, match="at least one release"):
        Mechanism(())
    with pytest.raises(ValueError, match=r"q=1e-200"):
        Release(1e-200, 1.0)


BUDGET = EpsilonTarget(2.0, 1e-5)
ANY_RATE = 0.05  # one that every schedule takes, for a hundred levels but `linear`


def sigmas(name: str, rate: float, levels: int, first: float = 10.0) -> list[float]:
    """The noise multiplier of each level."""
    releases = Recipe(name, rate, 1).mechanism(1.0, first, levels).releases
    return [release.sigma for release in releases for _ in range(release.count)]


def test_every_schedule_makes_exactly_the_steps_it_was_asked_for() -> None:
    for name in SCHEDULES:
        mechanism = Recipe(name, ANY_RATE, 100).mechanism(0.01, 8.0, 1234)
        assert mechanism.steps == 1234, name
        assert mechanism.releases[0].sigma == 8.0, name
        assert all(release.q == 0.01 for release in mechanism.releases), name
    assert [r.count for r in Recipe("time", 0.1).mechanism(0.25, 8.0, 10).releases] == [4, 4, 2]
    assert Recipe("time", 0.1).mechanism(1e-100, 2.0, 10).steps == 10


def test_published_rates_spend_their_budget_in_the_published_epochs() -> None:
    for name, rate_and_epochs in golden.SCHEDULE_EPOCHS.items():
        rate, epochs = rate_and_epochs
        spent = np.cumsum([1 / (2 * sigma**2) for sigma in sigmas(name, rate, 120)])
        assert np.count_nonzero(spent <= golden.SCHEDULE_BUDGET) == epochs, (name, rate_and_epochs)
    assert (
        sum(1 / (2 * sigma**2) for sigma in sigmas("constant", 0.0, 100, 8.0))
        == golden.SCHEDULE_BUDGET
    )


def test_polynomial_falls_from_ten_to_two_in_a_hundred_epochs_and_stays_there_at_any_rate() -> None:
    found = sigmas("polynomial", 3.5277, 120)
    assert found[:100] == pytest.approx([8 * (1 - e / 100) ** 3.5277 + 2 for e in range(100)])
    assert found[100:] == pytest.approx([2.0] * 20)
    found = sigmas("polynomial", 0.0, POLYNOMIAL_PERIOD + 2, 1.0)
    assert found == pytest.approx([1.0] * POLYNOMIAL_PERIOD + [POLYNOMIAL_END] * 2)
    for rate in [0.0, 1e-9, 1e3, 1e300]:
        found = sigmas("polynomial", rate, 200, 1.0)
        assert min(found) == pytest.approx(POLYNOMIAL_END), rate
        assert all(a >= b for a, b in itertools.pairwise(found)), rate


def test_delayed_linear_and_step_do_what_their_names_say() -> None:
    found = sigmas("delayed", 0.05, 60)
    assert found[:HOLD] == [10.0] * HOLD
    assert found[HOLD:] == sigmas("exponential", 0.05, 60 - HOLD)
    assert sigmas("linear", 0.01, 3) == pytest.approx([10.0, 9.9, 9.8])
    assert sigmas("step", 0.5, 21) == [10.0] * 10 + [5.0] * 10 + [2.5]


def test_a_schedule_that_never_changes_within_the_run_is_solved_as_the_constant_one() -> None:
    for recipe in [
        Recipe("delayed", 0.3),
        Recipe("step", 0.5),
        Recipe("polynomial", 0.0),
        Recipe("exponential", 0.0),
        Recipe("polynomial", 3.5277, 1000),
    ]:
        steps = 1000  # ten epochs
        plain, found = (
            solve("sigma", BUDGET, q=0.01, steps=steps, recipe=each) for each in (Recipe(), recipe)
        )
        assert found.mechanism == plain.mechanism == Mechanism.constant(0.01, found.value, steps), (
            recipe
        )
        assert found.reading == plain.reading, recipe


def test_answers_keep_the_budget_and_the_next_value_overshoots() -> None:
    for (solved, known, at), recipe in product(
        [
            ("sigma", {"q": 0.02, "steps": 1500}, lambda sigma: (0.02, sigma, 1500)),
            ("steps", {"q": 0.02, "sigma": 5.0}, lambda steps: (0.02, 5.0, int(steps))),
            (
                "batch",
                {"examples": 10_000, "sigma": 5.0, "steps": 1500},
                lambda batch: (batch / 10_000, 5.0, 1500),
            ),
        ],
        [Recipe("polynomial", 3.5277), Recipe("delayed", 0.1)],
    ):
        answer = solve(solved, BUDGET, **known, accountant="rdp", recipe=recipe)
        assert answer.reading.value <= BUDGET.epsilon, (solved, recipe)
        assert len(answer.mechanism.releases) > 1, (solved, recipe)
        past = recipe.mechanism(*at(answer.beyond))
        assert (
            ACCOUNTANTS["rdp"].curve(past, [past.steps], BUDGET.delta).epsilon[0] > BUDGET.epsilon
        )


def test_a_bad_schedule_is_named() -> None:
    for arguments, named in [
        ({"name": "cosine"}, "schedule='cosine'"),
        ({"name": "linear", "rate": 0.5}, "rate=0.5"),
        ({"name": "exponential", "rate": -1.0}, "rate=-1.0"),
        ({"name": "polynomial", "rate": -1.0}, "rate=-1.0"),
        ({"name": "delayed", "rate": 1e3, "steps": 300}, "rate=1000.0"),
        ({"name": "time", "level_steps": -1}, "level_steps=-1"),
        ({"name": "time", "steps": 10 * MAX_LEVELS, "level_steps": 1}, "level_steps=1"),
        ({"name": "time", "q": 0.0}, "q=0.0"),
    ]:
        given = {"name": "time", "rate": 0.1, "level_steps": 10, "q": 0.1, "steps": 100} | arguments
        with pytest.raises(ValueError, match=f"Expected {named}"):
            Recipe(given["name"], given["rate"], given["level_steps"]).mechanism(
                given["q"], 2.0, given["steps"]
            )
    message = r"Expected rate=1\.0 to keep sigma from 1e-06 to 1e\+09; at step 15 it is 6\.1\d*e-07"
    with pytest.raises(ValueError, match=message):
        Recipe("exponential", 1.0, 1).mechanism(0.1, 2.0, 30)
    for rate in (10.0, 1e200):  # the second is past any float after twenty levels
        with pytest.raises(ValueError, match=r"Expected rate=\S+ to keep sigma from"):
            Recipe("step", rate, 1).mechanism(0.1, 2.0, 1000)
    with pytest.raises(ValueError, match=r"Expected sigma=1e-07"):
        Recipe("exponential", 0.1, 1).mechanism(0.1, 1e-7, 30)
