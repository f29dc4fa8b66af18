"""Options that are unknown, out of range or contradict each other are named."""

import dataclasses

import pytest

from dpcore.training.plan import plan
from tests.training.small_runs import SMALL


def test_a_wrong_option_is_named_with_its_value():
    for options, words in [
        ({"clipping": "ghost"}, "clipping='ghost' to be one of: flat, auto_s, per_layer"),
        ({"reading": "rough"}, "reading='rough'"),
        ({"reading": "literal"}, r"reading='literal' only with pi_adam, .* not with optimizer='sgd'"),
        ({"reading": "raw", "optimizer": "adam"}, "not with optimizer='adam'"),
        ({"schedule": "cubic"}, "schedule='cubic'"),
        ({"rate": 0.1}, "no rate=0.1 without a schedule that is not constant"),
        ({"level_steps": 5}, "no level_steps=5"),
        ({"schedule": "linear", "rate": 1.0, "level_steps": 1}, "rate=1.0 to keep sigma from 1e-06"),
        ({"lr_schedule": "warm"}, "lr_schedule='warm'"),
        ({"lr_end": 0.1}, "no lr_end=0.1 without an lr_schedule that is not constant"),
        ({"lr_epochs": 3.0}, "no lr_epochs=3"),
        ({"ema": 1.0}, r"ema=1.0 in \[0, 1\)"),
        ({"acceptance": "always"}, "acceptance='always'"),
        ({"acceptance": "sa"}, "public above 0 with acceptance='sa'"),
        ({"sa_mu0": 1.5}, "sa_mu0=1.5"),
        ({"public": 10_000}, "public=10000"),
        ({"public": 9_990, "batch": 64}, "batch=64 to be at most the data's 10 examples"),
        ({"pca": 60, "model": "cnn"}, "pca=60 only with model abadi, linear or mlp, not 'cnn'"),
        ({"pca": 785}, "pca=785"),
        ({"pca": 60, "pca_sigma": 0.0}, r"pca_sigma=0.0 in \[1e-06"),
        ({"pca": 60, "pca_sigma": 1e-300}, r"pca_sigma=1e-300 in \[1e-06"),
        ({"optimizer": "adppl", "relevance_sigma": 1e10}, r"relevance_sigma=10000000000.0 in \[1e-06"),
        ({"stop_epsilon": -1.0}, "stop_epsilon=-1.0"),
        ({"stop_epsilon": 1.0, "stop_accountant": "magic"}, "stop_accountant='magic'"),
        ({"stop_epsilon": 1.0, "private": False}, "stop_epsilon=1 with an epsilon to stop at. Not private"),
        ({"stop_epsilon": 1.0, "sigma": 0.0}, r"stop_epsilon=1 with an epsilon to stop at.*sigma = 0.*infinite"),
        ({"stop_epsilon": 1e-9}, "stop_epsilon=1e-09 to allow one step by pld; raise it, or raise sigma"),
        ({"batch": 0}, "batch=0"),
    ]:
        with pytest.raises(ValueError, match=words):
            plan(dataclasses.replace(SMALL, **options))
