"""The heat map's numbers are those of single curves, and its shapes what it says."""

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.calibration.epsilon_grid import epsilon_grid
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.schedule import Recipe

SIGMAS, STEPS = [0.8, 2.0, 5.0], [100, 1000, 1000, 4000]


@pytest.mark.parametrize("name", ACCOUNTANTS)
def test_each_cell_is_that_of_one_question(name: str) -> None:
    grid = epsilon_grid(SIGMAS, STEPS, 0.01, 1e-5, name)
    assert grid.epsilon.shape == (3, 4)
    for row, sigma in enumerate(SIGMAS):
        for column, steps in enumerate(STEPS):
            single = ACCOUNTANTS[name].curve(Mechanism.constant(0.01, sigma, steps), steps, 1e-5)
            assert grid.epsilon[row, column] == pytest.approx(float(single.epsilon[0]), rel=6e-3)
    assert np.all(np.diff(grid.epsilon, axis=1) >= 0)
    assert np.all(np.diff(grid.epsilon, axis=0) < 0)
    assert len(grid.kinds) == len(grid.notes) == 3
    assert not grid.epsilon.flags.writeable


def test_only_the_certified_grid_has_a_lower_bound_below_everything() -> None:
    grid = epsilon_grid(SIGMAS, STEPS, 0.01, 1e-5)
    assert grid.lower is not None
    assert np.all((grid.lower <= grid.epsilon) & (grid.lower > 0.99 * grid.epsilon))
    bound = epsilon_grid(SIGMAS, STEPS, 0.01, 1e-5, "rdp")
    assert bound.lower is None
    assert np.all(grid.lower <= bound.epsilon)


def test_a_grid_of_a_schedule_starts_each_row_at_its_first_sigma() -> None:
    recipe = Recipe("exponential", 0.1, 50)
    grid = epsilon_grid([2.0], [60, 100], 0.01, 1e-5, "rdp", recipe=recipe)
    single = ACCOUNTANTS["rdp"].curve(recipe.mechanism(0.01, 2.0, 100), [60, 100], 1e-5)
    assert grid.epsilon[0].tolist() == single.epsilon.tolist()


@pytest.mark.parametrize(
    ("sigmas", "steps", "q", "words"),
    [
        ([], [1], 0.1, "sigmas"),
        ([1.0], [], 0.1, "steps"),
        ([1.0], [0], 0.1, "steps"),
        ([1.0], [2.5], 0.1, "steps"),
        ([1.0], [5, 4], 0.1, "steps"),
        ([0.0], [5], 0.1, "sigma"),
        ([1.0], [5], 2.0, "q=2.0"),
        ([1.0], [np.nan], 0.1, "steps"),
    ],
)
def test_bad_input_is_named(sigmas: list[float], steps: list[float], q: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        epsilon_grid(sigmas, steps, q, 1e-5, "gdp")
