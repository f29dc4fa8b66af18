"""Noise that a recording leaves off is found, an empty batch is not played, a device that fails for good ends a run."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from dpcore.training import cuda_graph, rehearsal, training_run
from dpcore.training.cuda_graph import StaticStep
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.training_run import TrainingRun
from tests.training.recorder import ended, on_one_core_as_on_cuda, prepared_as_if_on_cuda, recording, statics
from tests.training.small_runs import CNN, SMALL, run_of

SIZE = 795_010  # parameters of the mlp
Play = Callable[[], None]


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    yield from on_one_core_as_on_cuda(monkeypatch)


def bare(monkeypatch: pytest.MonkeyPatch, coordinate: int) -> None:
    """Recordings that leave the noise off one coordinate from now on, and nothing else."""
    add, now = GaussianNoise.add, []

    def adding(self: GaussianNoise, piece: int, target: torch.Tensor, *others: Any) -> None:
        before = target.clone()
        add(self, piece, target, *others)
        first = sum(len(each) for each in self.pieces(torch.empty(SIZE))[:piece])
        if now and first <= coordinate < first + len(target):
            target[coordinate - first].copy_(before[coordinate - first])

    def spoiled(step: Play, generators: Sequence[torch.Generator]) -> Play:
        now.append(1)
        try:
            return recording(step, generators)
        finally:
            now.clear()

    monkeypatch.setattr(GaussianNoise, "add", adding)
    monkeypatch.setattr(cuda_graph, "recording", spoiled)


@pytest.mark.parametrize("coordinate", torch.arange(0, 795_010, 99_000).tolist())
def test_a_coordinate_whose_noise_is_left_off_is_found_whatever_that_noise_would_have_been(coordinate, monkeypatch):
    """At the run's own sigma the length of a release of this size does not show four of ten of them."""
    bare(monkeypatch, coordinate)
    run = run_of(SMALL)
    assert len(run.engine.parameters) == SIZE
    assert prepared_as_if_on_cuda(run)[1].startswith("; not captured: its ")


def test_a_run_without_noise_has_none_that_could_be_left_off(monkeypatch):
    tried: list[float] = []
    take = StaticStep.step

    def seen(self: StaticStep, drawn: Any, sigma: float, lr: float) -> tuple[torch.Tensor, ...]:
        tried.append(sigma)
        return take(self, drawn, sigma, lr)

    monkeypatch.setattr(StaticStep, "step", seen)
    for config, louder in ((CNN, [rehearsal.LOUD]), (dataclasses.replace(CNN, sigma=0.0), [])):
        tried.clear()
        assert prepared_as_if_on_cuda(run_of(config))[1] == ", captured"
        assert tried == [config.sigma, config.sigma, 0.0, *louder]


def test_an_empty_batch_is_not_tried_for_it_is_never_played(monkeypatch):
    run = run_of(CNN)
    monkeypatch.setattr(TrainingRun, "drawn", lambda *_: np.arange(0))
    assert [trial.drawn.tolist() for trial in rehearsal.trials(run, 200)] == [[0]] * 3


def test_an_example_that_is_not_in_an_empty_batch_has_no_say_in_it(monkeypatch):
    """Its gradient is not finite, and 0 times that is not 0."""
    finals = []
    monkeypatch.setattr(training_run, "poisson_sample", lambda *_: np.arange(0))
    for static in (False, True):
        run = run_of(CNN)
        x, y = run.train
        run.train = x[:].clone(), y  # other runs have the same images
        run.train[0][0] = float("nan")
        if static:
            statics(run)
        finals.append(ended(run, 2))
    assert finals[0].isfinite().all()
    assert torch.equal(*finals)


@pytest.mark.parametrize("fails", ["playing", "recording"])
def test_a_device_that_does_nothing_more_ends_the_run_which_says_what_to_do(fails, monkeypatch):
    """As a context of CUDA is after an illegal access: whatever is called next raises the same."""
    broken: list[int] = []

    def failing(*_: Any) -> None:
        broken.append(1)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def restore(self: GaussianNoise, states: list[torch.Tensor]) -> None:
        if broken:
            failing()
        own(self, states)

    own = GaussianNoise.restore
    monkeypatch.setattr(GaussianNoise, "restore", restore)
    monkeypatch.setattr(cuda_graph, "recording", failing if fails == "recording" else lambda *_: failing)
    run = run_of(CNN)
    with pytest.raises(RuntimeError, match=r"Start the run again, in another process: .* an illegal memory access"):
        prepared_as_if_on_cuda(run)
    assert broken


@pytest.mark.parametrize("d", [26_010, 795_010])
def test_noise_that_any_one_coordinate_lacks_is_found_beside_a_signal(d):
    generator = torch.Generator().manual_seed(1)
    for coordinate in torch.randint(d, (100,), generator=generator).tolist():
        signal = torch.randn(d, generator=generator) / d**0.5
        release = signal + rehearsal.LOUD * torch.randn(d, generator=generator)
        twin = release * (1 + 2e-6)
        assert rehearsal.close_everywhere(release, twin)
        twin[coordinate] = signal[coordinate]
        assert not rehearsal.close_everywhere(release, twin)


@pytest.mark.parametrize("close", [rehearsal.close, rehearsal.close_everywhere])
def test_what_is_not_finite_is_close_to_nothing_and_rounding_to_what_it_rounds(close):
    release = torch.randn(1000, generator=torch.Generator().manual_seed(1))
    assert close(release, release * (1 + 2e-6))
    assert not close(release, torch.full((1000,), float("nan")))
    assert not close(torch.full((1000,), float("inf")), torch.full((1000,), float("inf")))
    assert close(torch.zeros(3), torch.zeros(3))
