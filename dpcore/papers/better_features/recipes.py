"""Four recipes, from the plainest to the best, for each data set at each epsilon.

Trials on 10,000 held-out training images chose their settings (`python -m tests.benchmarks.trials`; those that
docs/benchmarks.md names are in `recorded/trials.json`), those of the best recipe in a simulation of 24,188 trainings.
Each sigma is the least, to three decimals, whose certified epsilon at delta 1e-5 is at most its column's.
"""

from collections.abc import Mapping
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
COMMON: Values = {
    "source": "full",
    "optimizer": "sgd",
    "momentum": 0.9,
    "clip_norm": 0.1,
    "delta": 1e-5,
    "epochs": 40.0,
}
MEAN_AT_ONE = 60.0  # sigma of the private mean at epsilon 1: always as small a part of what is spent
SIGMAS: Mapping[tuple[int, int, bool], tuple[float, ...]] = {  # (examples, expected batch, mean too) -> at EPSILONS
    (60_000, 512, False): (4.198, 2.315, 1.373, 1.069, 0.835, 0.699),
    (60_000, 1024, False): (5.894, 3.199, 1.821, 1.367, 1.012, 0.814),
    (60_000, 2048, False): (8.304, 4.468, 2.48, 1.81, 1.279, 0.984),
    (60_000, 4096, False): (11.719, 6.276, 3.434, 2.462, 1.678, 1.236),
    (60_000, 8192, False): (16.552, 8.841, 4.798, 3.403, 2.264, 1.611),
    (60_000, 8192, True): (16.58, 8.858, 4.808, 3.411, 2.269, 1.615),
    (50_000, 8192, True): (18.187, 9.711, 5.263, 3.726, 2.467, 1.743),
}
PAPERS_CNN, TUNED_CNN = "The papers' CNN, tanh", "The CNN, tuned"
LINEAR, BEST = "Scattering, linear", "The best found"
SCATTERING: Values = {"features": "scatter", "model": "linear"}
TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST"}  # of the data sets that the paper has
RECIPES: Mapping[str, Mapping[str, Values]] = {  # data set -> rung -> what it has, lr that at epsilon 3
    "mnist": {
        PAPERS_CNN: {name: SETS["MNIST"][name] for name in ("model", "lr", "batch")},
        TUNED_CNN: {"model": "cnn", "pixel_scale": "centred", "batch": 1024, "lr": 1.0, "ema": 0.99},
        LINEAR: SCATTERING | {"batch": 4096, "lr": 8.0},
        BEST: {"features": "scatter_upright", "model": "linear", "batch": 8192, "lr": 7.8, "views": 4},
    },
    "fashion_mnist": {
        PAPERS_CNN: {name: SETS["Fashion-MNIST"][name] for name in ("model", "lr", "batch")},
        TUNED_CNN: {"model": "cnn", "pixel_scale": "centred", "batch": 2048, "lr": 4.0, "ema": 0.98},
        LINEAR: SCATTERING | {"batch": 8192, "lr": 16.0},
        BEST: {"features": "scatter_cosines", "model": "linear", "batch": 8192, "lr": 3.6},
    },
    "cifar10_jpeg": {BEST: {"features": "patches", "model": "linear", "batch": 8192, "lr": 2.484}},
}
PLAIN_RATES = {"cnn": 0.05, "linear": 0.005}  # without privacy, when gradients have their full length
WORDS = words_of("better_features")


def run(dataset: str, rung: str, epsilon: float) -> RunConfig:
    """Return a recipe at one of the epsilons.

    The learning rate of the best recipe, which subtracts a private mean from every example, is in proportion to
    epsilon, and that of two others falls below epsilon 3, as trials chose. The papers' network keeps its paper's rate.
    """
    values: Values = COMMON | RECIPES[dataset][rung]
    if rung != PAPERS_CNN:
        values["lr"] = round(values["lr"] * (epsilon if rung == BEST else min(RECORD, epsilon)) / RECORD, 3)
    values["sigma"] = SIGMAS[DATASETS[dataset].examples("full"), values["batch"], rung == BEST][EPSILONS.index(epsilon)]
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
            Rung(name, tuple((each, run(dataset, name, each)) for each in EPSILONS), plain_run(dataset, name))
            for name in recipes
        ),
        **WORDS["ladders"],
    )
    for dataset, recipes in RECIPES.items()
)
