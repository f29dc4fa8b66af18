"""The training loop: what is drawn is what is charged, and nothing depends on the clock but what is shown."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch.nn import functional as F

from dpcore.data.load import Images, Split, load
from dpcore.training import engine as module
from dpcore.training.config import RunConfig, mechanism_of
from dpcore.training.engine import Run, train
from dpcore.training.events import Evaluated, Finished, Started, Stepped, from_json, to_json
from dpcore.training.models import build
from dpcore.training.noise import GaussianNoise
from dpcore.training.optimizers import OPTIMIZERS

SMALL = RunConfig(model="mlp", batch=64, clip_norm=0.5, lr=0.2, momentum=0.5, sigma=1.0, epochs=0.05, device="cpu")
CNN = dataclasses.replace(SMALL, model="cnn")


def ticking(seconds: float = 0.05):
    """A clock that goes on by so many seconds each time it is read."""
    ticks = itertools.count()
    return lambda: next(ticks) * seconds


def run_of(config: RunConfig) -> Run:
    return Run(config, ticking())


@pytest.fixture
def batches(monkeypatch):
    """The batches drawn so far, and the arguments they were drawn with."""
    record = []

    def recording(n, q, generator):
        drawn = poisson_sample(n, q, generator)
        record.append((n, q, drawn))
        return drawn

    poisson_sample = module.poisson_sample
    monkeypatch.setattr(module, "poisson_sample", recording)
    return record


@pytest.fixture
def stds(monkeypatch):
    """The std of every draw of noise so far."""
    record = []
    add_to = GaussianNoise.add_to

    def recording(noise, vector, std):
        record.append(std)
        add_to(noise, vector, std)

    monkeypatch.setattr(GaussianNoise, "add_to", recording)
    return record


def module_of(run: Run) -> torch.nn.Module:
    """A copy of the run's network that autograd may use."""
    copy = build(run.config.model, run.config.activation, 0)
    torch.nn.utils.vector_to_parameters(run.engine.parameters.clone(), copy.parameters())
    return copy


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", ["mlp", "cnn"])
def test_without_noise_and_bound_it_is_the_plain_optimizer_on_the_same_batches(model, optimizer, batches):
    config = dataclasses.replace(SMALL, model=model, optimizer=optimizer, sigma=0.0, clip_norm=1e9, lr=0.01)
    run = run_of(config)
    copy = module_of(run)
    peers = {
        "sgd": torch.optim.SGD(copy.parameters(), lr=0.01, momentum=0.5),
        "adam": torch.optim.Adam(copy.parameters(), lr=0.01),
    }
    x, y = run.train
    for step in range(1, 5):
        run.step(step)
        drawn = batches[-1][2]
        peers[optimizer].zero_grad()
        (F.cross_entropy(copy(x[drawn]), y[drawn], reduction="sum") / 64).backward()
        peers[optimizer].step()
    expected = torch.nn.utils.parameters_to_vector(copy.parameters()).detach()
    rtol, atol = (1e-3, 2e-3) if optimizer == "adam" else (1e-4, 1e-6)  # Adam divides by gradients that are nearly zero
    torch.testing.assert_close(run.engine.parameters, expected, rtol=rtol, atol=atol)


def test_the_sum_is_divided_by_the_expected_batch_and_not_by_the_realised_one(batches):
    run = run_of(dataclasses.replace(SMALL, sigma=0.0, momentum=0.0, clip_norm=1e-3))
    x, y = run.train
    for step in range(1, 6):
        before = run.engine.parameters.clone()
        run.step(step)
        after = run.engine.parameters.clone()
        drawn = batches[-1][2]
        assert len(drawn) != 64
        run.engine.parameters.copy_(before)
        total = run.engine.clipped_sum(x[drawn], y[drawn], 1e-3).total.clone()
        run.engine.parameters.copy_(after)
        change = (after - before).double().norm().item()
        assert change == pytest.approx(0.2 * total.double().norm().item() / 64, rel=1e-2)
        assert change != pytest.approx(0.2 * total.double().norm().item() / len(drawn), rel=1e-2) or len(drawn) == 64


def noise_of_one_step(config: RunConfig) -> np.ndarray:
    """What the noise moved the parameters by, in units of the sum: a step with it, less the same step without."""
    moved = []
    for sigma in (config.sigma, 0.0):
        run = run_of(dataclasses.replace(config, sigma=sigma, momentum=0.0, lr=1.0))
        before = run.engine.parameters.double()
        run.step(1)
        moved.append((run.engine.parameters.double() - before) * -config.batch)
    return (moved[0] - moved[1]).numpy()


@pytest.mark.parametrize("config", [SMALL, CNN], ids=["mlp", "cnn"])
def test_the_noise_that_reaches_the_parameters_has_std_sigma_times_clip_norm(config):
    config = dataclasses.replace(config, sigma=1.7, clip_norm=3.0)
    sample = noise_of_one_step(config)
    assert stats.kstest(sample, "norm", args=(0, 1.7 * 3.0)).pvalue > 1e-3
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(sample, "norm", args=(0, 1.7 * 3.0 * wrong)).pvalue < 1e-9


def test_the_sigma_q_and_count_that_are_drawn_are_those_that_are_charged(batches, stds):
    mechanism = mechanism_of(SMALL)
    assert mechanism is not None
    list(train(SMALL, ticking()))
    (release,) = mechanism.releases
    assert len(batches) == len(stds) == release.count == SMALL.steps
    assert {(n, q) for n, q, _ in batches} == {(10_000, release.q)}
    assert {std / SMALL.clip_norm for std in stds} == {release.sigma}


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
    assert mechanism_of(config) is None


def test_the_baseline_takes_the_same_batches_without_clipping_or_noise(batches, stds):
    list(train(SMALL, ticking()))
    private = [drawn.tolist() for _, _, drawn in batches]
    batches.clear()
    stds.clear()
    events = list(train(dataclasses.replace(SMALL, private=False), ticking()))
    assert [drawn.tolist() for _, _, drawn in batches] == private
    assert stds == []
    assert {event.clipped for event in events if isinstance(event, Stepped)} == {0}


def without_rates(events):
    """The events without what a real clock would change."""
    return [dataclasses.replace(event, seconds=0) if isinstance(event, Finished) else event for event in events]


@pytest.mark.parametrize("config", [SMALL, CNN], ids=["mlp", "cnn"])
def test_the_same_seed_gives_the_same_events_and_another_seed_others(config):
    first, second = (list(train(config, ticking())) for _ in range(2))
    assert first == second
    other = list(train(dataclasses.replace(config, seed=1), ticking()))
    assert [event.loss for event in other if isinstance(event, Stepped)] != [
        event.loss for event in first if isinstance(event, Stepped)
    ]


def test_the_clock_changes_what_is_shown_but_not_what_is_learned():
    slow, fast = (list(train(SMALL, ticking(seconds))) for seconds in (5.0, 1e-6))
    assert len(slow) > len(fast)
    assert slow[-2] == fast[-2]  # the last evaluation


def test_the_seed_moves_weights_batches_and_noise_apart():
    runs = [run_of(dataclasses.replace(SMALL, seed=seed)) for seed in (0, 1)]
    assert not torch.equal(runs[0].engine.parameters, runs[1].engine.parameters)
    assert runs[0].batches.random() != runs[1].batches.random()
    assert not np.array_equal(noise_of_one_step(SMALL), noise_of_one_step(dataclasses.replace(SMALL, seed=1)))


def test_a_run_tells_its_story_in_order():
    events = list(train(SMALL, ticking()))
    assert [type(event) for event in events[:2]] == [Started, Stepped]
    assert [type(event) for event in events[-2:]] == [Evaluated, Finished]
    started, finished = events[0], events[-1]
    assert started == Started(10_000, 8, 0.0064, "cpu", 795_010, "book-keeping")
    assert finished.step == started.steps
    assert finished.accuracy == events[-2].accuracy
    steps = [event.step for event in events if isinstance(event, Stepped)]
    assert steps == sorted(set(steps))
    assert steps[-1] == 8
    assert [event.step for event in events if isinstance(event, Evaluated)][-1] == 8
    for event in events:
        assert from_json(to_json(event)) == event


def test_an_evaluation_counts_right_answers_in_all_and_for_each_class():
    run = run_of(CNN)
    run.step(1)
    event = run.evaluated(1)
    x, y = run.test
    guesses = module_of(run)(x).argmax(1)
    assert event.accuracy == pytest.approx((guesses == y).double().mean().item())
    for digit, accuracy in enumerate(event.per_class):
        assert accuracy == pytest.approx((guesses[y == digit] == digit).double().mean().item())
    assert event.loss == pytest.approx(F.cross_entropy(module_of(run)(x), y).item(), rel=1e-5)
    assert event.epoch == 64 / 10_000


def test_a_report_covers_every_step_since_the_last(batches):
    run = run_of(dataclasses.replace(SMALL, clip_norm=8.0))
    norms, losses = [], []
    x, y = run.train
    for step in range(1, 4):
        before = run.engine.parameters.clone()
        run.step(step)
        after = run.engine.parameters.clone()
        run.engine.parameters.copy_(before)
        found = run.engine.clipped_sum(x[batches[-1][2]], y[batches[-1][2]], math.inf)
        norms += found.norms.tolist()
        losses += found.losses.tolist()
        run.engine.parameters.copy_(after)
    report = run.tally.report(3, 0.5, 10.0)
    assert report.loss == pytest.approx(np.mean(losses), rel=1e-5)
    assert report.clipped == pytest.approx(np.mean(np.array(norms) > 8.0))
    assert 0 < report.clipped < 1
    assert report.norms == pytest.approx(np.quantile(norms, [0.05, 0.25, 0.5, 0.75, 0.95]), rel=1e-5)


def test_a_report_of_empty_batches_repeats_the_last_loss():
    run = run_of(SMALL)
    run.step(1)
    first = run.tally.report(1, 0.1, 1.0)
    again = run.tally.report(2, 0.2, 1.0)
    assert (again.loss, again.norms, again.clipped) == (first.loss, first.norms, 0.0)


def test_closing_the_events_stops_before_another_step(batches):
    events = train(dataclasses.replace(SMALL, epochs=50), ticking(1.0))
    for _ in range(6):
        next(events)
    done = len(batches)
    events.close()
    assert len(batches) == done < 6


def test_an_interrupt_ends_the_run_within_the_step_it_hits(batches, monkeypatch):
    run = run_of(dataclasses.replace(SMALL, epochs=50))
    events = run.events()
    for _ in range(3):
        next(events)
    done = len(batches)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "optimizer", run.optimizer._replace(update=interrupted))
    with pytest.raises(KeyboardInterrupt):
        next(events)
    assert len(batches) == done + 1


def test_a_loss_that_is_no_longer_finite_ends_the_run_with_its_step():
    config = dataclasses.replace(SMALL, activation="relu", lr=1e38, epochs=1)
    with pytest.raises(RuntimeError, match=r"loss is not finite at step [2-9]"):
        list(train(config, ticking()))


def test_a_device_that_is_not_here_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"device='cuda' to be one that is here: auto, .*cpu"):
        next(train(dataclasses.replace(SMALL, device="cuda")))


def test_auto_takes_the_fastest_device_that_is_here(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert module.device_of("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert module.device_of("auto").type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert module.device_of("auto").type == "cpu"


def test_data_of_another_size_than_the_configuration_counts_with_is_refused(monkeypatch):
    whole = load("mnist", "sample")
    part = Split(Images(whole.train.images[:100], whole.train.labels[:100]), whole.test)
    monkeypatch.setattr(module, "load", lambda name, source: part)
    with pytest.raises(ValueError, match="10000 training examples"):
        next(train(SMALL))


def test_threads_outside_the_steps_keep_their_number():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        for _ in train(SMALL, ticking()):
            assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
