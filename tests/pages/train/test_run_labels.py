"""Runs in words: overlaid runs are told apart by what differs."""

from dataclasses import fields, replace

from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
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


def test_any_setting_in_which_two_runs_differ_tells_them_apart_in_a_few_letters():
    for name in [field.name for field in fields(RunConfig)]:
        base = replace(PIADAM, model="mlp", activation="tanh", lr=0.02) if name in ("reading", "pca", "width") else SGD
        first, second = labels_of([base, replace(base, **OTHER[name])])
        assert first != second, name
        assert max(len(first), len(second)) <= 32, name


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


def test_a_baseline_is_named_by_what_it_has_itself():
    plain = replace(SGD, private=False, lr=0.05)
    assert labels_of([SGD, plain]) == ["sigma 1.23", "no privacy"]
    assert labels_of([replace(SGD, sigma=4.0), plain, replace(plain, sigma=4.0)])[1:] == [
        "no privacy, run 1",
        "no privacy, run 2",
    ]
    assert labels_of([plain]) == ["no privacy"]


def test_runs_with_secret_seeds_are_numbered_for_they_are_not_the_same():
    assert labels_of([SGD, SGD]) == ["sigma 1.23, run 1", "sigma 1.23, run 2"]
