"""No noise is used twice: not in a run, and not in two runs that are not the same."""

import dataclasses

import numpy as np
import pytest
import torch

from dpcore.training.events import Stepped
from dpcore.training.loop import train
from dpcore.training.plan import plan
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from tests.training.small_runs import SMALL, of_both_suites, run_of, ticking
from tests.training.test_accounting import METHODS, config_of

LOOKED_AT = 784  # coordinates of each draw
FAR = 6 / np.sqrt(LOOKED_AT)  # correlations that chance gives once in a billion

CHANGES = {"sigma": 2.0, "clip_norm": 0.7, "lr": 0.3, "epochs": 0.06, "delta": 1e-6, "seed": 1, "batch": 65}


@pytest.fixture
def draws(monkeypatch):
    """The first coordinates of every draw of noise so far, in units of its std."""
    record = []
    add = GaussianNoise.add

    def recording(noise, piece, target, std, scale=None):
        before = target[:LOOKED_AT].double().clone()
        add(noise, piece, target, std, scale)
        if piece == 0:
            record.append(((target[:LOOKED_AT].double() - before) / std).numpy())

    monkeypatch.setattr(GaussianNoise, "add", recording)
    return record


def closest(vectors) -> float:
    """The largest correlation between two of the vectors."""
    table = np.corrcoef(np.stack(vectors))
    return float(np.abs(table - np.eye(len(vectors))).max())


@pytest.mark.parametrize("method", of_both_suites(METHODS, ("flat", "sa")))
def test_every_draw_of_a_run_is_fresh_also_after_a_rejection(method, draws):
    config = config_of(method)
    if method == "sa":
        config = dataclasses.replace(config, lr=20.0)  # steps so long that the public loss grows
    decisions = "".join(event.decisions for event in train(config, ticking()) if isinstance(event, Stepped))
    assert len(draws) >= plan(config).steps
    assert closest(draws) < FAR
    if method == "sa":
        assert "r" in decisions  # or this run says nothing of rejections


def test_draws_that_are_used_again_would_be_seen():
    vectors = np.random.default_rng(0).standard_normal((3, LOOKED_AT))
    assert closest(vectors) < FAR < closest([*vectors, vectors[1] + 1e-3])


@pytest.mark.parametrize("changed", CHANGES)
def test_runs_that_differ_in_any_setting_share_neither_noise_nor_batches(changed, draws, batches):
    for config in (SMALL, dataclasses.replace(SMALL, **{changed: CHANGES[changed]})):
        run_of(config).step(1)
    assert closest(draws) < FAR
    common = np.intersect1d(batches[0][2], batches[1][2])
    assert len(common) < 10  # of 64 expected in each


def test_two_runs_of_one_seed_do_not_give_away_the_sum_without_noise():
    config = dataclasses.replace(SMALL, momentum=0.0, lr=1.0, clip_norm=0.01)
    moved = []
    for sigma in (100.0, 200.0):
        run = run_of(dataclasses.replace(config, sigma=sigma))
        before = run.engine.parameters.clone()
        run.step(1)
        moved.append((run.engine.parameters - before) * -config.batch)
    left = (2 * moved[0] - moved[1]).std().item()  # the noise of the second is twice that of the first
    assert left == pytest.approx(2 * np.sqrt(2) * 100 * 0.01, rel=0.05)


def test_the_same_settings_give_the_same_and_the_baseline_has_the_private_batches(batches):
    first, same, baseline = SMALL, dataclasses.replace(SMALL), dataclasses.replace(SMALL, private=False)
    parameters = []
    for config in (first, same, baseline):
        run = run_of(config)
        run.step(1)
        parameters.append(run.engine.parameters.clone())
    assert torch.equal(parameters[0], parameters[1])
    assert np.array_equal(batches[0][2], batches[2][2])


def test_weights_start_from_the_seed_alone():
    first = run_of(SMALL).engine.parameters
    assert torch.equal(run_of(dataclasses.replace(SMALL, sigma=3.0, lr=0.1)).engine.parameters, first)
    assert not torch.equal(run_of(dataclasses.replace(SMALL, seed=1)).engine.parameters, first)
