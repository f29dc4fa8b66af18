"""One step draws the charged noise; rates, averaged weights, annealing and DP-PCA follow their
sources.
"""

import dataclasses
import math

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy import stats
from torch.nn import functional as F

from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Stepped
from dpcore.training.gradients.clipping import Flat
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.rounding import relative_error
from dpcore.training.loop import train
from dpcore.training.one_time_releases import outer_sum, principal_directions, private_projection
from dpcore.training.plan import plan
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.schedules import Annealing, WeightAverage
from dpcore.training.seed_summary import summary, with_seeds
from tests.training.oracles import PEERS, TERMS
from tests.training.small_runs import CNN, SMALL, module_of, run_of, ticking


@pytest.mark.parametrize("optimizer", PEERS)
@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_without_noise_and_bound_it_is_the_plain_optimizer_on_the_same_batches(
    model, optimizer, batches
):
    config = dataclasses.replace(
        SMALL, model=model, optimizer=optimizer, sigma=0.0, clip_norm=1e9, lr=0.01
    )
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
    # What rounding does to a step is about the lr times it. Adam divides by gradients that may be
    # nearly 0.
    moved = float((expected - start).abs().max())
    error = moved * (0.1 if optimizer == "adam" else 2 * relative_error(4 * TERMS))  # of four steps
    # Nothing here chooses by rounding, as pools do.
    assert (run.engine.parameters - expected).abs().max() <= error
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
        assert (
            change != pytest.approx(0.2 * total.double().norm().item() / len(drawn), rel=1e-2)
            or len(drawn) == 64
        )
    assert len(sizes - {64}) > 2


def noise_of_one_step(config: RunConfig) -> np.ndarray:
    """The move of the parameters by noise, in units of the sum: a step with noise less the step
    without.
    """
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
    assert stats.kstest(sample, stats.norm(0, 1.7 * 3.0).cdf).pvalue > 1e-6
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(sample, stats.norm(0, 1.7 * 3.0 * wrong).cdf).pvalue < 1e-9


def test_an_empty_batch_is_a_step_of_noise_only(batches, stds):
    config = dataclasses.replace(SMALL, batch=1, epochs=0.001, momentum=0.0, lr=1e-3)
    run = run_of(config)
    for step in range(1, 11):
        before = run.engine.parameters.clone()
        run.step(step)
        assert not torch.equal(before, run.engine.parameters)
        if not len(batches[-1][2]):
            assert (run.engine.parameters - before).double().std().item() == pytest.approx(
                1e-3 * 0.5, rel=0.01
            )
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


EPOCHS = dataclasses.replace(SMALL, batch=100, epochs=40.0, lr=0.1)  # 100 steps an epoch


def rate(config, step):
    return run_of(config).learning_rate.at(step)


def test_the_linear_rate_falls_over_the_first_epochs_and_the_cosine_rate_over_the_whole_run():
    config = dataclasses.replace(EPOCHS, lr_schedule="linear", lr_end=0.052, lr_epochs=10.0)
    assert [rate(config, 1 + 100 * epoch) for epoch in (0, 5, 10, 39)] == pytest.approx(
        [0.1, 0.076, 0.052, 0.052]
    )
    config = dataclasses.replace(EPOCHS, lr_schedule="cosine", lr_end=0.02)
    expected = [0.1, 0.02 + 0.08 * (1 + math.cos(math.pi / 4)) / 2, 0.06, 0.02]
    assert [rate(config, 1 + 1000 * part) for part in (0, 1, 2, 4)] == pytest.approx(expected)


def test_the_optimizer_is_given_the_rate_of_its_step():
    run, given = (
        run_of(
            dataclasses.replace(SMALL, lr=0.2, lr_schedule="linear", lr_end=0.05, lr_epochs=0.0064)
        ),
        [],
    )
    move = run.descent.optimizer.step
    run.descent.optimizer = run.descent.optimizer._replace(
        step=lambda *all: given.append(all[3]) or move(*all)
    )
    for step in (1, 2):
        run.step(step)
    assert [given[0], given[-1]] == pytest.approx([0.2, 0.05])  # one step is the whole ramp


def test_the_average_weighs_the_weights_by_their_age_without_a_bias_to_the_first():
    weights = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    average = WeightAverage(torch.full((5,), 100.0), 0.8)
    for row in weights:
        average.add(row)
    ages = 0.8 ** np.arange(5, -1, -1)
    torch.testing.assert_close(
        average.vector, torch.tensor(ages / ages.sum(), dtype=torch.float32) @ weights
    )


def test_the_averaged_accuracy_is_that_of_the_averaged_weights():
    run = run_of(dataclasses.replace(SMALL, ema=0.5))
    for step in (1, 2, 3):
        run.step(step)
    assert run.average is not None
    event = run.evaluated(3)
    run.engine.parameters.copy_(run.average.vector)
    x, y = run.test
    assert event.averaged_accuracy == pytest.approx(
        (module_of(run)(x).argmax(1) == y).double().mean().item(), abs=1e-6
    )


class Scripted:
    """Random numbers as written."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0)


def test_annealing_follows_its_rule_on_scripted_losses():
    annealing = Annealing(10.0, 2, Scripted(0.5, 0.3, 0.4, 0.0, 0.99, 0.99, 0.99))  # type: ignore[arg-type]
    assert annealing.accepts(1.0, 0.9)  # falls: tau = 1
    assert annealing.accepts(1.0, 1.1)  # e^-1 = 0.368 at Q = 10: tau = 2
    assert not annealing.accepts(1.0, 1.1)  # e^-2 = 0.135 at Q = 20
    assert annealing.accepts(1.0, 1.2)  # 0 is below every chance: tau = 3
    assert not annealing.accepts(1.0, 2.0)
    assert not annealing.accepts(1.0, 2.0)
    assert annealing.accepts(1.0, 2.0)  # after mu0 = 2 rejections in a row
    assert (annealing.accepted, annealing.rejected_in_a_row) == (4, 0)
    annealing = Annealing(10.0, 5, Scripted(0.0, 0.0))  # type: ignore[arg-type]
    assert not annealing.accepts(1.0, math.nan)
    assert not annealing.accepts(1.0, math.inf)


def test_a_rejected_proposal_restores_weights_and_optimizer_state(monkeypatch):
    run = run_of(dataclasses.replace(SMALL, acceptance="sa", public=500, sa_mu0=1000))
    run.step(1)
    before, state = run.engine.parameters.clone(), run.descent.snapshot()
    assert run.annealing is not None
    monkeypatch.setattr(run.annealing, "accepts", lambda before, after: False)
    run.step(2)
    assert torch.equal(run.engine.parameters, before)
    assert run.descent.state.count == state.count == 1
    assert torch.equal(run.descent.state.vectors[0], state.vectors[0])
    monkeypatch.setattr(run.annealing, "accepts", lambda before, after: True)
    run.step(3)
    assert not torch.equal(run.engine.parameters, before)


def test_annealing_judges_by_the_loss_on_the_public_split(monkeypatch):
    run = run_of(dataclasses.replace(SMALL, acceptance="sa", public=500))
    assert run.annealing is not None
    seen = []
    monkeypatch.setattr(
        run.annealing, "accepts", lambda before, after: seen.append((before, after)) or True
    )
    for step in (1, 2):
        run.step(step)
    x, y = run.public
    loss = torch.nn.functional.cross_entropy(module_of(run)(x), y).item()
    assert seen[1][0] == seen[0][1]
    assert seen[1][1] == pytest.approx(loss, rel=1e-5)


def test_decisions_are_streamed_one_for_each_step_and_counted():
    config = dataclasses.replace(SMALL, acceptance="sa", public=500, sa_q0=1000.0, lr=2.0)
    events = list(train(config, ticking()))
    steps = [event for event in events if isinstance(event, Stepped)]
    decisions = "".join(event.decisions for event in steps)
    assert len(decisions) == plan(config).steps
    assert set(decisions) == {"a", "r"}
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.accepted == steps[-1].accepted == decisions.count("a")


def rows(n: int = 300, d: int = 9) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(n, d, generator=generator) * torch.arange(d, 0, -1) + 1.0
    x[0] = 0.0  # an image without light has no direction
    return x


def test_without_noise_the_projection_is_that_of_numpy():
    x = rows()
    lengths = np.maximum(np.linalg.norm(x.double().numpy(), axis=1, keepdims=True), 1e-12)
    unit = x.double().numpy() / lengths
    values, vectors = np.linalg.eigh(unit.T @ unit)
    ours = private_projection(x, 4, 7.0, None).double().numpy()
    assert np.abs(np.sum(ours * vectors[:, ::-1][:, :4], axis=0)) == pytest.approx(
        np.ones(4), abs=1e-4
    )
    assert values[-1] > values[-2]


def test_one_image_moves_the_sum_by_at_most_one():
    x = rows() * 1e3
    difference = outer_sum(x) - outer_sum(x[:-1])
    assert 0.99 < torch.linalg.matrix_norm(difference).item() <= 1.0


def test_the_noise_of_the_projection_has_its_sigma_and_precedes_the_one_rounding(
    monkeypatch,
):
    seen, place = [], "dpcore.training.one_time_releases.principal_directions"
    monkeypatch.setattr(place, lambda total, k: seen.append(total) or total)
    x, drawn = rows(d=60), torch.zeros(3600, dtype=torch.float64)
    noises = [GaussianNoise(3600, SeedSequence(5), torch.device("cpu"), Cores(1)) for _ in range(2)]
    private_projection(x, 4, 7.0, noises[0])
    noises[1].add_to(drawn, 7.0)
    assert torch.equal(seen[0], (outer_sum(x).flatten() + drawn).float().double().view(60, 60))
    added = (seen[0] - outer_sum(x)).flatten().numpy()  # to every entry
    assert stats.kstest(added, stats.norm(0, 7.0).cdf).pvalue > 1e-6
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(added, stats.norm(0, 7.0 * wrong).cdf).pvalue < 1e-9


def test_directions_are_orthonormal_and_ordered_by_signed_eigenvalue():
    directions = principal_directions(
        torch.diag(torch.tensor([1.0, -9.0, 5.0, 3.0], dtype=torch.float64)), 2
    )
    assert directions.abs().T.tolist() == [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def test_seeds_are_summed_up_as_mean_and_sample_deviation():
    figures = summary([0.5, 0.7])
    assert (figures.mean, figures.spread) == pytest.approx((0.6, math.sqrt(0.02)))
    assert summary([0.5]).spread == 0.0
    assert [config.seed for config in with_seeds(dataclasses.replace(SMALL, seed=4), 3)] == [
        4,
        5,
        6,
    ]
