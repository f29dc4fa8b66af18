"""For each method: what is drawn is what is charged, and a run without a bound has no epsilon."""

import dataclasses
import math

import numpy as np
import pytest

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.accounting import charged_releases
from dpcore.training.config import RunConfig
from dpcore.training.events import Stepped
from dpcore.training.features.kinds import kinds_for
from dpcore.training.loop import train
from dpcore.training.models import MODELS, build, models_for
from dpcore.training.plan import plan
from dpcore.training.training_run import TrainingRun
from tests.training.small_runs import SMALL, mechanism_of, ticking

METHODS = {
    "flat": {},
    "auto_s": {"clipping": "auto_s"},
    "per_layer": {"clipping": "per_layer"},
    "sa": {"acceptance": "sa", "public": 500, "sa_q0": 1000.0},
    "pca": {"model": "abadi", "pca": 12, "pca_sigma": 3.0},
    "exponential": {"schedule": "exponential", "rate": 0.2, "level_steps": 3},
    "linear": {"schedule": "linear", "rate": 0.1, "level_steps": 2},
    "step": {"schedule": "step", "rate": 0.5, "level_steps": 1, "epochs": 0.1},
    "polynomial": {"schedule": "polynomial", "rate": 3.5277, "level_steps": 1},
    "delayed": {"schedule": "delayed", "rate": 0.3, "level_steps": 1, "epochs": 0.1},
    "averaged": {"ema": 0.9, "lr_schedule": "cosine"},
    "scaled": {"optimizer": "pi_adam"},
    "literal": {"optimizer": "pi_rmsprop", "reading": "literal"},
    "adadp": {"optimizer": "adadp"},
    "relevance": {"optimizer": "adppl", "relevance_sigma": 4.0},
    "stopped": {"stop_epsilon": 0.45, "epochs": 5.0},
    "everything": {
        "model": "abadi",
        "pca": 12,
        "clipping": "per_layer",
        "schedule": "time",
        "rate": 0.3,
        "level_steps": 2,
        "acceptance": "sa",
        "public": 500,
        "ema": 0.5,
    },
}


def config_of(method: str) -> RunConfig:
    return dataclasses.replace(SMALL, **METHODS[method])


@pytest.mark.parametrize("method", METHODS)
def test_the_charged_mechanism_is_what_the_engine_drew(method, batches, stds):
    config = config_of(method)
    mechanism = mechanism_of(config)
    list(train(config, ticking()))
    first = len(plan(config).first)
    assert stds[:first] == [release.sigma for release in plan(config).first]  # of sensitivity 1, at q = 1
    groups = len(list(build(config.model, config.activation, 0, config.shape).children())) - 2  # without shape, tanh
    sensitivity = config.clip_norm * (math.sqrt(groups) if config.clipping == "per_layer" else 1.0)
    charged = [release.sigma for release in mechanism.releases[first:] for _ in range(release.count)]
    assert [std / sensitivity for std in stds[first:]] == pytest.approx(charged, rel=1e-12)
    assert len(charged) == len(batches) == plan(config).steps
    assert {(n, q) for n, q, _ in batches} == {(config.examples, release.q) for release in mechanism.releases[first:]}
    assert plan(config).compositions_at(plan(config).steps) == mechanism.steps
    assert all(drawn.max(initial=0) < config.examples for _, _, drawn in batches)


@pytest.mark.parametrize("model", MODELS)
def test_layers_are_counted_as_the_network_has_them(model):
    pairs = ((name, kind) for name in DATASETS for kind in kinds_for(DATASETS[name]))
    dataset, features = next(pair for pair in pairs if model in models_for(*pair))
    config = RunConfig(dataset=dataset, source=DATASETS[dataset].sources[0], model=model, features=features)
    owners = {name.rsplit(".", 1)[0] for name, _ in build(model, "tanh", 0, config.shape).named_parameters()}
    assert MODELS[model].groups == len(owners)


def test_per_layer_clipping_is_charged_for_its_joint_sensitivity():
    flat, layered = (plan(dataclasses.replace(SMALL, clipping=name)).mechanism for name in ("flat", "per_layer"))
    assert flat is not None
    assert layered is not None
    assert layered.releases[0].sigma == pytest.approx(flat.releases[0].sigma / math.sqrt(2))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"private": False}, "no gradient is clipped"),
        ({"sigma": 0.0}, "without noise"),
        ({"private": False, "schedule": "exponential", "rate": 0.1}, "no gradient is clipped"),
    ],
)
def test_a_run_without_a_bound_says_why_and_has_no_mechanism(options, words):
    config = dataclasses.replace(SMALL, **options)
    assert words in plan(config).unaccounted
    assert plan(config).mechanism is None
    assert not plan(config).sigmas.any()


@pytest.mark.parametrize("accountant", ["pld", "moments", "rdp", "gdp", "mma", "zcdp"])
@pytest.mark.parametrize("target", [1.5, 4.0])
def test_stopping_at_epsilon_never_overshoots_and_the_next_step_would(accountant, target):
    config = dataclasses.replace(SMALL, sigma=2.0, epochs=500.0, stop_epsilon=target, stop_accountant=accountant)
    mechanism = mechanism_of(config)
    assert mechanism.steps == plan(config).steps < 78_125
    spent = ACCOUNTANTS[accountant].curve(mechanism, [plan(config).steps], config.delta).epsilon[0]
    assert spent <= target
    longer = plan(dataclasses.replace(config, stop_epsilon=0.0)).mechanism
    assert longer is not None
    assert ACCOUNTANTS[accountant].curve(longer, [plan(config).steps + 1], config.delta).epsilon[0] > target


@pytest.mark.parametrize(("schedule", "rate"), [("polynomial", 3.5277), ("delayed", 0.05)])
def test_a_schedule_stops_at_epsilon_before_the_sigma_that_would_exceed_it(schedule, rate):
    noise = {"sigma": 2.0, "schedule": schedule, "rate": rate, "level_steps": 10}
    config = dataclasses.replace(SMALL, **noise, epochs=10.0, stop_epsilon=1.0, stop_accountant="rdp")
    mechanism, longer = plan(config).mechanism, Mechanism(charged_releases(config))
    assert mechanism is not None
    assert len(mechanism.releases) > 1
    spent = ACCOUNTANTS["rdp"].curve(longer, [plan(config).steps, plan(config).steps + 1], config.delta).epsilon
    assert spent[0] <= 1.0 < spent[1]
    assert mechanism.releases == longer.releases[: len(mechanism.releases) - 1] + mechanism.releases[-1:]


def test_stopping_counts_what_was_released_before_the_first_step():
    plain = dataclasses.replace(SMALL, model="abadi", epochs=100.0, stop_epsilon=1.0, stop_accountant="rdp")
    projected = dataclasses.replace(plain, pca=60, pca_sigma=7.0)
    assert plan(projected).steps < plan(plain).steps
    mechanism = mechanism_of(projected)
    assert ACCOUNTANTS["rdp"].curve(mechanism, [mechanism.steps], 1e-5).epsilon[0] <= 1.0


def test_schedules_draw_what_their_names_say():
    config = config_of("exponential")
    assert plan(config).sigmas.tolist() == pytest.approx(
        [math.exp(-0.2 * (step // 3)) for step in range(plan(config).steps)]
    )


def test_the_papers_count_charges_accepted_steps_only_and_only_for_annealing():
    config = config_of("sa")
    claim = plan(config).claimed(3)
    assert claim is not None
    assert claim.steps == 3
    assert plan(SMALL).claimed(None) is None
    assert plan(dataclasses.replace(config, sigma=0.0)).claimed(3) is None


def test_the_public_split_is_the_end_of_the_training_set_and_is_never_trained_or_tested_on():
    config = config_of("sa")
    run = TrainingRun(config, ticking())
    whole = TrainingRun(SMALL, ticking())
    assert len(run.train[1]) == config.examples == 9500
    assert np.array_equal(run.public[0].numpy(), whole.train[0][9500:].numpy())
    assert np.array_equal(run.test[0].numpy(), whole.test[0].numpy())
    assert any(event.decisions for event in train(config, ticking()) if isinstance(event, Stepped))
