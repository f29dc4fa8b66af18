"""What predictions of numbers are judged by, beside how often they are right."""

import pytest
import torch

from dpcore.training.training_run import rmse_of


def test_the_error_is_that_of_the_class_that_is_expected():
    y = torch.tensor([0, 4, 2])
    logits = torch.full((3, 5), -1e3)
    logits[[0, 1, 2], [0, 1, 2]] = 0.0  # sure, and once three off
    assert rmse_of(logits, y) == pytest.approx(3**0.5)
    assert rmse_of(torch.zeros(3, 5), y) == pytest.approx((8 / 3) ** 0.5)  # expects 2 of all
