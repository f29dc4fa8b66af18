"""What only a GPU shows of recorded steps."""

import dataclasses

import pytest
import torch

from dpcore.training import cuda_graph
from dpcore.training.loop import prepared
from dpcore.training.optimizers import OPTIMIZERS
from tests.training.recorder import CHANGING, ended
from tests.training.small_runs import CNN, run_of


@pytest.mark.cuda
def test_on_cuda_a_recording_that_fails_leaves_the_ordinary_run_and_later_ones_are_recorded(monkeypatch):
    config = dataclasses.replace(CNN, optimizer="adam", device="cuda")
    expected = ended(run_of(config))
    own = cuda_graph.StaticStep._run

    def waiting(step):
        own(step)
        step._figures.sum().item()

    with monkeypatch.context() as patch:
        patch.setattr(cuda_graph.StaticStep, "_run", waiting)
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
