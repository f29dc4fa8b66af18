"""A batch is shared out among cores: its sum is that of all shares, however many there are."""

import pytest
import torch

from dpcore.training.gradients import clipped_sum
from dpcore.training.gradients.book_keeping import BookKeeping
from dpcore.training.gradients.clipped_sum import ClippedSum
from dpcore.training.gradients.clipping import Flat
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.models import build
from tests.training.oracles import batch, one_at_a_time


@pytest.mark.parametrize("shares", [1, 2, 3, 8])
def test_the_total_is_the_sum_of_all_shares(shares):
    rows = torch.arange(shares * 5.0).reshape(shares, 5)
    nothing = torch.zeros(0)
    assert ClippedSum(rows, nothing, nothing, nothing).total.tolist() == [
        sum(column) for column in zip(*rows.tolist(), strict=True)
    ]


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_the_clipped_sum_is_the_same_on_any_number_of_cores(cores, monkeypatch):
    monkeypatch.setattr(clipped_sum, "FEWEST", 2)
    module = build("mlp", "relu", 3)
    x, y = batch((1, 28, 28), 11)
    rows = one_at_a_time(module, x, y)
    bound = float(rows.norm(dim=1).median())
    expected = sum(row * min(1.0, bound / float(row.norm())) for row in rows)
    found = BookKeeping(module, Cores(cores)).clipped_sum(x, y, Flat(bound))
    assert len(found.shares) == cores
    torch.testing.assert_close(found.total, expected, rtol=1e-4, atol=3e-5 * bound)
