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
from tests.training.small_runs import mechanism_of

# Else 60,000.
FULL = {
    "cifar10": 50_000,
    "cifar10_jpeg": 50_000,
    "adult": 29_305,
    "imdb": 25_000,
    "movielens": 800_167,
}
PI = ("pi_adam", "pi_rmsprop", "pi_adagrad")
AT_LEAST = {
    ("mnist", "cnn"): 0.86,
    ("mnist", "mlp"): 0.80,
    ("mnist", "abadi"): 0.80,
    ("mnist", "linear"): 0.80,
    ("fashion_mnist", "cnn"): 0.70,
    ("fashion_mnist", "mlp"): 0.75,
}
HERE = [
    *((*of, "sgd") for of in AT_LEAST),
    *(("mnist", "cnn", name) for name in OPTIMIZERS if name != "sgd"),
]
# Epochs of the optimizers that are quick, and how much less they may reach in them.
BRIEF, BEHIND = 2.0, 0.06
SLOW = ("sgd", "rmsprop", "adagrad", "pi_adagrad")  # those whose baselines overtake them later


def accuracy(config: RunConfig) -> float:
    *_, last = train(replace(config, seed=0))
    assert isinstance(last, Finished)
    return last.accuracy


def test_there_is_one_for_every_combination():
    for dataset in DATASETS.values():
        for model, optimizer, private in itertools.product(
            models_for(dataset.name), OPTIMIZERS, (True, False)
        ):
            config = defaults(dataset.name, model, optimizer, private=private)
            found = (config.dataset, config.model, config.optimizer, config.private)
            assert found == (dataset.name, model, optimizer, private)
            full = defaults(dataset.name, model, optimizer, "full")
            assert full.examples == FULL.get(dataset.name, 60_000), found
        for features in kinds_for(dataset):
            for model in models_for(dataset.name, features):
                config = defaults(dataset.name, model, "adam", features=features)
                assert (config.features, config.model) == (features, model)


def test_a_private_run_on_the_bundled_digits_has_a_small_epsilon():
    config = defaults("mnist", "cnn", "sgd")
    mechanism = mechanism_of(config)
    assert ACCOUNTANTS["pld"].curve(mechanism, [plan(config).steps], config.delta).epsilon[0] < 2


@pytest.mark.parametrize(("optimizer", "least"), [("sgd", 0.7), ("pi_adam", 0.8)])
def test_a_default_learns_within_two_epochs(optimizer, least):
    assert accuracy(replace(defaults("mnist", "cnn", optimizer), epochs=2.0)) > least


@pytest.mark.long
@pytest.mark.parametrize(("optimizer", "reading"), [*itertools.product(PI, ("literal", "raw"))])
def test_the_defaults_of_every_reading_learn_within_an_epoch(optimizer, reading):
    config = replace(defaults("mnist", "cnn", optimizer, reading=reading), epochs=0.75)
    usual = defaults("mnist", "cnn", optimizer)
    # Its noisy momentum takes longer.
    assert accuracy(config) > (0.4 if optimizer == "pi_adam" else 0.55)
    assert accuracy(replace(config, lr=usual.lr, clip_norm=usual.clip_norm, epochs=0.5)) < 0.2


@pytest.mark.long
@pytest.mark.parametrize(("dataset", "model", "optimizer"), HERE)
def test_every_default_learns_and_its_baseline_learns_more(dataset, model, optimizer):
    brief = optimizer not in SLOW
    configs = [defaults(dataset, model, optimizer, private=private) for private in (True, False)]
    private, baseline = (
        accuracy(replace(each, epochs=BRIEF) if brief else each) for each in configs
    )
    assert private > AT_LEAST[dataset, model] - BEHIND * brief
    assert baseline > private
