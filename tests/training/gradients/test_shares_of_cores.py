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


def test_the_total_is_the_sum_of_all_shares():
    for shares in [1, 2, 3, 8]:
        rows = torch.arange(shares * 5.0).reshape(shares, 5)
        nothing = torch.zeros(0)
        assert ClippedSum(rows, nothing, nothing, nothing).total.tolist() == [
            sum(column) for column in zip(*rows.tolist(), strict=True)
        ], shares


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


def test_a_batch_is_cut_into_equal_parts_as_few_as_the_chunk_allows_and_as_many_for_each_core(monkeypatch):
    for chunk in [1, 7, 10, 400]:
        for size in [1, 10, 11, 20, 21, 30, 31, 47, 100, 1000]:
            monkeypatch.setattr(clipped_sum, "FEWEST", 10)
            engine = BookKeeping(build("mlp", "relu", 3), Cores(3))
            engine.chunk = chunk
            busy, parts = engine._parts(size)
            lengths = [part.stop - part.start for part in parts]
            assert busy == (1 if size <= 10 else 2 if size <= 20 else 3), (chunk, size)
            assert [at for part in parts for at in range(size)[part]] == list(range(size)), (chunk, size)
            assert max(lengths) <= chunk, (chunk, size)
            assert max(lengths) - min(lengths) <= 1, (chunk, size)
            assert len(parts) % busy == 0 or max(lengths) == 1, (chunk, size)
            assert min(lengths) >= 1, (chunk, size)
            assert (len(parts) - busy) * chunk < size, (chunk, size)


def test_a_batch_too_small_to_share_out_keeps_one_core_busy_and_an_empty_one_none():
    engine = BookKeeping(build("mlp", "relu", 3), Cores(3))
    assert engine._parts(0) == (0, [])
    for size, shares in ((0, 1), (1, 1), (64, 1), (65, 2), (129, 3), (300, 3)):
        assert len(engine.clipped_sum(*batch((1, 28, 28), size), Flat(1.0)).shares) == shares
