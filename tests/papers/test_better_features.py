"""The grids of the best accuracies: what each recipe costs, that no two runs are alike, and the
records they keep.
"""

from dataclasses import replace

import pytest

from dpcore.papers.better_features.recipes import (
    BEST,
    EPSILONS,
    GRIDS,
    LINEAR,
    RECIPES,
    RECORD,
    plain_run,
    run,
)
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.paper import Grid
from dpcore.papers.recording import certified
from dpcore.papers.records import recorded
from dpcore.training.plan import plan

PAPER = PAPERS["005"]
each_grid = pytest.mark.parametrize("grid", GRIDS, ids=RECIPES)


@each_grid
def test_every_run_spends_its_epsilon_and_no_more(grid: Grid) -> None:
    for curve in grid.curves:
        assert grid.values == EPSILONS
        for epsilon, config in zip(EPSILONS, curve.configs, strict=True):
            spent = certified(config)
            assert spent is not None
            assert 0.995 * epsilon < spent <= epsilon, (curve.recipe, epsilon)
        assert curve.plain
        assert not curve.plain.private
        assert plan(curve.plain).mechanism is None


@pytest.mark.parametrize("dataset", RECIPES)
def test_the_mean_takes_the_same_small_part_of_every_budget_and_the_rate_grows_with_it(
    dataset: str,
) -> None:
    for epsilon in EPSILONS:
        config = run(dataset, BEST, epsilon)
        assert config.mean_sigma * epsilon == 60.0
        assert config.lr == pytest.approx(run(dataset, BEST, 1.0).lr * epsilon)
        if LINEAR in RECIPES[dataset]:
            assert run(dataset, LINEAR, epsilon).mean_sigma == 0
        # Without the mean, half a percent less noise already costs more.
        without_mean = replace(config, mean_sigma=0.0, sigma=config.sigma / 1.005)
        spent = certified(without_mean)
        assert spent is not None
        assert spent > epsilon
    assert plain_run(dataset, BEST).mean_sigma > 0, "the same network, without noise"


@pytest.mark.parametrize(("dataset", "least"), [("mnist", 99.1), ("fashion_mnist", 91.0)])
def test_the_best_recipe_keeps_its_record(dataset: str, least: float) -> None:
    record = recorded(PAPER.id, run(dataset, BEST, RECORD))
    assert record
    assert record.mean >= least
    assert [each.seed for each in record.runs] == [0, 1, 2]
    assert record.epsilon is not None
    assert record.epsilon <= RECORD == 3
