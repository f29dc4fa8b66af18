"""What steps add up to, looked at after each step or all together."""

import pytest
import torch

from dpcore.training.progress.step_totals import StepTotals


def test_figures_left_on_a_device_are_summed_up_as_those_looked_at_at_once():
    generator = torch.Generator().manual_seed(1)
    now, later = StepTotals(), StepTotals(at_once=False)
    for step, size in enumerate([4, 0, 7], 1):
        losses, norms = torch.rand(2, size, generator=generator)
        now.add(step, losses, norms, norms > 0.5)
        later.add(step, losses, norms, (norms > 0.5).float())
    assert later.report(3, 0.1, 1.0) == now.report(3, 0.1, 1.0)


def test_a_loss_that_is_not_finite_is_named_by_its_own_step_when_it_is_found_later():
    tally = StepTotals(at_once=False)
    for step, loss in ((1, 0.5), (2, float("nan")), (3, float("nan"))):
        tally.add(step, torch.tensor([loss, 1.0]), torch.ones(2), torch.zeros(2))
    with pytest.raises(RuntimeError, match="loss is not finite at step 2"):
        tally.settle()
