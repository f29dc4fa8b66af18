"""Runs in words: overlaid runs are told apart by what differs."""

from dataclasses import fields, replace

import pytest

from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.described import described
from pages.parts.train.run_labels import labels_of

SGD, PIADAM = defaults("mnist", "cnn", "sgd"), defaults("mnist", "cnn", "pi_adam")
OTHER = {  # setting -> another value, and what it needs beside it
    "dataset": {"dataset": "fashion_mnist"},
    "source": {"source": "full"},
    "model": {"model": "mlp"},
    "activation": {"activation": "relu"},
    "optimizer": {"optimizer": "adam"},
    "private": {"private": False},
    "sigma": {"sigma": 2.0},
    "batch": {"batch": 300},
    "clip_norm": {"clip_norm": 3.0},
    "lr": {"lr": 7.0},
    "momentum": {"momentum": 0.5},
    "epochs": {"epochs": 2.0},
    "delta": {"delta": 1e-6},
    "seed": {"seed": 5},
    "device": {"device": "cpu"},
    "noise_generator": {"noise_generator": "secure"},
    "clipping": {"clipping": "auto_s"},
    "reading": {"reading": "literal"},
    "schedule": {"schedule": "exponential", "rate": 0.01},
    "lr_schedule": {"lr_schedule": "cosine"},
    "ema": {"ema": 0.99},
    "acceptance": {"acceptance": "sa", "public": 1000},
    "sa_q0": {"sa_q0": 3.0},
    "sa_mu0": {"sa_mu0": 3},
    "public": {"public": 100},
    "pca": {"pca": 60, "model": "mlp"},
    "pca_sigma": {"pca_sigma": 9.0},
    "relevance_sigma": {"relevance_sigma": 9.0},
    "stop_epsilon": {"stop_epsilon": 1.0},
    "stop_accountant": {"stop_accountant": "rdp"},
    "rate": {"schedule": "step", "rate": 0.5},
    "features": {"features": "scatter", "model": "mlp"},
    "views": {"views": 4},
    "pixel_scale": {"pixel_scale": "centred"},
    "mean_sigma": {"mean_sigma": 20.0},
    "level_steps": {"schedule": "step", "rate": 0.5, "level_steps": 9},
    "lr_end": {"lr_schedule": "linear", "lr_end": 0.1},
    "lr_epochs": {"lr_schedule": "linear", "lr_epochs": 2.0},
    "width": {"model": "mlp", "width": 20},
    "sampler": {"sampler": "shuffle"},
}


@pytest.mark.parametrize("name", [field.name for field in fields(RunConfig)])
def test_any_setting_in_which_two_runs_differ_tells_them_apart_in_a_few_letters(name: str):
    base = replace(PIADAM, model="mlp", activation="tanh", lr=0.02) if name in ("reading", "pca", "width") else SGD
    first, second = labels_of([base, replace(base, **OTHER[name])])
    assert first != second
    assert max(len(first), len(second)) <= 32


def test_only_what_differs_is_named():
    assert labels_of([SGD, replace(SGD, lr=2.0)]) == ["lr 1", "lr 2"]
    assert labels_of([SGD, replace(SGD, clipping="per_layer")]) == ["flat", "per layer"]
    assert labels_of([SGD, replace(SGD, sigma=4.0, clipping="auto_s")]) == ["sigma 1.23", "sigma 4, AUTO-S"]
    levels = [replace(SGD, schedule="exponential", rate=k) for k in (0.01, 0.02)]
    assert labels_of(levels) == ["k 0.01", "k 0.02"]


def test_what_an_optimizer_brings_along_is_not_named_but_what_was_chosen_is():
    other = defaults("mnist", "cnn", "rmsprop")
    assert other.lr != SGD.lr
    assert other.clip_norm != SGD.clip_norm
    assert labels_of([SGD, other]) == ["SGD", "RMSprop"]
    assert labels_of([SGD, replace(other, lr=0.9)]) == ["SGD, lr 1", "RMSprop, lr 0.9"]


def test_runs_on_features_are_told_apart_too():
    run = defaults("mnist", "map_cnn", "sgd", features="scatter")
    assert labels_of([run, replace(run, lr=2.0)]) == ["lr 1", "lr 2"]
    assert len({*labels_of([SGD, run])}) == 2


def test_six_methods_in_one_chart_have_short_labels_of_their_own():
    runs = [
        SGD,
        replace(SGD, clipping="per_layer"),
        replace(SGD, acceptance="sa", public=1000),
        PIADAM,
        replace(PIADAM, reading="literal"),
        defaults("mnist", "cnn", "sgd", private=False),
    ]
    labels = labels_of(runs)
    assert len(set(labels)) == 6
    assert (labels[2], labels[-1]) == ("SGD, SA-DPSGD", "no privacy, SGD")


def test_a_baseline_is_named_by_what_it_has_itself():
    plain = replace(SGD, private=False, lr=0.05)
    assert labels_of([SGD, plain]) == ["sigma 1.23", "no privacy"]
    assert labels_of([replace(SGD, sigma=4.0), plain, replace(plain, sigma=4.0)])[1:] == [
        "no privacy, run 1",
        "no privacy, run 2",
    ]
    assert labels_of([plain]) == ["no privacy"]


def test_the_same_run_twice_has_one_name():
    fixed = replace(SGD, seed=3)
    assert labels_of([fixed, fixed]) == ["sigma 1.23"] * 2
    assert labels_of([]) == []


def test_runs_with_secret_seeds_are_numbered_for_they_are_not_the_same():
    assert labels_of([SGD, SGD]) == ["sigma 1.23, run 1", "sigma 1.23, run 2"]


def test_a_description_names_every_unusual_part_of_the_method():
    run = replace(SGD, acceptance="sa", public=9, schedule="step", rate=0.5, lr_schedule="cosine")
    assert described(run) == "MNIST cnn, SGD, sigma 1.23, SA-DPSGD, 9 public, step noise, cosine lr"
    assert described(replace(PIADAM, reading="raw")).endswith("PIAdam, sigma 1.23, raw")


def test_runs_of_one_model_on_other_features_are_told_by_these():
    linear = replace(SGD, model="linear", features="scatter")
    assert labels_of([linear, replace(linear, features="scatter_upright")]) == ["scattering", "upright scattering"]
    assert labels_of([replace(linear, features="pixels"), linear]) == ["pixels", "scattering"]
    assert labels_of([SGD, linear]) == ["cnn", "scattering"]
