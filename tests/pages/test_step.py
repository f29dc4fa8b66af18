"""The step that is drawn is one of DP-SGD: its gradients are autograd's, and its sum is that of the
clipped ones.
"""

import re

import numpy as np
import pytest
import torch

from dpcore.data.loading import load
from pages.parts.step import (
    EXAMPLES,
    SEED,
    WHITE,
    StepSettings,
    noise_html,
    pictured_step,
    step_html,
)


@pytest.mark.parametrize(
    ("dataset", "batch", "clip_norm"), [("mnist", 64, 0.5), ("fashion_mnist", 40, 1e9)]
)
def test_gradients_norms_and_the_clipped_sum_are_those_of_autograd(
    dataset: str, batch: int, clip_norm: float
):
    step = pictured_step(dataset, batch, clip_norm)
    train = load(dataset, "sample").train
    drawn = np.flatnonzero(np.random.default_rng(SEED).random(len(train)) < batch / len(train))
    assert len(drawn) == step.batch
    total = torch.zeros(784, dtype=torch.float64)
    for place, index in enumerate(drawn):
        weights = torch.zeros(10, 784, dtype=torch.float64, requires_grad=True)
        x = torch.tensor(train.images[index].reshape(-1) / WHITE)
        loss = torch.nn.functional.cross_entropy(
            (weights @ x)[None], torch.tensor([int(train.labels[index])])
        )
        (gradient,) = torch.autograd.grad(loss, weights)
        factor = min(1.0, clip_norm / float(gradient.norm()))
        total -= factor * gradient[step.label]  # against the gradient: where the weights go
        if place < EXAMPLES:
            assert float(step.norms[place]) == pytest.approx(float(gradient.norm()))
            assert float(step.factors[place]) == pytest.approx(factor)
            assert step.gradients[place] == pytest.approx(-gradient[train.labels[index]].numpy())
    assert step.clipped_sum == pytest.approx(total.numpy())


def test_its_noise_is_standard_normal():
    noise = pictured_step("mnist", 256, 0.1).noise
    assert abs(noise.mean()) < 0.15
    assert noise.std() == pytest.approx(1, abs=0.1)


def test_one_scale_of_greys_serves_every_sigma():
    """Else the noise of sigma 4 and of 100 would look alike."""
    step = pictured_step("mnist", 256, 0.1)
    beside = []
    sums = []
    noises = []
    for sigma in (0.3, 1.23, 4.0, 100.0):
        settings = StepSettings("mnist", 10_000, 0.0256, sigma, 0.1)
        beside.append(re.findall('--black:[^"]*', noise_html(settings, step)))
        sum_, noise, _ = re.findall('src="[^"]*"', step_html(settings, step))[-3:]
        sums.append(sum_)
        noises.append(noise)
    assert all(each == beside[0] for each in beside)
    assert set(sums) == {sums[0]}
    assert len(set(noises)) == 4


def test_other_data_have_no_such_pictures():
    with pytest.raises(ValueError, match="no sample"):
        pictured_step("cifar10", 64, 1.0)
