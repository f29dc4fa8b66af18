"""Four recipes, from the plainest to the best, for each data set at each epsilon.

Trials on 10,000 held-out training images chose their settings (`python -m benchmarks.trials`;
those that docs/benchmarks.md names are in `recorded/trials.json`), those of the best recipe in a
simulation of 24,188 trainings. paper.toml has them.
"""

from typing import Any

from dpcore.data.catalogue import DATASETS
from dpcore.papers.entry import without_privacy
from dpcore.papers.paper import SEEDS, Curve, Grid
from dpcore.papers.words import config_of, words_of
from dpcore.training.config import RunConfig

RECORD = 3.0  # the epsilon that published figures are compared at
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
# Sigma of the private mean at epsilon 1: always as small a part of what is spent.
MEAN_AT_ONE = 60.0
# The rungs, as paper.toml names them.
PAPERS_CNN = "The papers' CNN, tanh"
TUNED_CNN = "The CNN, tuned"
LINEAR = "Scattering, linear"
BEST = "The best found"
TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST"}  # of the data sets that the paper has
# Without privacy, when gradients have their full length.
PLAIN_RATES = {"cnn": 0.05, "linear": 0.005}
WORDS = words_of("better_features")
# Data set -> rung -> its settings, and sigmas at EPSILONS.
RECIPES: dict[str, dict[str, dict[str, Any]]] = WORDS["recipes"]


def run(dataset: str, rung: str, epsilon: float) -> RunConfig:
    """Return a recipe at one of the epsilons.

    The learning rate of the best recipe, which subtracts a private mean from every example, is in
    proportion to epsilon, and that of two others falls below epsilon 3, as trials chose. The
    papers' network keeps its paper's rate.
    """
    recipe = RECIPES[dataset][rung]
    settings = dict(recipe["run"])
    settings["dataset"] = dataset
    settings["sigma"] = recipe["sigmas"][EPSILONS.index(epsilon)]
    if rung == BEST:
        settings["lr"] = round(settings["lr"] * epsilon / RECORD, 3)
        settings["mean_sigma"] = MEAN_AT_ONE / epsilon
    elif rung != PAPERS_CNN:
        settings["lr"] = round(settings["lr"] * min(RECORD, epsilon) / RECORD, 3)
    return config_of(WORDS["common"], settings)


def plain_run(dataset: str, rung: str) -> RunConfig:
    """Return the recipe without privacy."""
    private = run(dataset, rung, RECORD)
    return without_privacy(private, lr=PLAIN_RATES[private.model], batch=512)


def _grid(dataset: str) -> Grid:
    """Return the figure of all recipes for a data set."""
    curves = []
    for name in RECIPES[dataset]:
        configs = tuple(run(dataset, name, epsilon) for epsilon in EPSILONS)
        curves.append(Curve(configs, name, plain_run(dataset, name)))
    return Grid(
        **WORDS["grids"],
        place=DATASETS[dataset].title,
        setting="epsilon",
        values=EPSILONS,
        curves=tuple(curves),
        seeds=SEEDS,
    )


GRIDS = tuple(_grid(dataset) for dataset in RECIPES)
