"""No step asks for a number of the device that the host would have to wait for: every operation is looked at."""

import dataclasses

import pytest
import torch
from torch.utils._python_dispatch import _disable_current_modes

from dpcore.training import cuda_graph, training_run
from dpcore.training.cuda_graph import StaticStep
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.progress.step_totals import StepTotals
from dpcore.training.randomness import gaussian_noise
from tests.training.recorder import CHANGING, Recorder, as_on_cuda
from tests.training.small_runs import CNN, run_of


@pytest.fixture(autouse=True)
def on_one_core_as_on_cuda(monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr(gaussian_noise, "words_of", as_on_cuda)
    for module in (training_run, cuda_graph):
        monkeypatch.setattr(module, "moved", unseen(cuda_graph.moved))
    yield
    torch.set_num_threads(before)


def unseen(moved):
    """The same, out of the recorder's sight: a host's array becomes a tensor there, which waits for nothing."""

    def moving(values, device):
        with _disable_current_modes():
            return moved(values, device)

    return moving


def as_on_a_gpu(**options):
    """A run that looks at its figures only when a report is due, as where they are not on the CPU."""
    run = run_of(dataclasses.replace(CHANGING, **options))
    run.step_totals = StepTotals(at_once=False)
    return run


@pytest.mark.parametrize(
    "optimizer", [each if each == "sgd" else pytest.param(each, marks=pytest.mark.long) for each in OPTIMIZERS]
)
@pytest.mark.parametrize("static", [False, True], ids=["ordinary", "static"])
def test_no_step_waits_for_the_device_from_its_batch_to_its_figures(optimizer, static):
    run = as_on_a_gpu(optimizer=optimizer, ema=0.9)
    run.step(1)
    if static:
        run.static = StaticStep(run.engine, run.descent, run.train, run.config.q)
    with Recorder(run.noise.generators):
        run.step(2)
        run.step(3)


@pytest.mark.parametrize("model", ["mlp", "cnn"])
@pytest.mark.parametrize("clipping", ["auto_s", "per_layer"])
@pytest.mark.long
def test_no_way_to_clip_waits(model, clipping):
    run = as_on_a_gpu(model=model, clipping=clipping)
    with Recorder(run.noise.generators):
        run.step(1)


def test_a_report_does_wait_and_so_does_a_step_that_looks_at_its_figures():
    run = as_on_a_gpu()
    run.step(1)
    with Recorder(run.noise.generators), pytest.raises(RuntimeError, match="not permitted"):
        run.report(1)
    run = run_of(CNN)
    with Recorder(run.noise.generators), pytest.raises(RuntimeError, match="not permitted"):
        run.step(1)
