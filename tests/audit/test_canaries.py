"""Gradient canaries: clipped and counted as examples are, in or out by a coin, and scored by what
theory says.
"""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from dpcore.audit.bounds.binomial import two_sided
from dpcore.audit.canaries import LENGTH, Canaries, CanaryScores, WithCanaries, flip_coins
from dpcore.audit.watched_run import TRANSFORMED, WITHOUT_NOISE
from dpcore.training.gradients.clipping import CLIPPINGS, Flat
from dpcore.training.training_run import TrainingRun
from tests.audit.small_audits import QUICK, findings_of, request_for, said_by, watched
from tests.training.small_runs import SMALL, run_of

C = 0.1


def batch_of(run: TrainingRun, count: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    return run.train[0][:count], run.train[1][:count].clone()


def with_three(clip_norm: float = C) -> tuple[TrainingRun, WithCanaries, torch.Tensor]:
    run = run_of(SMALL)
    coordinates = torch.tensor([5, 77, 1000])
    canaries = Canaries(np.ones(3, dtype=bool), coordinates, LENGTH * clip_norm)
    return run, WithCanaries(run.engine, canaries, classes=10), coordinates


def test_a_canary_adds_its_clipped_gradient_in_its_own_coordinate_and_nothing_else() -> None:
    run, engine, coordinates = with_three()
    x, y = batch_of(run)
    y[1], y[4] = 10 + 2, 10 + 0
    others = y < 10
    for clipping, rule in CLIPPINGS.items():
        added = engine.clipped_sum(x, y, rule(C)).total.clone()
        plain = run.engine.clipped_sum(x[others], y[others], rule(C)).total
        expected = torch.zeros_like(plain)
        expected[coordinates[[2, 0]]] = (
            C * (LENGTH * C) / (LENGTH * C + 0.01) if clipping == "auto_s" else C
        )
        assert torch.allclose(added - plain, expected, atol=1e-6), clipping
        assert torch.equal(engine.others, plain[coordinates]), clipping


def test_it_is_as_long_as_its_gradient_where_nothing_clips_and_c_times_d_under_a_scale() -> None:
    run, engine, coordinates = with_three()
    x, y = batch_of(run, 1)
    y[0] = 11
    assert engine.clipped_sum(x, y, Flat(float("inf"))).total[
        coordinates[1]
    ].item() == pytest.approx(LENGTH * C)
    scale = torch.full_like(run.engine.parameters, 3.0)
    found = engine.clipped_sum(x, y, Flat(C), scale.pow(-2)).total
    assert (found / scale).norm().item() == pytest.approx(C, rel=1e-4)


def test_coins_are_fair_and_directions_are_different() -> None:
    canaries = flip_coins(5000, torch.zeros(6000), C, np.random.default_rng(0))
    assert two_sided(int(canaries.inside.sum()), 5000, 0.5) > 0.01
    assert len(set(canaries.coordinates.tolist())) == len(canaries) == 5000
    with pytest.raises(ValueError, match="canaries=11 to be at most 10"):
        flip_coins(11, torch.zeros(10), C, np.random.default_rng(0))


def test_scores_of_steps_are_normal_about_1_for_canaries_in_the_batch_and_else_about_0() -> None:
    watch = watched(request_for(canaries=400))
    inside, outside = watch.scores.of_steps
    sigma = QUICK.sigma
    assert len(inside) > 50
    for scores, mean in ((inside, 1 / sigma), (outside, 0.0)):
        z = (scores.mean() - mean) * np.sqrt(len(scores))
        assert abs(z) < 4
        assert abs(scores.std() - 1) < 5 / np.sqrt(2 * len(scores))
    # The test would see canaries that add nothing.
    assert abs(inside.mean()) * np.sqrt(len(inside)) > 4


def test_a_sum_of_scores_is_the_log_likelihood_ratio_of_the_two_mixtures() -> None:
    q, sigma = 0.3, 0.8
    steps = np.random.default_rng(0).normal(size=(5, 4))
    scores = CanaryScores(4, steps=5)
    for row in steps:
        scores.add(row, np.zeros(4, dtype=bool), q, sigma)
    mixture = (1 - q) * norm.pdf(steps, 0, sigma) + q * norm.pdf(steps, 1, sigma)
    assert np.allclose(scores.sums, np.log(mixture / norm.pdf(steps, 0, sigma)).sum(axis=0))


def test_a_canary_that_is_out_is_in_no_batch_and_adds_nothing() -> None:
    watch = watched(request_for(canaries=400, batch=4000, epochs=1.0, sigma=1e-3))
    out = ~watch.canaries.inside
    sampled = np.array(watch.record.inclusions)[:, :400].any(axis=0)
    assert (sampled & out).sum() > 100, "its place was drawn"
    seen = watch.observer.take(watch.plan.steps)
    numbers = seen.y[seen.y >= 10].numpy() - 10
    assert len(numbers) > 0
    assert watch.canaries.inside[numbers].all()


def test_canaries_take_the_places_of_examples_so_that_none_is_added() -> None:
    prepared, *_ = said_by(request_for(canaries=300))
    assert (prepared.examples, prepared.canaries) == (10_000, 300)
    assert 100 < prepared.inside < 200


def test_where_there_can_be_no_canaries_a_sentence_says_so_and_the_others_go_on() -> None:
    for settings, why in (
        ({"optimizer": "pi_adam", "reading": "literal", "batch": 32, "epochs": 0.01}, TRANSFORMED),
        ({"sigma": 0.0, "epochs": 0.2}, WITHOUT_NOISE),
        ({"private": False, "epochs": 0.2}, WITHOUT_NOISE),
    ):
        found = findings_of(said_by(request_for(canaries=50, **settings)))
        assert {
            found[name].shows
            for name in ("per_step", "one_run", "one_run_curve", "one_run_gaussian", "in_out")
        } == {why}
        assert found["sampler"].p_value is not None
        assert found["losses"].evidence == "estimate"
