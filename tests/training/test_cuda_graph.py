"""The step that CUDA records: on the CPU it is run, and played back by a stand-in, and where there is CUDA by that."""

import dataclasses
import sys

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy import stats

from dpcore.training import checkpoint, cuda_graph, training_run
from dpcore.training import loop as module
from dpcore.training.config import RunConfig
from dpcore.training.cuda_graph import room
from dpcore.training.events import Finished, Started
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.loop import prepared, train
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.progress.step_totals import StepTotals
from dpcore.training.randomness import gaussian_noise
from tests.training.recorder import (
    CHANGING,
    STEPS,
    Recorder,
    as_if_on,
    as_on_cuda,
    ended,
    prepared_as_if_on_cuda,
    recording,
    statics,
)
from tests.training.small_runs import CNN, SMALL, run_of, ticking


@pytest.fixture(autouse=True)
def one_core():
    """The stand-in sees what one thread does; a GPU is driven by one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["stand-in", pytest.param("cuda", marks=pytest.mark.cuda)])
def played(request, monkeypatch):
    """The device of runs that are recorded: the CPU with the stand-in in the place of CUDA graphs, or CUDA."""
    if request.param == "cuda":
        return "cuda"
    monkeypatch.setattr(cuda_graph, "recording", recording)
    monkeypatch.setattr(gaussian_noise, "words_of", as_on_cuda)
    return "cpu"


def beside(config: RunConfig, *, record: bool, steps: int = STEPS) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    """The parameters after ordinary and after static steps, and the batches that the static step took."""
    run = run_of(config)
    step, taken = statics(run)
    if record:
        step.record(run.noise)
    return ended(run_of(config), steps), ended(run, steps), taken


def assert_same_but_for_rounding(static: torch.Tensor, ordinary: torch.Tensor, config: RunConfig) -> None:
    """Both went the same way; rounding may choose another pixel of a pooling window, and so move a few weights."""
    moved = (ordinary - run_of(config).engine.parameters).norm()
    assert (static - ordinary).norm() < 1e-3 * moved


@pytest.mark.parametrize(
    ("optimizer", "clipping"),
    [*((name, "flat") for name in OPTIMIZERS), ("pi_adam", "auto_s"), ("pi_adam", "per_layer")],
)
@pytest.mark.long
def test_played_back_with_other_numbers_each_step_it_is_the_ordinary_run(optimizer, clipping, played, monkeypatch):
    monkeypatch.setattr(sys.modules["dpcore.training.optimizers.adadp"], "INFORMATIVE", 3)
    config = dataclasses.replace(CHANGING, optimizer=optimizer, clipping=clipping, device=played)
    ordinary, static, taken = beside(config, record=True)
    assert len(taken) == {"adadp": STEPS - 3}.get(optimizer, STEPS - optimizer.startswith("pi_"))
    assert_same_but_for_rounding(static, ordinary, config)


@pytest.mark.parametrize("config", [SMALL, dataclasses.replace(CNN, momentum=0.0)], ids=["mlp", "without momentum"])
@pytest.mark.parametrize("options", [{}, {"private": False}, {"sigma": 0.0}, {"ema": 0.9}], ids=str)
@pytest.mark.long
def test_every_kind_of_run_has_a_static_step(config, options, played):
    config = dataclasses.replace(config, **options, device=played)
    ordinary, static, taken = beside(config, record=True)
    assert len(taken) == STEPS
    assert_same_but_for_rounding(static, ordinary, config)


@pytest.mark.parametrize("record", [False, True], ids=["run", "played"])
@pytest.mark.parametrize("clipping", CLIPPINGS)
def test_empty_full_and_overflowing_batches_are_steps_like_any_other(clipping, record, played, monkeypatch):
    config = dataclasses.replace(CNN, clipping=clipping, device=played)
    most = room(config.examples, config.q)
    sizes = [5, 0, most, most + 1, 1, 0]
    draws = np.random.default_rng(3)

    def drawn(*_):
        return np.sort(draws.choice(config.examples, sizes[len(seen) % len(sizes)], replace=False))

    seen: list[int] = []
    monkeypatch.setattr(training_run, "poisson_sample", lambda *_: (drawn(), seen.append(0))[0])
    run = run_of(config)
    ordinary = ended(run)
    draws = np.random.default_rng(3)
    run = run_of(config)
    step, taken = statics(run)
    if record:
        step.record(run.noise)
    static = ended(run)
    assert taken == [5, most, 1]
    assert_same_but_for_rounding(static, ordinary, config)


@pytest.mark.parametrize("clipping", CLIPPINGS)
@pytest.mark.parametrize("scaled", [False, True])
def test_what_fills_the_batch_up_adds_exactly_nothing(clipping, scaled):
    run = run_of(CNN)
    clip = CLIPPINGS[clipping](0.5)
    inverse = torch.rand_like(run.engine.parameters) + 0.5 if scaled else None
    run.engine.chunk = 40  # so that a part is all padding
    x, y = run.train[0][:100].clone(), run.train[1][:100].clone()
    padding = torch.arange(100) >= 37
    sums = []
    for stuffing in (x[:63].clone(), 1e4 * torch.randn(63, *x.shape[1:])):
        x[37:] = stuffing
        sums.append(run.engine.clipped_sum(x, y, clip, inverse, padding=padding).total.clone())
    assert torch.equal(*sums)
    alone = run.engine.clipped_sum(x[:37], y[:37], clip, inverse).total
    torch.testing.assert_close(sums[0], alone, rtol=1e-4, atol=1e-6)
    with_all = run.engine.clipped_sum(x, y, clip, inverse).total
    assert (with_all - sums[0]).norm() > 0.1 * sums[0].norm()


def test_losses_norms_and_clipped_are_those_of_the_real_rows(batches):
    config = dataclasses.replace(CNN, clip_norm=3.0)
    reports = []
    for static in (False, True):
        run = run_of(config)
        if static:
            statics(run)
            run.step_totals = StepTotals(at_once=False)  # looks at them only when later steps are done
        ended(run, 3)
        reports.append(run.step_totals.report(3, 0.1, 1.0))
    ordinary, own = reports
    assert 0 < ordinary.clipped < 1
    assert (own.loss, own.clipped) == (pytest.approx(ordinary.loss, rel=1e-5), pytest.approx(ordinary.clipped))
    assert own.norms == pytest.approx(ordinary.norms, rel=1e-4)
    assert [drawn.tolist() for *_, drawn in batches[:3]] == [drawn.tolist() for *_, drawn in batches[3:]]


def test_the_noise_that_is_played_has_std_sigma_times_clip_norm_and_never_repeats(played):
    draws = []
    for sigma in (1.7, 0.0):
        run = run_of(dataclasses.replace(CNN, sigma=sigma, clip_norm=3.0, momentum=0.0, lr=1e-30, device=played))
        run.engine.parameters.zero_()
        step, taken = statics(run)
        step.record(run.noise)
        sums = []
        for k in (1, 2, 3):
            run.engine.parameters.zero_()
            run.step(k)
            sums.append(run.engine.parameters.cpu().double() * -64 / 1e-30)
        draws.append(torch.stack(sums))
        assert len(taken) == 3
    noise = (draws[0] - draws[1]).numpy()
    for sample in noise:
        assert stats.kstest(sample, "norm", args=(0, 1.7 * 3.0)).pvalue > 1e-6
        for wrong in (2 / 3, 3 / 2):
            assert stats.kstest(sample, "norm", args=(0, 1.7 * 3.0 * wrong)).pvalue < 1e-9
    correlations = np.corrcoef(noise)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 5 / noise.shape[1] ** 0.5


@pytest.mark.parametrize("method", ["sgd", "adam", "pi_adam", "adadp", "averaged"])
@pytest.mark.long
def test_a_resumed_recording_is_bit_for_bit_the_one_that_never_stopped(method, tmp_path, played, monkeypatch):
    monkeypatch.setattr(sys.modules["dpcore.training.optimizers.adadp"], "INFORMATIVE", 3)
    options = {"ema": 0.9} if method == "averaged" else {"optimizer": method}
    config = dataclasses.replace(CHANGING, **options, device=played)
    finals = []
    for stopped in (False, True):
        run = run_of(config)
        statics(run)[0].record(run.noise)
        for step in range(1, 9):
            run.step(step)
            if stopped and step == 5:
                checkpoint.save(run, step, tmp_path / "state.pt")
                run = run_of(config)
                assert checkpoint.resume(run, tmp_path / "state.pt") == 5
                statics(run)[0].record(run.noise)
        finals.append(run.average.vector if run.average else run.engine.parameters)
    assert torch.equal(*finals)


def test_a_run_that_never_saves_draws_what_one_that_saves_draws(played, tmp_path):
    finals = []
    for saves in (False, True):
        run = run_of(dataclasses.replace(CNN, device=played))
        statics(run)[0].record(run.noise)
        for step in range(1, 4):
            run.step(step)
            if saves:
                checkpoint.save(run, step, tmp_path / "state.pt")
        finals.append(run.engine.parameters)
    assert torch.equal(*finals)


OBSTACLES = {
    "cpu": ("cpu", {}, ""),
    "mps": ("mps", {}, "; not captured: no CUDA graphs on mps"),
    "vmap": ("cuda", {"optimizer": "pi_adam", "reading": "literal"}, "; not captured: gradients are formed example by"),
    "noise": ("cuda", {}, "; not captured: noise comes from the CPU"),
    "sa": ("cuda", {"acceptance": "sa", "public": 500}, "; not captured: each proposal waits for its public loss"),
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_a_run_without_a_recording_says_why(obstacle):
    device, options, sentence = OBSTACLES[obstacle]
    step, said = prepared(as_if_on(device, run_of(dataclasses.replace(CNN, **options))))
    assert step is None
    assert said.startswith(sentence)
    assert bool(said) == bool(sentence)


def test_secure_noise_comes_from_the_cpu_on_cuda_too(monkeypatch):
    words, cuda = gaussian_noise.words_of, torch.device("cuda")
    monkeypatch.setattr(gaussian_noise, "words_of", lambda secret, device, secure: words(secret, cuda, secure))
    run = run_of(dataclasses.replace(CNN, noise_generator="secure"))
    assert prepared_as_if_on_cuda(run) == (None, "; not captured: noise comes from the CPU")
    once = run._once(10, SeedSequence(1))
    assert once is not None
    assert not once.generators


def test_a_recorded_run_says_so_and_ends_as_the_ordinary_one(played, monkeypatch):
    *_, ordinary = train(CNN, ticking())
    if played == "cpu":
        monkeypatch.setattr(module, "prepared", prepared_as_if_on_cuda)
    started, *_, finished = train(dataclasses.replace(CNN, device=played), ticking())
    assert isinstance(started, Started)
    assert started.engine == "book-keeping, captured"
    assert isinstance(finished, Finished)
    assert finished.accuracy == pytest.approx(ordinary.accuracy, abs=2e-3)


@pytest.mark.parametrize("after", [0, 3])
def test_a_recording_that_fails_leaves_the_ordinary_run_bit_for_bit(after, monkeypatch):
    def failing(step, generators):
        with Recorder(generators):
            for _ in range(after):
                step()
            raise RuntimeError("operation failed due to a previous error\nduring capture")

    monkeypatch.setattr(cuda_graph, "recording", failing)
    monkeypatch.setattr(gaussian_noise, "words_of", as_on_cuda)
    config = dataclasses.replace(CNN, optimizer="adam")
    expected = ended(run_of(config))
    run = run_of(config)
    before = run.noise.generators[0]
    run.static, said = prepared_as_if_on_cuda(run)
    assert said == "; not captured: RuntimeError: operation failed due to a previous error during capture"
    assert run.static is None
    assert run.noise.generators[0] is not before  # the failed recording may still hold that one
    assert torch.equal(ended(run), expected)


def test_the_stand_in_runs_no_python_and_refuses_to_wait():
    count, total = [0], torch.zeros(3)

    def step():
        count[0] += 1
        total.add_(float(count[0]))

    play = recording(step, ())
    play()
    assert count[0] == cuda_graph.WARM + 1
    assert total.tolist() == [1 + 2 + 3 + 4 + 4] * 3  # the number was part of the recording
    for waits in (lambda: float(total.sum()), lambda: total[total > 0], lambda: torch.tensor(1.0)):
        with pytest.raises(RuntimeError, match="not permitted when stream is capturing"):
            recording(waits, ())


@pytest.mark.parametrize(("n", "q"), [(60_000, 512 / 60_000), (10_000, 0.0256), (1000, 0.001), (500, 0.9)])
def test_the_buffer_holds_nearly_every_batch_and_little_more(n, q):
    assert stats.binom.sf(room(n, q), n, q) < 1e-5
    assert room(n, q) < n * q + 8 * (n * q) ** 0.5 + 32
    assert room(n, 1.0) == n
