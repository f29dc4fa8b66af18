"""The step that CUDA records, and that no step waits for the device.

On the CPU the step is played back by a stand-in that looks at every operation, and where there is CUDA by CUDA graphs.
"""

import dataclasses
import gc
import sys

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy import stats
from torch.utils._python_dispatch import _disable_current_modes

from dpcore.training import checkpoint, cuda_graph, training_run
from dpcore.training import loop as module
from dpcore.training.config import RunConfig
from dpcore.training.cuda_graph import StaticStep, room
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
from tests.training.small_runs import CNN, of_both_suites, run_of, ticking

REST = [name for name in OPTIMIZERS if name not in ("sgd", "pi_adam")]  # played on the CPU in the long suite


@pytest.fixture(autouse=True)
def one_core():
    """The stand-in sees what one thread does; a GPU is driven by one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    gc.collect()  # a recording and its step hold each other


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
    [("sgd", "flat"), ("pi_adam", "per_layer"), *(pytest.param(name, "flat", marks=pytest.mark.long) for name in REST)],
)
def test_played_back_with_other_numbers_each_step_it_is_the_ordinary_run(optimizer, clipping, played, monkeypatch):
    monkeypatch.setattr(sys.modules["dpcore.training.optimizers.adadp"], "INFORMATIVE", 3)
    config = dataclasses.replace(CHANGING, optimizer=optimizer, clipping=clipping, device=played)
    ordinary, static, taken = beside(config, record=True)
    assert len(taken) == {"adadp": STEPS - 3}.get(optimizer, STEPS - optimizer.startswith("pi_"))
    assert_same_but_for_rounding(static, ordinary, config)


def test_every_kind_of_run_has_a_static_step(played):
    for options in ({"model": "mlp", "width": 50}, {"private": False}, {"sigma": 0.0, "momentum": 0.0}, {"ema": 0.9}):
        config = dataclasses.replace(CNN, **options, device=played)
        ordinary, static, taken = beside(config, record=True)
        assert len(taken) == STEPS, options
        assert_same_but_for_rounding(static, ordinary, config)


@pytest.mark.parametrize("clipping", CLIPPINGS)
def test_empty_full_and_overflowing_batches_are_steps_like_any_other(clipping, played, monkeypatch):
    config = dataclasses.replace(CNN, clipping=clipping, device=played)
    most = room(config.examples, config.q)
    draws = np.random.default_rng(3)
    batches = [np.sort(draws.choice(config.examples, size, replace=False)) for size in (5, 0, most, most + 1, 1, 0)]
    left = iter([*batches, *batches])
    monkeypatch.setattr(training_run, "poisson_sample", lambda *_: next(left))
    ordinary, static, taken = beside(config, record=True)
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


@pytest.mark.parametrize("options", [{"ema": 0.9}, {"optimizer": "pi_adam"}], ids=str)
def test_a_resumed_recording_is_bit_for_bit_the_one_that_never_stopped_or_saved(options, tmp_path, played):
    config, finals = dataclasses.replace(CHANGING, **options, device=played), []
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


OBSTACLES = [
    ("cpu", {}, ""),
    ("mps", {}, "; not captured: no CUDA graphs on mps"),
    ("cuda", {"optimizer": "pi_adam", "reading": "literal"}, "; not captured: gradients are formed example by"),
    ("cuda", {}, "; not captured: noise comes from the CPU"),
    ("cuda", {"acceptance": "sa", "public": 500}, "; not captured: each proposal waits for its public loss"),
]


def test_a_run_without_a_recording_says_why():
    for device, options, sentence in OBSTACLES:
        step, said = prepared(as_if_on(device, run_of(dataclasses.replace(CNN, **options))))
        assert step is None, sentence
        assert said.startswith(sentence)
        assert bool(said) == bool(sentence), said


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


def test_the_buffer_holds_nearly_every_batch_and_little_more():
    for n, q in [(60_000, 512 / 60_000), (10_000, 0.0256), (1000, 0.001), (500, 0.9)]:
        assert stats.binom.sf(room(n, q), n, q) < 1e-5, (n, q)
        assert room(n, q) < n * q + 8 * (n * q) ** 0.5 + 32, (n, q)
        assert room(n, 1.0) == n


def as_on_a_gpu(monkeypatch, **options):
    """A run that looks at its figures only when a report is due, and takes a host's arrays out of a recorder's sight.

    An array becomes a tensor there, which waits for nothing.
    """

    def moving(values, device):
        with _disable_current_modes():
            return torch.from_numpy(values).to(device)

    monkeypatch.setattr(gaussian_noise, "words_of", as_on_cuda)
    for place in (training_run, cuda_graph):
        monkeypatch.setattr(place, "moved", moving)
    run = run_of(dataclasses.replace(CHANGING, **options))
    run.step_totals = StepTotals(at_once=False)
    return run


@pytest.mark.parametrize("optimizer", of_both_suites(OPTIMIZERS))
@pytest.mark.parametrize("static", [False, True], ids=["ordinary", "static"])
def test_no_step_waits_for_the_device_from_its_batch_to_its_figures(optimizer, static, monkeypatch):
    run = as_on_a_gpu(monkeypatch, optimizer=optimizer, ema=0.9)
    run.step(1)
    if static:
        run.static = StaticStep(run.engine, run.descent, run.train, run.config.q)
    with Recorder(run.noise.generators):
        run.step(2)
        run.step(3)


def test_no_way_to_clip_waits(monkeypatch):
    for model, clipping in (("mlp", "auto_s"), ("cnn", "per_layer")):
        run = as_on_a_gpu(monkeypatch, model=model, clipping=clipping)
        with Recorder(run.noise.generators):
            run.step(1)


def test_a_report_does_wait_and_so_does_a_step_that_looks_at_its_figures(monkeypatch):
    run = as_on_a_gpu(monkeypatch)
    run.step(1)
    with Recorder(run.noise.generators), pytest.raises(RuntimeError, match="not permitted"):
        run.report(1)
    run = run_of(CNN)
    with Recorder(run.noise.generators), pytest.raises(RuntimeError, match="not permitted"):
        run.step(1)


@pytest.mark.cuda
def test_on_cuda_a_recording_that_fails_leaves_the_ordinary_run_and_later_ones_are_recorded(monkeypatch):
    config = dataclasses.replace(CNN, optimizer="adam", device="cuda")
    expected, own = ended(run_of(config)), StaticStep._run

    def waiting(step):
        own(step)
        step._figures.sum().item()

    with monkeypatch.context() as patch:
        patch.setattr(StaticStep, "_run", waiting)
        run = run_of(config)
        run.static, said = prepared(run)
    assert said.startswith("; not captured: ")
    assert torch.equal(ended(run), expected)
    assert prepared(run_of(config))[1] == ", captured"


@pytest.mark.cuda
@pytest.mark.parametrize("record", [False, True], ids=["ordinary", "played"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_on_cuda_no_step_waits_for_the_device(optimizer, record):
    run = run_of(dataclasses.replace(CHANGING, optimizer=optimizer, device="cuda", ema=0.9))
    if record:
        run.static, said = prepared(run)
        assert said == ", captured"
    ended(run, 3)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for step in range(4, 8):
            run.step(step)
    finally:
        torch.cuda.set_sync_debug_mode("default")
