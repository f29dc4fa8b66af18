"""The settings to start from do learn."""

import itertools
from dataclasses import replace

import pytest

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.events import Finished
from dpcore.training.features.kinds import kinds_for
from dpcore.training.loop import train
from dpcore.training.models import models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan

FULL = {"cifar10": 50_000, "adult": 29_305, "imdb": 25_000, "movielens": 800_167}  # examples; the others have 60,000
ALL = [(dataset, *rest) for dataset in DATASETS for rest in itertools.product(models_for(dataset), OPTIMIZERS)]
TRIED = {  # each model, each optimizer somewhere
    "cnn": tuple(OPTIMIZERS), "mlp": ("sgd", "adam"), "abadi": ("sgd",), "linear": ("sgd",),
}  # fmt: skip
HERE = [
    each for each in ALL if DATASETS[each[0]].sampled and each[2] in TRIED[each[1]] and "fashion" not in each[0]
] + [("fashion_mnist", "mlp", "sgd"), ("fashion_mnist", "cnn", "sgd")]
AT_LEAST = {
    ("mnist", "cnn"): 0.86,
    ("mnist", "mlp"): 0.80,
    ("mnist", "abadi"): 0.80,
    ("mnist", "linear"): 0.80,
    ("fashion_mnist", "cnn"): 0.70,
    ("fashion_mnist", "mlp"): 0.75,
}
BRIEF, BEHIND = 2.0, 0.06  # epochs of the optimizers that are quick, and how much less they may reach in them
SLOW = ("sgd", "rmsprop", "adagrad", "pi_adagrad")  # those whose baselines overtake them later


def accuracy(config: RunConfig) -> float:
    *_, last = train(replace(config, seed=0))
    assert isinstance(last, Finished)
    return last.accuracy


@pytest.mark.parametrize(("dataset", "model", "optimizer"), ALL)
@pytest.mark.parametrize("private", [True, False])
def test_there_is_one_for_every_combination(dataset, model, optimizer, private):
    config = defaults(dataset, model, optimizer, private=private)
    assert (config.dataset, config.model, config.optimizer, config.private) == (dataset, model, optimizer, private)
    assert defaults(dataset, model, optimizer, "full").examples == FULL.get(dataset, 60_000)


@pytest.mark.parametrize(
    ("dataset", "features", "model"),
    [
        (dataset.name, features, model)
        for dataset in DATASETS.values()
        for features in kinds_for(dataset)
        for model in models_for(dataset.name, features)
    ],
)
def test_there_is_one_for_every_model_that_takes_the_features(dataset, features, model):
    for private in (True, False):
        config = defaults(dataset, model, "adam", private=private, features=features)
        assert (config.dataset, config.features, config.model) == (dataset, features, model)


def test_a_private_run_on_the_bundled_digits_has_a_small_epsilon():
    config = defaults("mnist", "cnn", "sgd")
    mechanism = plan(config).mechanism
    assert mechanism is not None
    assert ACCOUNTANTS["pld"].curve(mechanism, [plan(config).steps], config.delta).epsilon[0] < 2


@pytest.mark.parametrize("optimizer", ["pi_adam", "pi_rmsprop", "pi_adagrad"])
@pytest.mark.parametrize("reading", ["literal", "raw"])
def test_a_reading_that_releases_directions_has_steps_of_its_own(optimizer, reading):
    config, usual = defaults("mnist", "cnn", optimizer, reading=reading), defaults("mnist", "cnn", optimizer)
    assert config.reading == reading
    assert config.lr * config.clip_norm > 10 * usual.lr * usual.clip_norm


@pytest.mark.long
@pytest.mark.parametrize("optimizer", ["pi_adam", "pi_rmsprop", "pi_adagrad"])
@pytest.mark.parametrize("reading", ["literal", "raw"])
def test_the_defaults_of_every_reading_learn_within_an_epoch(optimizer, reading):
    config = replace(defaults("mnist", "cnn", optimizer, reading=reading), epochs=0.75)
    usual = defaults("mnist", "cnn", optimizer)
    assert accuracy(config) > (0.4 if optimizer == "pi_adam" else 0.55)  # its noisy momentum takes longer
    assert accuracy(replace(config, lr=usual.lr, clip_norm=usual.clip_norm, epochs=0.5)) < 0.2


@pytest.mark.long
@pytest.mark.parametrize(("dataset", "model", "optimizer"), HERE)
def test_every_default_learns_and_its_baseline_learns_more(dataset, model, optimizer):
    brief = optimizer not in SLOW
    configs = [defaults(dataset, model, optimizer, private=private) for private in (True, False)]
    private, baseline = (accuracy(replace(each, epochs=BRIEF) if brief else each) for each in configs)
    assert private > AT_LEAST[dataset, model] - BEHIND * brief
    assert baseline > private
