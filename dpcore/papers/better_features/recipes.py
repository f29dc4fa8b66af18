"""Four recipes, from the plainest to the best, for each data set at each epsilon.

Trials on 10,000 held-out training images chose their settings (`python -m tests.benchmarks.trials`;
those that docs/benchmarks.md names are in `recorded/trials.json`), those of the best recipe in a
simulation of 24,188 trainings. paper.toml has them.
"""

from typing import Any

from dpcore.data.catalogue import DATASETS
from dpcore.papers.entry import without_privacy
from dpcore.papers.paper import Ladder, Rung
from dpcore.papers.sa_dpsgd.runs import SETS
from dpcore.papers.words import words_of
from dpcore.training.config import RunConfig

Values = dict[str, Any]  # fields of RunConfig

RECORD = 3.0  # the epsilon that published figures are compared at
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
# Sigma of the private mean at epsilon 1: always as small a part of what is spent.
MEAN_AT_ONE = 60.0
# The rungs, as paper.toml names them.
PAPERS_CNN, TUNED_CNN = "The papers' CNN, tanh", "The CNN, tuned"
LINEAR, BEST = "Scattering, linear", "The best found"
TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST"}  # of the data sets that the paper has
# Without privacy, when gradients have their full length.
PLAIN_RATES = {"cnn": 0.05, "linear": 0.005}
WORDS = words_of("better_features")
# Data set -> rung -> its settings, and sigmas at EPSILONS.
RECIPES: dict[str, dict[str, Values]] = WORDS["recipes"]


def run(dataset: str, rung: str, epsilon: float) -> RunConfig:
    """Return a recipe at one of the epsilons.

    The learning rate of the best recipe, which subtracts a private mean from every example, is in
    proportion to epsilon, and that of two others falls below epsilon 3, as trials chose. The
    papers' network keeps its paper's rate.
    """
    recipe = RECIPES[dataset][rung]
    values: Values = (
        WORDS["common"] | recipe["run"] | {"sigma": recipe["sigmas"][EPSILONS.index(epsilon)]}
    )
    if rung == PAPERS_CNN:
        values |= {name: SETS[TITLES[dataset]][name] for name in ("model", "lr", "batch")}
    else:
        values["lr"] = round(
            values["lr"] * (epsilon if rung == BEST else min(RECORD, epsilon)) / RECORD, 3
        )
    if rung == BEST:
        values["mean_sigma"] = MEAN_AT_ONE / epsilon
    return RunConfig(dataset=dataset, **values)


def plain_run(dataset: str, rung: str) -> RunConfig:
    """Return the recipe without privacy."""
    private = run(dataset, rung, RECORD)
    return without_privacy(private, lr=PLAIN_RATES[private.model], batch=512)


LADDERS = tuple(
    Ladder(
        place=DATASETS[dataset].title,
        rungs=tuple(
            Rung(
                name,
                tuple((each, run(dataset, name, each)) for each in EPSILONS),
                plain_run(dataset, name),
            )
            for name in recipes
        ),
        **WORDS["ladders"],
    )
    for dataset, recipes in RECIPES.items()
)
