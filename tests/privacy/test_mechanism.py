"""What is released: bounds of a release, merging, use counts, schedules."""

import math

import numpy as np
import pytest

from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.schedule import MAX_LEVELS, SCHEDULES, scheduled
from tests import golden


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((0.0, 1.0, 1), "q=0.0"),
        ((1.1, 1.0, 1), "q=1.1"),
        ((math.nan, 1.0, 1), "q=nan"),
        ((0.1, 0.0, 1), "sigma=0.0"),
        ((0.1, math.inf, 1), "sigma=inf"),
        ((0.1, 1e-9, 1), "sigma=1e-09"),
        ((0.1, "1", 1), "sigma='1'"),
        ((0.1, 1.0, 0), "count=0"),
        ((0.1, 1.0, 1.5), "count=1.5"),
    ],
)
def test_a_bad_release_is_named(arguments: tuple[float, float, int], named: str) -> None:
    with pytest.raises(ValueError, match=f"Expected {named}"):
        Release(*arguments)


def test_a_mechanism_releases_something() -> None:
    with pytest.raises(ValueError, match="at least one release"):
        Mechanism(())


def test_equal_neighbours_are_merged_and_counted() -> None:
    mechanism = Mechanism.of_sigmas(0.1, [2.0, 2.0, 1.0, 2.0])
    assert mechanism.releases == (Release(0.1, 2.0, 2), Release(0.1, 1.0), Release(0.1, 2.0))
    assert mechanism.uses([0, 1, 3, 4]).tolist() == [[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, 1, 1]]


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_makes_exactly_the_steps_it_was_asked_for(name: str) -> None:
    mechanism = scheduled(name, 0.01, 8.0, 1234, rate=0.05, level_steps=100)
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
    sigmas = [
        r.sigma for r in scheduled(name, 1.0, 10.0, 120, rate=rate, level_steps=1).releases for _ in range(r.count)
    ]
    spent = np.cumsum([1 / (2 * sigma**2) for sigma in sigmas])
    assert np.count_nonzero(spent <= golden.SCHEDULE_BUDGET * (1 + 1e-3)) == epochs


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "cosine"}, "schedule='cosine'"),
        ({"name": "linear", "rate": 0.5}, "rate=0.5"),
        ({"name": "exponential", "rate": -1.0}, "rate=-1.0"),
        ({"name": "time", "level_steps": -1}, "level_steps=-1"),
        ({"name": "time", "steps": 10 * MAX_LEVELS, "level_steps": 1}, "level_steps=1"),
        ({"name": "time", "q": 0.0}, "q=0.0"),
    ],
)
def test_a_bad_schedule_is_named(arguments: dict, named: str) -> None:
    good = {"name": "time", "q": 0.1, "sigma": 2.0, "steps": 100, "rate": 0.1, "level_steps": 10}
    with pytest.raises(ValueError, match=f"Expected {named}"):
        scheduled(**{**good, **arguments})


def test_the_smallest_rates_do_not_overflow_an_epoch() -> None:
    assert scheduled("time", 1e-100, 2.0, 10, rate=0.1).steps == 10


def test_a_rate_whose_square_is_no_float_is_named() -> None:
    with pytest.raises(ValueError, match=r"q=1e-200"):
        Release(1e-200, 1.0)
