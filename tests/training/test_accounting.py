"""For each method and sampler the noise drawn is the noise charged, and a run without a bound has
no epsilon.
"""

import dataclasses
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.config import RunConfig
from dpcore.training.events import Stepped
from dpcore.training.features.kinds import kinds_for
from dpcore.training.loop import train
from dpcore.training.models import MODELS, build, models_for
from dpcore.training.plan import charged_releases, check_anew, plan
from dpcore.training.training_run import TrainingRun
from tests.training.small_runs import SMALL, mechanism_of, run_of, ticking

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
    # Of sensitivity 1, at q = 1.
    assert stds[:first] == [release.sigma for release in plan(config).first]
    # Without shape, tanh.
    groups = len(list(build(config.model, config.activation, 0, config.shape).children())) - 2
    sensitivity = config.clip_norm * (math.sqrt(groups) if config.clipping == "per_layer" else 1.0)
    charged = [
        release.sigma for release in mechanism.releases[first:] for _ in range(release.count)
    ]
    assert [std / sensitivity for std in stds[first:]] == pytest.approx(charged, rel=1e-12)
    assert len(charged) == len(batches) == plan(config).steps
    assert {(n, q) for n, q, _ in batches} == {
        (config.examples, release.q) for release in mechanism.releases[first:]
    }
    assert plan(config).compositions_at(plan(config).steps) == mechanism.steps
    assert all(drawn.max(initial=0) < config.examples for _, _, drawn in batches)


@pytest.mark.parametrize("model", MODELS)
def test_layers_are_counted_as_the_network_has_them(model):
    pairs = ((name, kind) for name in DATASETS for kind in kinds_for(DATASETS[name]))
    dataset, features = next(pair for pair in pairs if model in models_for(*pair))
    config = RunConfig(
        dataset=dataset, source=DATASETS[dataset].sources[0], model=model, features=features
    )
    owners = {
        name.rsplit(".", 1)[0]
        for name, _ in build(model, "tanh", 0, config.shape).named_parameters()
    }
    assert MODELS[model].groups == len(owners)


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
    config = dataclasses.replace(
        SMALL, sigma=2.0, epochs=500.0, stop_epsilon=target, stop_accountant=accountant
    )
    mechanism = mechanism_of(config)
    assert mechanism.steps == plan(config).steps < 78_125
    spent = ACCOUNTANTS[accountant].curve(mechanism, [plan(config).steps], config.delta).epsilon[0]
    assert spent <= target
    longer = plan(dataclasses.replace(config, stop_epsilon=0.0)).mechanism
    assert longer is not None
    assert (
        ACCOUNTANTS[accountant].curve(longer, [plan(config).steps + 1], config.delta).epsilon[0]
        > target
    )


@pytest.mark.parametrize(("schedule", "rate"), [("polynomial", 3.5277), ("delayed", 0.05)])
def test_a_schedule_stops_at_epsilon_before_the_sigma_that_would_exceed_it(schedule, rate):
    noise = {"sigma": 2.0, "schedule": schedule, "rate": rate, "level_steps": 10}
    config = dataclasses.replace(
        SMALL, **noise, epochs=10.0, stop_epsilon=1.0, stop_accountant="rdp"
    )
    mechanism, longer = plan(config).mechanism, Mechanism(charged_releases(config))
    assert mechanism is not None
    assert len(mechanism.releases) > 1
    spent = (
        ACCOUNTANTS["rdp"]
        .curve(longer, [plan(config).steps, plan(config).steps + 1], config.delta)
        .epsilon
    )
    assert spent[0] <= 1.0 < spent[1]
    assert (
        mechanism.releases
        == longer.releases[: len(mechanism.releases) - 1] + mechanism.releases[-1:]
    )


def test_stopping_counts_what_was_released_before_the_first_step():
    plain = dataclasses.replace(
        SMALL, model="abadi", epochs=100.0, stop_epsilon=1.0, stop_accountant="rdp"
    )
    projected = dataclasses.replace(plain, pca=60, pca_sigma=7.0)
    assert plan(projected).steps < plan(plain).steps
    mechanism = mechanism_of(projected)
    assert ACCOUNTANTS["rdp"].curve(mechanism, [mechanism.steps], 1e-5).epsilon[0] <= 1.0


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


NAMES = ("random_allocation", "shuffle")


def test_the_plan_says_what_the_samplers_accountant_proves() -> None:
    for name in NAMES:
        config = RunConfig(model="mlp", batch=500, epochs=2.0, sigma=1.0, sampler=name)
        planned = plan(config)
        found = SAMPLERS[name].curve(config.q, 1.0, config.steps_of_epochs, config.delta).last
        assert planned.mechanism is None, name  # no accountant of Poisson batches may speak of it
        low, high = map(
            float, re.findall(r"between (\d+\.\d+) and (\d+\.\d+)", planned.unaccounted)[0]
        )
        assert found.lower is not None, name
        assert low <= found.lower <= found.value <= high, name
        assert low == pytest.approx(found.lower, rel=0.01), name
        assert high == pytest.approx(found.value, rel=0.01), name
        assert SAMPLERS[name].adjacency in planned.unaccounted, name


def test_layers_that_are_clipped_one_by_one_count_together() -> None:
    flat, layers = (
        plan(
            RunConfig(
                model="mlp", batch=500, epochs=1.0, sigma=4.0, sampler="shuffle", clipping=clipping
            )
        )
        for clipping in ("flat", "per_layer")
    )
    numbers = [
        float(re.findall(r"between ([\d.]+)", each.unaccounted)[0]) for each in (flat, layers)
    ]
    assert numbers[1] > 1.2 * numbers[0]


def test_what_has_no_noise_or_no_proof_says_so_first() -> None:
    assert "without noise" in plan(RunConfig(model="mlp", sigma=0.0, sampler="shuffle")).unaccounted
    assert (
        "raw reading"
        in plan(RunConfig(optimizer="pi_adam", reading="raw", sampler="shuffle")).unaccounted
    )
    tiny = plan(RunConfig(model="mlp", sigma=0.03, sampler="shuffle"))
    assert tiny.unaccounted.startswith("No epsilon: noise is drawn up to")


def test_what_is_not_proven_is_refused() -> None:
    for more, words in [
        ({"schedule": "exponential", "rate": 0.1}, "Choose the schedule constant"),
        ({"model": "mlp", "pca": 20}, "nothing is proven for DP-PCA or relevances"),
        ({"optimizer": "adppl"}, "nothing is proven for DP-PCA or relevances"),
        ({"sampler": "fixed_order"}, "Expected sampler='fixed_order'"),
    ]:
        with pytest.raises(ValueError, match=words):
            RunConfig(**({"sampler": "shuffle"} | more))  # type: ignore[arg-type]


def test_no_epsilon_to_stop_at() -> None:
    with pytest.raises(ValueError, match="no epsilon to stop at"):
        plan(RunConfig(model="mlp", stop_epsilon=3.0, sampler="random_allocation"))


def test_a_run_does_not_begin_anew_behind_steps_that_were_released() -> None:
    config = RunConfig(model="mlp", sampler="shuffle")
    check_anew(config, 0)
    check_anew(replace(config, sampler="poisson"), 7)
    with pytest.raises(ValueError, match="Start a new run instead"):
        check_anew(config, 7)


@pytest.mark.parametrize("name", NAMES)
def test_it_trains_on_the_batches_of_its_sampler(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(replace(SMALL, sampler=name))
    seen: list[int] = []
    monkeypatch.setattr(run, "descend", lambda step, x, y: seen.append(len(y)) or [None] * 4)
    monkeypatch.setattr(run.step_totals, "add", lambda *_: None)
    assert run.epoch_batches is not None
    length = run.epoch_batches.length
    for step in range(1, length + 1):
        run.step(step)
    assert sum(seen) == run.config.examples  # every example once
    drawn = [run.epoch_batches.drawn(step) for step in range(1, length + 1)]
    assert np.array_equal(np.sort(np.concatenate(drawn)), np.arange(run.config.examples))
