"""One private step: what is drawn is what is charged."""

import dataclasses

import numpy as np
import pytest
import torch
from scipy import stats
from torch.nn import functional as F

from dpcore.training.config import RunConfig
from dpcore.training.events import Stepped
from dpcore.training.gradients.clipping import Flat
from dpcore.training.gradients.rounding import relative_error
from dpcore.training.loop import train
from dpcore.training.plan import plan
from tests.training.oracles import TERMS
from tests.training.peers import PEERS
from tests.training.small_runs import CNN, SMALL, module_of, run_of, ticking


@pytest.mark.parametrize("optimizer", PEERS)
@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_without_noise_and_bound_it_is_the_plain_optimizer_on_the_same_batches(model, optimizer, batches):
    config = dataclasses.replace(SMALL, model=model, optimizer=optimizer, sigma=0.0, clip_norm=1e9, lr=0.01)
    run = run_of(config)
    copy = module_of(run)
    peer = PEERS[optimizer](list(copy.parameters()), config)
    (x, y), start = run.train, run.engine.parameters.clone()
    for step in range(1, 5):
        run.step(step)
        drawn = batches[-1][2]
        peer.zero_grad()
        (F.cross_entropy(copy(x[drawn]), y[drawn], reduction="sum") / 64).backward()
        peer.step()
    expected = torch.nn.utils.parameters_to_vector(copy.parameters()).detach()
    # What rounding does to a step is about the lr times it. Adam divides by gradients that may be nearly 0.
    moved = float((expected - start).abs().max())
    error = moved * (0.1 if optimizer == "adam" else 2 * relative_error(4 * TERMS))  # of four steps
    assert (run.engine.parameters - expected).abs().max() <= error  # nothing here chooses by rounding, as pools do
    assert (run.engine.parameters - expected).norm() <= 0.01 * (expected - start).norm()


def test_the_sum_is_divided_by_the_expected_batch_and_not_by_the_realised_one(batches):
    run = run_of(dataclasses.replace(SMALL, sigma=0.0, momentum=0.0, clip_norm=1e-3))
    (x, y), sizes = run.train, set()
    for step in range(1, 6):
        before = run.engine.parameters.clone()
        run.step(step)
        after = run.engine.parameters.clone()
        drawn = batches[-1][2]
        sizes.add(len(drawn))
        run.engine.parameters.copy_(before)
        total = run.engine.clipped_sum(x[drawn], y[drawn], Flat(1e-3)).total.clone()
        run.engine.parameters.copy_(after)
        change = (after - before).double().norm().item()
        assert change == pytest.approx(0.2 * total.double().norm().item() / 64, rel=1e-2)
        assert change != pytest.approx(0.2 * total.double().norm().item() / len(drawn), rel=1e-2) or len(drawn) == 64
    assert len(sizes - {64}) > 2


def noise_of_one_step(config: RunConfig) -> np.ndarray:
    """What the noise moved the parameters by, in units of the sum: a step with it, less the same step without."""
    moved = []
    for sigma in (config.sigma, 0.0):
        run = run_of(dataclasses.replace(config, momentum=0.0, lr=1.0))
        run.sigmas = run.sigmas.copy()  # a plan is shared
        run.sigmas[0] = sigma
        before = run.engine.parameters.double()
        run.step(1)
        moved.append((run.engine.parameters.double() - before) * -config.batch)
    return (moved[0] - moved[1]).numpy()


@pytest.mark.parametrize("config", [SMALL, CNN], ids=["mlp", "cnn"])
def test_the_noise_that_reaches_the_parameters_has_std_sigma_times_clip_norm(config):
    config = dataclasses.replace(config, sigma=1.7, clip_norm=3.0)
    sample = noise_of_one_step(config)
    assert stats.kstest(sample, "norm", args=(0, 1.7 * 3.0)).pvalue > 1e-6
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(sample, "norm", args=(0, 1.7 * 3.0 * wrong)).pvalue < 1e-9


def test_an_empty_batch_is_a_step_of_noise_only(batches, stds):
    config = dataclasses.replace(SMALL, batch=1, epochs=0.001, momentum=0.0, lr=1e-3)
    run = run_of(config)
    for step in range(1, 11):
        before = run.engine.parameters.clone()
        run.step(step)
        assert not torch.equal(before, run.engine.parameters)
        if not len(batches[-1][2]):
            assert (run.engine.parameters - before).double().std().item() == pytest.approx(1e-3 * 0.5, rel=0.01)
    assert 0 in {len(drawn) for _, _, drawn in batches}
    assert len(stds) == 10


def test_clipping_alone_draws_no_noise_and_charges_nothing(stds):
    config = dataclasses.replace(SMALL, sigma=0.0)
    list(train(config, ticking()))
    assert stds == []
    assert plan(config).mechanism is None


def test_the_baseline_takes_the_same_batches_without_clipping_or_noise(batches, stds):
    list(train(SMALL, ticking()))
    private = [drawn.tolist() for _, _, drawn in batches]
    batches.clear()
    stds.clear()
    events = list(train(dataclasses.replace(SMALL, private=False), ticking()))
    assert [drawn.tolist() for _, _, drawn in batches] == private
    assert stds == []
    assert {event.clipped for event in events if isinstance(event, Stepped)} == {0}
